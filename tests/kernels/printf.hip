// printf, assert and malloc of HIP.

#include <hip/hip_runtime.h>
#include <cassert>
#include <cmath>

#define inf __builtin_inff()
#define nan __builtin_nanf("")

__device__ const char *const names[] = {"even", "odd"};

extern "C" __global__ void calls(int i, unsigned u, long l, float f, double d, int zero, float zerof) {
  void *pointer = (void *)0x12345678UL;
#include "printf.inc"
}

extern "C" __global__ void items(unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    printf("item %u of %u is %s\n", i, n, names[i & 1]);
}

extern "C" __global__ void asserts(unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  assert(i < n);
}

// Each work-item's own memory; large pieces come from the host one by one, small ones out of slabs.
extern "C" __global__ void allocates(unsigned *out, unsigned bytes) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned *p = (unsigned *)malloc(bytes + 8 * (i % 5));
  p[0] = i;
  p[1] = 2 * i;
  __syncthreads();
  out[i] = p[0] + p[1];
  free(p);
}

int main() { return 0; }
