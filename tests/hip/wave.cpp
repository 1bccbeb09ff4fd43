// What the lanes of a wave tell each other: shuffles of every kind and width, ballots, votes, and wave-wide scans.
#include "common.h"

constexpr int W = 64;

__global__ void shuffles(const int *in, int *out) {
  int lane = threadIdx.x, v = in[lane], *o = out;
  *(o + lane) = __shfl(v, 63 - lane), o += W;
  *(o + lane) = __shfl(v, 5), o += W;
  *(o + lane) = __shfl_up(v, 3), o += W;
  *(o + lane) = __shfl_down(v, 7), o += W;
  *(o + lane) = __shfl_xor(v, 21), o += W;
  *(o + lane) = __shfl(v, (lane + 3) % 16, 16), o += W;
  *(o + lane) = __shfl_up(v, 2, 8), o += W;
  *(o + lane) = __shfl_down(v, 5, 32), o += W;
}

__global__ void wide(const double *in, double *out) {
  double v = in[threadIdx.x];
  for (int d = 1; d < W; d *= 2) {
    double o = __shfl_up(v, d);
    if (threadIdx.x >= d) v += o;
  }
  out[threadIdx.x] = v;
}

__global__ void votes(const int *in, unsigned long long *out) {
  int v = in[threadIdx.x];
  unsigned long long odd = __ballot(v & 1), high = __ballot(v > 500);
  if (threadIdx.x == 0) out[0] = odd, out[1] = high;
  out[2 + threadIdx.x] = __popcll(odd & ((1ull << threadIdx.x) - 1));
  if (v & 1) {
    // Only the odd ones are here: the others must not count.
    unsigned long long both = __ballot(1);
    if (threadIdx.x == __ffsll((unsigned long long)odd) - 1) out[66] = both;
  }
  int any = __any(v > 2000), all = __all(v < 2000), none = __all(v & 1);
  if (threadIdx.x == 1) out[67] = any | all << 1 | none << 2;
}

int main() {
  std::vector<int> in(W);
  for (int i = 0; i < W; i++) in[i] = (int)(mix(i) % 1000);
  Device<int> d(in), o(8 * W);
  shuffles<<<1, W>>>(d.p, o.p);
  auto out = o.get();
  for (int i = 0; i < W; i++) {
    int want[8] = {
        in[63 - i],
        in[5],
        i >= 3 ? in[i - 3] : in[i],
        i + 7 < W ? in[i + 7] : in[i],
        in[i ^ 21],
        in[i / 16 * 16 + (i + 3) % 16],
        i % 8 >= 2 ? in[i - 2] : in[i],
        i % 32 + 5 < 32 ? in[i + 5] : in[i],
    };
    for (int k = 0; k < 8; k++)
      CHECK(out[k * W + i] == want[k], "shuffle %d, lane %d: %d, not %d", k, i, out[k * W + i], want[k]);
  }

  std::vector<double> w(W);
  for (int i = 0; i < W; i++) w[i] = in[i] + 0.25;
  Device<double> dw(w), ow(W);
  wide<<<1, W>>>(dw.p, ow.p);
  auto sums = ow.get();
  double sum = 0;
  for (int i = 0; i < W; i++) {
    sum += w[i];
    CHECK(sums[i] == sum, "scan at lane %d: %g, not %g", i, sums[i], sum);
  }

  Device<unsigned long long> ov(68);
  votes<<<1, W>>>(d.p, ov.p);
  auto v = ov.get();
  unsigned long long odd = 0, high = 0;
  for (int i = 0; i < W; i++) {
    CHECK(v[2 + i] == (unsigned)__builtin_popcountll(odd), "rank of lane %d: %llu", i, v[2 + i]);
    odd |= (unsigned long long)(in[i] & 1) << i;
    high |= (unsigned long long)(in[i] > 500) << i;
  }
  CHECK(v[0] == odd && v[1] == high, "ballots %llx %llx, not %llx %llx", v[0], v[1], odd, high);
  CHECK(v[66] == odd, "ballot of some lanes %llx, not %llx", v[66], odd);
  CHECK(v[67] == 2, "any, all, all odd: %llx", v[67]);
  return pass();
}
