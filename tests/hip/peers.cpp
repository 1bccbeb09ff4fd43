// exec: --gpus 2
// Two GPUs: each has its own memory and streams; copies between them, and kernels that read the other one's memory.
#include "common.h"

__global__ void fill(int *p, int n, int v) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = v + i;
}

__global__ void sum(const int *a, const int *b, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}

int main() {
  int count;
  HIP(hipGetDeviceCount(&count));
  CHECK(count == 2, "%d devices (run with --gpus 2)", count);
  const int n = 40000, blocks = (n + 255) / 256;
  int *p[2], *copy;
  hipStream_t stream[2];
  for (int d = 0; d < 2; d++) {
    HIP(hipSetDevice(d));
    HIP(hipStreamCreate(&stream[d]));
    HIP(hipMalloc(&p[d], n * sizeof(int)));
    fill<<<blocks, 256, 0, stream[d]>>>(p[d], n, (d + 1) * 1000000);
  }
  for (auto s : stream) HIP(hipStreamSynchronize(s));
  for (int d = 0; d < 2; d++) {
    hipPointerAttribute_t about;
    HIP(hipPointerGetAttributes(&about, p[d]));
    CHECK(about.device == d, "memory of device %d is said to be of %d", d, about.device);
  }

  // Device 1 is current. What was in 0's memory comes into 1's.
  HIP(hipMalloc(&copy, n * sizeof(int)));
  HIP(hipMemcpyPeer(copy, 1, p[0], 0, n * sizeof(int)));
  std::vector<int> v(n);
  HIP(hipMemcpy(v.data(), copy, n * sizeof(int), hipMemcpyDeviceToHost));
  for (int i = 0; i < n; i++) CHECK(v[i] == 1000000 + i, "peer copy at %d: %d", i, v[i]);
  HIP(hipMemset(copy, 0, n * sizeof(int)));
  HIP(hipMemcpyPeerAsync(copy, 1, p[0], 0, n * sizeof(int), stream[1]));

  // Device 1's kernel reads device 0's memory in place.
  int can;
  HIP(hipDeviceCanAccessPeer(&can, 1, 0));
  CHECK(can == 1, "device 1 can reach device 0");
  HIP(hipDeviceEnablePeerAccess(0, 0));
  hipError_t error = hipDeviceEnablePeerAccess(0, 0);
  CHECK(error == hipErrorPeerAccessAlreadyEnabled, "enabled twice: %s", hipGetErrorString(error));
  sum<<<blocks, 256, 0, stream[1]>>>(p[0], p[1], copy, n);
  HIP(hipMemcpyAsync(v.data(), copy, n * sizeof(int), hipMemcpyDeviceToHost, stream[1]));
  HIP(hipStreamSynchronize(stream[1]));
  for (int i = 0; i < n; i++) CHECK(v[i] == 3000000 + 2 * i, "sum at %d: %d", i, v[i]);
  HIP(hipDeviceDisablePeerAccess(0));

  // Device 1 waits for an event of device 0.
  hipEvent_t event;
  HIP(hipSetDevice(0));
  HIP(hipEventCreate(&event));
  fill<<<blocks, 256, 0, stream[0]>>>(p[0], n, 5);
  HIP(hipEventRecord(event, stream[0]));
  HIP(hipSetDevice(1));
  HIP(hipStreamWaitEvent(stream[1], event, 0));
  HIP(hipMemcpyPeerAsync(copy, 1, p[0], 0, n * sizeof(int), stream[1]));
  HIP(hipStreamSynchronize(stream[1]));
  HIP(hipMemcpy(v.data(), copy, n * sizeof(int), hipMemcpyDeviceToHost));
  for (int i = 0; i < n; i++) CHECK(v[i] == 5 + i, "after the event at %d: %d", i, v[i]);
  return pass();
}
