// Division and library functions: within a few units in the last place of the host's.
kernel void math(global const float *a, global const float *b, global float *out) {
  size_t i = get_global_id(0), n = get_global_size(0);
  float x = a[i], y = b[i];
  out[i] = x / y;
  out[n + i] = sqrt(x);
  out[2 * n + i] = exp(y);
  out[3 * n + i] = log(x);
  out[4 * n + i] = sin(y);
  out[5 * n + i] = cos(y);
  out[6 * n + i] = pow(x, y);
  out[7 * n + i] = tanh(y);
  out[8 * n + i] = atan2(x, y);
  out[9 * n + i] = cbrt(x);
  out[10 * n + i] = rsqrt(x);
  out[11 * n + i] = exp2(y);
  out[12 * n + i] = log10(x);
  out[13 * n + i] = hypot(x, y);
  out[14 * n + i] = erf(y);
}
