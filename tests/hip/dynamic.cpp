// Shared memory whose size the launch says, together with some that the kernel says, up to all 64 KiB; and its limits.
#include "common.h"

// Reverses each work-group's part through shared memory of the launch's size.
__global__ void reverse(const int *in, int *out, int per) {
  extern __shared__ int s[];
  __shared__ int fixed[4];
  if (threadIdx.x < 4) fixed[threadIdx.x] = blockIdx.x + threadIdx.x;
  for (int i = threadIdx.x; i < per; i += blockDim.x) s[i] = in[blockIdx.x * per + i];
  __syncthreads();
  for (int i = threadIdx.x; i < per; i += blockDim.x) out[blockIdx.x * per + i] = s[per - 1 - i] + fixed[i & 3];
}

__global__ void ends(int n, int *out) {
  extern __shared__ int s[];
  s[n - 1 - threadIdx.x] = threadIdx.x * 7;
  __syncthreads();
  out[threadIdx.x] = s[n - 64 + threadIdx.x];
}

int main() {
  const int per = 3001, blocks = 9;
  std::vector<int> in(per * blocks);
  for (size_t i = 0; i < in.size(); i++) in[i] = (int)(mix(i) & 0xffffff);
  Device<int> a(in), b(in.size());
  reverse<<<blocks, 256, per * sizeof(int)>>>(a.p, b.p, per);
  auto out = b.get();
  for (int g = 0; g < blocks; g++)
    for (int i = 0; i < per; i++) {
      int want = in[g * per + per - 1 - i] + g + (i & 3);
      CHECK(out[g * per + i] == want, "work-group %d at %d: %d, not %d", g, i, out[g * per + i], want);
    }
  const int all = 64 * 1024;
  HIP(hipFuncSetAttribute((const void *)ends, hipFuncAttributeMaxDynamicSharedMemorySize, all));
  Device<int> o(64);
  ends<<<1, 64, all>>>(all / 4, o.p);
  HIP(hipGetLastError());
  auto v = o.get();
  for (int i = 0; i < 64; i++) CHECK(v[i] == (63 - i) * 7, "at the end: %d", v[i]);
  ends<<<1, 64, all + 4>>>(all / 4, o.p);
  hipError_t error = hipGetLastError();
  CHECK(error != hipSuccess, "more shared memory than there is");
  // The next launch is none the worse.
  ends<<<1, 64, 1024>>>(256, o.p);
  HIP(hipGetLastError());
  HIP(hipDeviceSynchronize());
  return pass();
}
