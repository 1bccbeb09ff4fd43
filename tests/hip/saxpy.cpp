// within: 0.4 s
// y = a x + y: a launch with a tail, arguments of three kinds, and the copies there and back.
// record: and repeat
#include "common.h"

__global__ void saxpy(int n, float a, const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __builtin_fmaf(a, x[i], y[i]);
}

int main() {
  const int n = 100003;
  const float a = 2.5f;
  std::vector<float> x(n), y(n);
  for (int i = 0; i < n; i++) {
    x[i] = (float)(mix(i) >> 40) / 1024;
    y[i] = (float)i;
  }
  Device<float> dx(x), dy(y);
  saxpy<<<(n + 255) / 256, 256>>>(n, a, dx.p, dy.p);
  HIP(hipGetLastError());
  auto got = dy.get();
  for (int i = 0; i < n; i++) {
    float want = __builtin_fmaf(a, x[i], y[i]);
    CHECK(got[i] == want, "y[%d] is %g, not %g", i, got[i], want);
  }
  return pass();
}
