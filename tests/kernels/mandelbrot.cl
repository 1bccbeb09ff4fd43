// Steps until |z| passes 2, without fused operations so that a host computes the same.
#pragma OPENCL FP_CONTRACT OFF
kernel void mandelbrot(global uint *out, uint width, uint limit, float x0, float y0, float step) {
  size_t x = get_global_id(0), y = get_global_id(1);
  float cr = x0 + x * step, ci = y0 + y * step, zr = 0, zi = 0;
  uint n = 0;
  while (n < limit) {
    float rr = zr * zr, ii = zi * zi;
    if (rr + ii >= 4.0f)
      break;
    zi = 2.0f * zr * zi + ci;
    zr = rr - ii + cr;
    n++;
  }
  out[y * width + x] = n;
}
