// link: -g
// finds: race:host-race
// Copies from and to memory that a kernel works on meanwhile, in another stream: what they bring is a matter of luck.
#include "common.h"

__global__ void waits(int *data, int *flag) {
  data[0] = 1;
  while (__hip_atomic_load(flag, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) == 0);
}

__global__ void lets_go(int *flag) { __hip_atomic_store(flag, 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT); }

int main() {
  Device<int> data(std::vector<int>(2, 0)), flag(std::vector<int>(1, 0));
  hipStream_t one, two;
  HIP(hipStreamCreateWithFlags(&one, hipStreamNonBlocking));
  HIP(hipStreamCreateWithFlags(&two, hipStreamNonBlocking));
  int *two_numbers;
  HIP(hipHostMalloc(&two_numbers, 2 * sizeof(int), 0));
  waits<<<1, 1, 0, one>>>(data.p, flag.p);
  // What it has written may be seen here, or not yet.
  do {
    HIP(hipMemcpyAsync(two_numbers, data.p, 2 * sizeof(int), hipMemcpyDeviceToHost, two));
    HIP(hipStreamSynchronize(two));
  } while (two_numbers[0] == 0);
  two_numbers[0] = two_numbers[1] = 2;
  HIP(hipMemcpyAsync(data.p, two_numbers, 2 * sizeof(int), hipMemcpyHostToDevice, two));
  lets_go<<<1, 1, 0, two>>>(flag.p);
  HIP(hipDeviceSynchronize());
  auto got = data.get();
  CHECK(got[0] == 2 && got[1] == 2, "%d %d", got[0], got[1]);
  HIP(hipHostFree(two_numbers));
  HIP(hipStreamDestroy(one));
  HIP(hipStreamDestroy(two));
  return pass();
}
