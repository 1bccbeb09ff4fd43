// printf of OpenCL C: the calls of printf.inc, and one of every work-item.

#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define inf INFINITY
#define nan NAN
#define V4(before, flags, length, conversion, after, type, a, b, c, d) \
  printf(before "%" flags "v4" length conversion after, (type##4)(a, b, c, d));

kernel void calls(int i, uint u, long l, float f, double d, int zero, float zerof) {
  global void *pointer = (global void *)0x12345678UL;
#include "printf.inc"
  printf("vectors: %v2hld %v3hd %v8hhu %v16hlx %v2hhd\n", (int2)(i, 7), (short3)(1, 2, i), (uchar8)(i), (uint16)(u),
         (char2)(i, 1));
}

kernel void items(uint n) {
  uint i = get_global_id(0);
  if (i < n)
    printf("item %u of %u\n", i, n);
}

// Prints before it writes where it must not.
kernel void faulty(global uint *out) {
  printf("before the fault, %s", "unfinished");
  out[get_global_id(0) + (1u << 20)] = 1;
}
