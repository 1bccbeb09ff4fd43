#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF

// Half precision, one result per operation.
kernel void halves(global const half *a, global const half *b, global half *out) {
  size_t i = get_global_id(0), n = get_global_size(0);
  half x = a[i], y = b[i];
  out[i] = x + y;
  out[n + i] = x - y;
  out[2 * n + i] = x * y;
  out[3 * n + i] = fma(x, y, x);
  out[4 * n + i] = fmin(x, y);
  out[5 * n + i] = fabs(x);
  out[6 * n + i] = floor(x);
  half2 v = (half2)(x, y) * (half2)(y, y) + (half2)(y, x);
  out[7 * n + i] = v.x;
  out[8 * n + i] = v.y;
  out[9 * n + i] = (half)(float)x;
  out[10 * n + i] = x < y ? x : y;
}

// Double precision.
kernel void doubles(global const double *a, global const double *b, global double *out) {
  size_t i = get_global_id(0), n = get_global_size(0);
  double x = a[i], y = b[i];
  out[i] = x + y;
  out[n + i] = x - y;
  out[2 * n + i] = x * y;
  out[3 * n + i] = fma(x, y, 1.0);
  out[4 * n + i] = x / y;
  out[5 * n + i] = sqrt(fabs(x));
  out[6 * n + i] = floor(x);
  out[7 * n + i] = rint(y);
  out[8 * n + i] = (double)(float)x;
  out[9 * n + i] = (double)(int)x;
  out[10 * n + i] = ldexp(x, 3);
  out[11 * n + i] = fmax(x, y);
}

// 64-bit integers.
kernel void longs(global const long *a, global const long *b, global long *out) {
  size_t i = get_global_id(0), n = get_global_size(0);
  long x = a[i], y = b[i];
  out[i] = x + y;
  out[n + i] = x - y;
  out[2 * n + i] = x * y;
  out[3 * n + i] = x / y;
  out[4 * n + i] = x % y;
  out[5 * n + i] = (long)((ulong)x / (ulong)y);
  out[6 * n + i] = x << (y & 63);
  out[7 * n + i] = x >> (y & 63);
  out[8 * n + i] = (long)((ulong)x >> (y & 63));
  out[9 * n + i] = mul_hi(x, y);
  out[10 * n + i] = popcount(x);
  out[11 * n + i] = clz(x);
  out[12 * n + i] = x < y ? x : y;
  out[13 * n + i] = (long)(float)x;
  out[14 * n + i] = rotate(x, y);
}

// 32-bit integers and bytes.
kernel void ints(global const int *a, global const int *b, global int *out) {
  size_t i = get_global_id(0), n = get_global_size(0);
  int x = a[i], y = b[i];
  out[i] = x / y;
  out[n + i] = x % y;
  out[2 * n + i] = (int)((uint)x / (uint)y);
  out[3 * n + i] = (int)((uint)x % (uint)y);
  out[4 * n + i] = mul_hi(x, y);
  out[5 * n + i] = mad24(x, y, x);
  out[6 * n + i] = add_sat(x, y);
  out[7 * n + i] = sub_sat((uint)x, (uint)y);
  out[8 * n + i] = abs_diff(x, y);
  out[9 * n + i] = hadd(x, y);
  out[10 * n + i] = clz(x);
  out[11 * n + i] = popcount(x);
  out[12 * n + i] = rotate(x, y);
  out[13 * n + i] = (char)x * (short)y;
  out[14 * n + i] = bitselect(x, y, 0x0ff0f00f);
  out[15 * n + i] = as_int((uchar4)(as_uchar4(x).wzyx + as_uchar4(y)));
  out[16 * n + i] = convert_char_sat(x);
  out[17 * n + i] = (short)x >> (y & 15);
}

// Single precision: what IEEE 754 leaves no choice about.
kernel void floats(global const float *a, global const float *b, global float *out) {
  size_t i = get_global_id(0), n = get_global_size(0);
  float x = a[i], y = b[i];
  out[i] = x + y;
  out[n + i] = x * y;
  out[2 * n + i] = fma(x, y, -x);
  out[3 * n + i] = floor(x);
  out[4 * n + i] = ceil(x);
  out[5 * n + i] = trunc(x);
  out[6 * n + i] = rint(x);
  out[7 * n + i] = fmin(x, y);
  out[8 * n + i] = fmax(x, y);
  out[9 * n + i] = (float)(int)x;
  out[10 * n + i] = (float)as_uint(x);
  out[11 * n + i] = ldexp(x, -3);
  out[12 * n + i] = copysign(x, y);
  out[13 * n + i] = (float)isnan(x);
  out[14 * n + i] = fmod(x, y);
}
