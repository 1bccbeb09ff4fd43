// One step of gravitation between all bodies; positions carry the mass in w.
kernel void nbody(global const float4 *at, global float4 *force, uint n) {
  size_t i = get_global_id(0);
  float4 me = at[i];
  float3 f = 0;
  for (uint j = 0; j < n; j++) {
    float3 d = at[j].xyz - me.xyz;
    float r2 = dot(d, d) + 0.01f;
    float r = native_rsqrt(r2);
    f += d * (at[j].w * r * r * r);
  }
  force[i] = (float4)(f, length(f));
}
