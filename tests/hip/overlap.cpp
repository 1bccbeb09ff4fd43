// link: -g
// finds: race:dispatch-race
// Two streams whose kernels run at the same time, and both write one element: whichever comes later stays.
#include "common.h"

__global__ void first(int *data, int *flag) {
  data[0] = 1;
  while (__hip_atomic_load(flag, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) == 0);
}

__global__ void second(int *data, int *flag) {
  data[0] = 2;
  data[1] = 3;
  __hip_atomic_store(flag, 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

int main() {
  Device<int> data(std::vector<int>(2, 0)), flag(std::vector<int>(1, 0));
  hipStream_t one, two;
  HIP(hipStreamCreateWithFlags(&one, hipStreamNonBlocking));
  HIP(hipStreamCreateWithFlags(&two, hipStreamNonBlocking));
  first<<<1, 1, 0, one>>>(data.p, flag.p);
  second<<<1, 1, 0, two>>>(data.p, flag.p);
  HIP(hipDeviceSynchronize());
  auto got = data.get();
  CHECK((got[0] == 1 || got[0] == 2) && got[1] == 3, "%d %d", got[0], got[1]);
  HIP(hipStreamDestroy(one));
  HIP(hipStreamDestroy(two));
  return pass();
}
