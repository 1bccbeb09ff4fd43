// link: -g
// finds: race:dispatch-race
// Two streams whose kernels run at the same time, and both write one element: whichever comes later stays.
#include "common.h"

// Each waits until the other one runs; relaxed atomics put nothing else in order.
__device__ void meet(int *flags, int own) {
  __hip_atomic_store(&flags[own], 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  while (__hip_atomic_load(&flags[1 - own], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) == 0);
}

__global__ void first(int *data, int *flags) {
  meet(flags, 0);
  data[0] = 1;
}

__global__ void second(int *data, int *flags) {
  meet(flags, 1);
  data[0] = 2;
  data[1] = 3;
}

int main() {
  Device<int> data(std::vector<int>(2, 0)), flags(std::vector<int>(2, 0));
  hipStream_t one, two;
  HIP(hipStreamCreateWithFlags(&one, hipStreamNonBlocking));
  HIP(hipStreamCreateWithFlags(&two, hipStreamNonBlocking));
  first<<<1, 1, 0, one>>>(data.p, flags.p);
  second<<<1, 1, 0, two>>>(data.p, flags.p);
  HIP(hipDeviceSynchronize());
  auto got = data.get();
  CHECK((got[0] == 1 || got[0] == 2) && got[1] == 3, "%d %d", got[0], got[1]);
  HIP(hipStreamDestroy(one));
  HIP(hipStreamDestroy(two));
  return pass();
}
