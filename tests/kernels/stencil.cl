// A seven-point stencil in three dimensions, with edges left as they are.
kernel void stencil(global const float *in, global float *out, float centre, float side) {
  size_t x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
  size_t w = get_global_size(0), h = get_global_size(1), d = get_global_size(2);
  size_t i = x + w * (y + h * z);
  float v = in[i];
  if (x > 0 && y > 0 && z > 0 && x + 1 < w && y + 1 < h && z + 1 < d) {
    float sum = in[i - 1] + in[i + 1];
    sum += in[i - w] + in[i + w];
    sum += in[i - w * h] + in[i + w * h];
    v = fma(side, sum, centre * v);
  }
  out[i] = v;
}
