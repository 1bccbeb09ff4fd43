// finds-clang: race:lds-race race:stale-read
// finds-gcc: hazard:wait-states race:memory-race
// OpenMP offloading: parallel loops, a reduction and mapped arrays on the GPU, compared with the host. What checks
// find is the runtimes': clang 15's has all waves write the same to LDS, and its reduction reads without having invalidated L1 behind
// its atomic; libgomp's teams all write one global, and a callee's v_readlane_b32 is too close to its caller's use of the SGPR.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#define N 20000

static double x[N], y[N];
static int counts[16];

#pragma omp declare target
static int square(int i) { return i * i; }
#pragma omp end declare target

int main(void) {
  if (omp_get_num_devices() < 1) {
    printf("FAIL no device\n");
    return 1;
  }
  int on_host = 1;
#pragma omp target map(from : on_host)
  on_host = omp_is_initial_device();
  if (on_host) {
    printf("FAIL the target region ran on the host\n");
    return 1;
  }

  for (int i = 0; i < N; i++) x[i] = i * 0.5, y[i] = N - i;
#pragma omp target teams distribute parallel for map(to : x) map(tofrom : y)
  for (int i = 0; i < N; i++) y[i] = 3.0 * x[i] + y[i];
  for (int i = 0; i < N; i++)
    if (y[i] != 3.0 * (i * 0.5) + (N - i)) {
      printf("FAIL y[%d] is %g\n", i, y[i]);
      return 1;
    }

  long sum = 0, want = 0;
#pragma omp target teams distribute parallel for reduction(+ : sum) map(tofrom : sum)
  for (int i = 0; i < 1000; i++) sum += square(i);
  for (int i = 0; i < 1000; i++) want += i * i;
  if (sum != want) {
    printf("FAIL the sum is %ld, not %ld\n", sum, want);
    return 1;
  }

#pragma omp target parallel for map(tofrom : counts)
  for (int i = 0; i < 1600; i++) {
#pragma omp atomic update
    counts[i * 7 % 16]++;
  }
  for (int i = 0; i < 16; i++)
    if (counts[i] != 100) {
      printf("FAIL count %d is %d\n", i, counts[i]);
      return 1;
    }
  printf("PASS\n");
  fflush(stdout);
  // Not exit: LLVM 15's plugin for AMD GPUs uses its own state after that has been destroyed (llvm-project issue 56856).
  _Exit(0);
}
