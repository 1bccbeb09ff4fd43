// Memory that host and device share: pinned, mapped, registered and managed; and what is known about a pointer.
#include "common.h"

__global__ void increment(int *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i]++;
}

__device__ __managed__ int shared_by_both = 5;

__global__ void touch() { shared_by_both *= 3; }

int main() {
  const int n = 3000, blocks = (n + 63) / 64;
  // Pinned: the kernel works on it in place, by the same or its own address.
  int *host, *view;
  HIP(hipHostMalloc(&host, n * sizeof(int), hipHostMallocMapped));
  for (int i = 0; i < n; i++) host[i] = i;
  HIP(hipHostGetDevicePointer((void **)&view, host, 0));
  increment<<<blocks, 64>>>(view, n);
  HIP(hipDeviceSynchronize());
  for (int i = 0; i < n; i++) CHECK(host[i] == i + 1, "pinned %d: %d", i, host[i]);
  unsigned flags;
  HIP(hipHostGetFlags(&flags, host));
  hipPointerAttribute_t about;
  HIP(hipPointerGetAttributes(&about, host));
  CHECK(about.memoryType == hipMemoryTypeHost, "a pinned pointer's type is %d", about.memoryType);

  // Asynchronous copies from and to pinned memory.
  Device<int> d(n);
  hipStream_t stream;
  HIP(hipStreamCreate(&stream));
  HIP(hipMemcpyAsync(d.p, host, n * sizeof(int), hipMemcpyHostToDevice, stream));
  increment<<<blocks, 64, 0, stream>>>(d.p, n);
  HIP(hipMemcpyAsync(host, d.p, n * sizeof(int), hipMemcpyDeviceToHost, stream));
  HIP(hipStreamSynchronize(stream));
  for (int i = 0; i < n; i++) CHECK(host[i] == i + 2, "there and back %d: %d", i, host[i]);
  HIP(hipPointerGetAttributes(&about, d.p));
  CHECK(about.memoryType == hipMemoryTypeDevice && about.device == 0, "a device pointer's type is %d", about.memoryType);
  HIP(hipHostFree(host));

  // Memory of the program's own, registered.
  std::vector<int> own(n);
  HIP(hipHostRegister(own.data(), n * sizeof(int), hipHostRegisterMapped));
  HIP(hipHostGetDevicePointer((void **)&view, own.data(), 0));
  increment<<<blocks, 64>>>(view, n);
  HIP(hipDeviceSynchronize());
  for (int i = 0; i < n; i++) CHECK(own[i] == 1, "registered %d: %d", i, own[i]);
  HIP(hipHostUnregister(own.data()));

  // Managed: one pointer for both.
  int *managed;
  HIP(hipMallocManaged(&managed, n * sizeof(int)));
  for (int i = 0; i < n; i++) managed[i] = -i;
  HIP(hipMemPrefetchAsync(managed, n * sizeof(int), 0, stream));
  increment<<<blocks, 64, 0, stream>>>(managed, n);
  HIP(hipStreamSynchronize(stream));
  for (int i = 0; i < n; i++) CHECK(managed[i] == 1 - i, "managed %d: %d", i, managed[i]);
  HIP(hipFree(managed));
  shared_by_both += 2;
  touch<<<1, 1>>>();
  HIP(hipDeviceSynchronize());
  CHECK(shared_by_both == 21, "a managed variable: %d", shared_by_both);

  size_t free_before, free_after, total;
  HIP(hipMemGetInfo(&free_before, &total));
  {
    Device<char> large(64 << 20);
    HIP(hipMemGetInfo(&free_after, &total));
    CHECK(free_before - free_after >= 64 << 20, "free memory went from %zu to %zu", free_before, free_after);
  }
  char *too_large;
  hipError_t error = hipMalloc(&too_large, total * 2);
  CHECK(error == hipErrorOutOfMemory, "twice the memory: %s", hipGetErrorString(error));
  HIP(hipStreamDestroy(stream));
  return pass();
}
