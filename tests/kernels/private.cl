// Structures by value, arrays in scratch memory indexed by data, and pointers into them.
typedef struct {
  int scale;
  float bias;
  short table[6];
  char tag;
} Setup;

kernel void structs(Setup s, global const int *in, global float *out) {
  size_t i = get_global_id(0);
  out[i] = (float)(in[i] * s.scale + s.table[i % 6]) + s.bias + s.tag;
}

kernel void arrays(global const uint *in, global uint *out) {
  size_t i = get_global_id(0);
  uint seen[32];
  for (int k = 0; k < 32; k++)
    seen[k] = 0;
  for (int k = 0; k < 64; k++)
    seen[(in[i] >> (k & 31) ^ k) & 31] += k;
  uint sum = 0;
  for (int k = 0; k < 32; k++)
    sum = sum * 31 + seen[k];
  out[i] = sum;
}

// A generic pointer that may mean private, local or global memory.
uint pick(uint *p, uint k) { return p[k & 3]; }

kernel void generic_pointers(global uint *in, global uint *out) {
  local uint l[4];
  size_t i = get_global_id(0);
  uint mine[4] = {i, i * 2, i * 3, i * 4};
  if (get_local_id(0) < 4)
    l[get_local_id(0)] = 1000 + get_local_id(0);
  barrier(CLK_LOCAL_MEM_FENCE);
  uint *p = i % 3 == 0 ? (uint *)mine : i % 3 == 1 ? (uint *)l : (uint *)in;
  out[i] = pick(p, i) + (to_private(p) ? 1 : 0);
}
