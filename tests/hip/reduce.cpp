// Sums in shared memory, one barrier per step, and a second kernel over the partial sums.
#include "common.h"

constexpr int BLOCK = 256;

template <typename T> __global__ void partial(const T *in, T *out, int n) {
  __shared__ T s[BLOCK];
  T sum = 0;
  for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK) sum += in[i];
  s[threadIdx.x] = sum;
  __syncthreads();
  for (int step = BLOCK / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) s[threadIdx.x] += s[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = s[0];
}

template <typename T> void test(int n, const char *name) {
  std::vector<T> in(n);
  T want = 0;
  for (int i = 0; i < n; i++) {
    // Small whole numbers: their sum is exact in every type and every order.
    in[i] = (T)(int)(mix(i) % 17) - 8;
    want += in[i];
  }
  const int blocks = 60;
  Device<T> d(in), parts(blocks), sum(1);
  partial<<<blocks, BLOCK>>>(d.p, parts.p, n);
  partial<<<1, BLOCK>>>(parts.p, sum.p, blocks);
  T got = sum.get()[0];
  CHECK(got == want, "sum of %s: %g, not %g", name, (double)got, (double)want);
}

int main() {
  test<int>(123457, "int");
  test<float>(100000, "float");
  test<double>(54321, "double");
  test<unsigned long long>(65536, "unsigned long long");
  return pass();
}
