// Managed memory: HIP takes it from the system and only unmaps it, so that its addresses come back as memory of every kind.
#include "cases.h"
#include <sys/mman.h>

__global__ void add(int *p, int n, int by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] += by;
}

static void run(int *p, int n, int by) {
  add<<<(n + 255) / 256, 256>>>(p, n, by);
  HIP(hipGetLastError());
  HIP(hipDeviceSynchronize());
}

static int *managed(int n) {
  int *p;
  HIP(hipMallocManaged(&p, n * sizeof(int)));
  return p;
}

const int N = 50000;

CASE(both_sides_see_it) {
  int *p = managed(N);
  for (int i = 0; i < N; i++) p[i] = i;
  run(p, N, 7);
  for (int i = 0; i < N; i++) CHECK(p[i] == i + 7, "element %d is %d", i, p[i]);
  p[3] = -1;
  run(p, N, 1);
  CHECK(p[3] == 0 && p[4] == 12, "%d, %d", p[3], p[4]);
  HIP(hipFree(p));
}

CASE(addresses_come_back) {
  int same = 0;
  int *last = nullptr;
  for (int round = 0; round < 40; round++) {
    int *p = managed(N + round);
    same += p == last;
    last = p;
    p[0] = round;
    run(p, N, 1);
    CHECK(p[0] == round + 1, "round %d: %d", round, p[0]);
    HIP(hipFree(p));
  }
  std::printf("note: %d of 40 rounds had the address of the round before\n", same);
}

// Addresses that were managed become device memory, then memory of the program that is registered, then managed again.
CASE(addresses_become_other_memory) {
  for (int round = 0; round < 10; round++) {
    int *p = managed(N);
    p[0] = 1;
    run(p, N, 1);
    HIP(hipFree(p));
    {
      Device<int> d(std::vector<int>(N, 5));
      run(d.p, N, 1);
      CHECK(d.get()[N - 1] == 6, "device memory");
    }
    void *mine = mmap(p, N * sizeof(int), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(mine != MAP_FAILED, "mmap");
    HIP(hipHostRegister(mine, N * sizeof(int), hipHostRegisterDefault));
    int *seen;
    HIP(hipHostGetDevicePointer((void **)&seen, mine, 0));
    run(seen, N, 3);
    CHECK(((int *)mine)[N - 1] == 3, "registered memory: %d", ((int *)mine)[N - 1]);
    HIP(hipHostUnregister(mine));
    munmap(mine, N * sizeof(int));
  }
}

CASE(parts_overlap_what_was_there) {
  for (int round = 1; round < 20; round++) {
    // Other sizes every time: ranges begin and end within old ones.
    int *a = managed(round * 3000), *b = managed(round * 1100 + 17);
    a[0] = b[0] = 0;
    run(a, round * 3000, 1);
    run(b, round * 1100 + 17, 2);
    CHECK(a[0] == 1 && b[0] == 2, "round %d: %d, %d", round, a[0], b[0]);
    HIP(hipFree(a));
    int *c = managed(round * 2000);
    c[0] = 10;
    run(c, round * 2000, 1);
    CHECK(c[0] == 11, "round %d: %d", round, c[0]);
    HIP(hipFree(b));
    HIP(hipFree(c));
  }
}

CASE(advice_and_prefetch) {
  int *p = managed(N), device = 0;
  HIP(hipGetDevice(&device));
  HIP(hipMemAdvise(p, N * sizeof(int), hipMemAdviseSetReadMostly, device));
  HIP(hipMemAdvise(p, N * sizeof(int), hipMemAdviseSetPreferredLocation, device));
  HIP(hipMemPrefetchAsync(p, N * sizeof(int), device, 0));
  HIP(hipDeviceSynchronize());
  int read_mostly = 0, location = -5;
  HIP(hipMemRangeGetAttribute(&read_mostly, sizeof read_mostly, hipMemRangeAttributeReadMostly, p, N * sizeof(int)));
  HIP(hipMemRangeGetAttribute(&location, sizeof location, hipMemRangeAttributeLastPrefetchLocation, p, N * sizeof(int)));
  CHECK(read_mostly == 1 && location == device, "read mostly %d, prefetched to %d", read_mostly, location);
  HIP(hipFree(p));
}

__device__ __managed__ int shared[256] = {1, 2, 3};

__global__ void change() { shared[threadIdx.x] += 100 + threadIdx.x; }

CASE(managed_variables) {
  CHECK(shared[0] == 1 && shared[2] == 3, "%d, %d", shared[0], shared[2]);
  change<<<1, 256>>>();
  HIP(hipDeviceSynchronize());
  CHECK(shared[0] == 101 && shared[2] == 105 && shared[255] == 355, "%d, %d, %d", shared[0], shared[2], shared[255]);
}
