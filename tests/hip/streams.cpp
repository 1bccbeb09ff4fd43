// Streams, events, their order and their times: work that waits for another stream, callbacks, queries, priorities.
// record: and repeat
#include "common.h"
#include <atomic>

__global__ void add(int *p, int n, int v) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] += v;
}

__global__ void twice(int *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] *= 2;
}

__global__ void spin(int *p, int rounds) {
  int v = *p;
  for (int i = 0; i < rounds; i++) v = v * 1664525 + 1013904223;
  *p = v;
}

// Spins until the host says so.
__global__ void wait(volatile int *flag, int *seen) {
  while (*flag == 0) {}
  *seen = *flag;
}

static void called(hipStream_t, hipError_t status, void *data) {
  if (status == hipSuccess) ++*(std::atomic<int> *)data;
}

int main() {
  const int n = 5000, blocks = (n + 127) / 128, STREAMS = 4;
  hipStream_t s[STREAMS];
  for (auto &stream : s) HIP(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
  int low, high;
  HIP(hipDeviceGetStreamPriorityRange(&low, &high));
  hipStream_t urgent;
  HIP(hipStreamCreateWithPriority(&urgent, hipStreamNonBlocking, high));

  // In order within a stream, at the same time among streams.
  std::vector<int> zero(n);
  Device<int> buffers[STREAMS] = {Device<int>(zero), Device<int>(zero), Device<int>(zero), Device<int>(zero)};
  std::atomic<int> calls{0};
  for (int k = 0; k < STREAMS; k++) {
    for (int round = 0; round < 5; round++) {
      add<<<blocks, 128, 0, s[k]>>>(buffers[k].p, n, k + round);
      twice<<<blocks, 128, 0, s[k]>>>(buffers[k].p, n);
    }
    HIP(hipStreamAddCallback(s[k], called, &calls, 0));
  }
  for (auto &stream : s) HIP(hipStreamSynchronize(stream));
  for (int k = 0; k < STREAMS; k++) {
    int want = 0;
    for (int round = 0; round < 5; round++) want = (want + k + round) * 2;
    for (int v : buffers[k].get()) CHECK(v == want, "stream %d: %d, not %d", k, v, want);
  }
  CHECK(calls == STREAMS, "%d callbacks", calls.load());

  // Stream 1 waits for what stream 0 has done.
  hipEvent_t done, first, second;
  HIP(hipEventCreateWithFlags(&done, hipEventDisableTiming));
  HIP(hipEventCreate(&first));
  HIP(hipEventCreate(&second));
  HIP(hipMemset(buffers[0].p, 0, n * sizeof(int)));
  HIP(hipDeviceSynchronize());
  add<<<blocks, 128, 0, s[0]>>>(buffers[0].p, n, 21);
  HIP(hipEventRecord(done, s[0]));
  HIP(hipStreamWaitEvent(s[1], done, 0));
  twice<<<blocks, 128, 0, s[1]>>>(buffers[0].p, n);
  HIP(hipStreamSynchronize(s[1]));
  for (int v : buffers[0].get()) CHECK(v == 42, "after the event: %d", v);

  // Times: longer work takes longer, and the sum is no less than its parts.
  Device<int> cell(std::vector<int>{1});
  hipEvent_t third;
  HIP(hipEventCreate(&third));
  HIP(hipEventRecord(first, urgent));
  spin<<<1, 1, 0, urgent>>>(cell.p, 1000);
  HIP(hipEventRecord(second, urgent));
  spin<<<1, 1, 0, urgent>>>(cell.p, 400000);
  HIP(hipEventRecord(third, urgent));
  HIP(hipEventSynchronize(third));
  float brief, lengthy, both;
  HIP(hipEventElapsedTime(&brief, first, second));
  HIP(hipEventElapsedTime(&lengthy, second, third));
  HIP(hipEventElapsedTime(&both, first, third));
  CHECK(brief >= 0 && lengthy > brief, "%g ms and %g ms", brief, lengthy);
  CHECK(both > lengthy * 0.99f && both < (brief + lengthy) * 1.01f + 0.01f, "%g + %g is %g ms", brief, lengthy, both);
  unsigned want = 1;
  for (int i = 0; i < 401000; i++) want = want * 1664525 + 1013904223;
  CHECK((unsigned)cell.get()[0] == want, "%x, not %x", cell.get()[0], want);

  // A kernel that runs while the host does: not ready, then ready.
  int *flag;
  HIP(hipHostMalloc(&flag, 64, hipHostMallocMapped | hipHostMallocCoherent));
  *(volatile int *)flag = 0;
  Device<int> seen(std::vector<int>{0});
  wait<<<1, 1, 0, s[2]>>>(flag, seen.p);
  HIP(hipEventRecord(done, s[2]));
  CHECK(hipStreamQuery(s[2]) == hipErrorNotReady, "a spinning stream is not ready");
  CHECK(hipEventQuery(done) == hipErrorNotReady, "a spinning stream's event is not ready");
  *(volatile int *)flag = 77;
  HIP(hipStreamSynchronize(s[2]));
  HIP(hipEventQuery(done));
  CHECK(seen.get()[0] == 77, "the flag was %d", seen.get()[0]);
  HIP(hipHostFree(flag));

  for (auto e : {done, first, second, third}) HIP(hipEventDestroy(e));
  for (auto &stream : s) HIP(hipStreamDestroy(stream));
  HIP(hipStreamDestroy(urgent));
  return pass();
}
