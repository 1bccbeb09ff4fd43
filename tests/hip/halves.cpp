// __half and __half2: conversions, arithmetic, comparisons and functions, against exact values.
#include "cases.h"
#include <cmath>
#include <hip/hip_fp16.h>

const int N = 4096;

// The f16 nearest to a number, ties to even, by exact arithmetic in double.
static unsigned short to_half(double x) {
  unsigned short sign = std::signbit(x) ? 0x8000 : 0;
  double a = std::fabs(x);
  if (std::isnan(x)) return 0x7e00;
  if (a >= 65520.0) return sign | 0x7c00;
  int e;
  std::frexp(a, &e);
  int scale = std::max(e - 11, -24);
  double m = std::nearbyint(std::ldexp(a, -scale));
  if (m == 0) return sign;
  if (m >= 2048) m /= 2, scale++;
  return sign | (m < 1024 ? (unsigned short)m : (unsigned short)((scale + 25) << 10 | ((int)m - 1024)));
}

static double from_half(unsigned short h) {
  int e = h >> 10 & 31, m = h & 1023;
  double v = e == 31 ? (m ? NAN : INFINITY) : e ? std::ldexp(1024 + m, e - 25) : std::ldexp(m, -24);
  return h & 0x8000 ? -v : v;
}

static unsigned short number(int i) {
  unsigned short h = (unsigned short)mix(i);
  // Neither infinities nor NaNs, which are for tests of single instructions.
  return (h & 0x7c00) == 0x7c00 ? (unsigned short)(h & 0xbfff) : h;
}

static float bits(unsigned u) {
  float f;
  memcpy(&f, &u, 4);
  return f;
}

template <typename F> __global__ void apply(const unsigned *a, const unsigned *b, unsigned *out, F f) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = f(a[i], b[i]);
}

static std::vector<unsigned> pairs(int seed) {
  std::vector<unsigned> v(N);
  for (int i = 0; i < N; i++) v[i] = number(seed + 2 * i) | (unsigned)number(seed + 2 * i + 1) << 16;
  return v;
}

// Applies `f` on the GPU and compares both halves with what `want` says of each.
template <typename F, typename W> static void both(F f, W want) {
  auto a = pairs(0), b = pairs(1 << 20);
  Device<unsigned> da(a), db(b), out(N);
  apply<<<N / 256, 256>>>(da.p, db.p, out.p, f);
  HIP(hipDeviceSynchronize());
  auto got = out.get();
  for (int i = 0; i < N; i++)
    for (int s = 0; s < 32; s += 16) {
      unsigned short x = a[i] >> s, y = b[i] >> s, g = got[i] >> s, w = want(x, y);
      CHECK(g == w || (std::isnan(from_half(w)) && std::isnan(from_half(g))), "%#x, %#x: %#x, not %#x", x, y, g, w);
    }
}

__device__ __half2 h2(unsigned u) {
  __half2 h;
  memcpy(&h, &u, 4);
  return h;
}

__device__ unsigned u32(__half2 h) {
  unsigned u;
  memcpy(&u, &h, 4);
  return u;
}

CASE(half2_add) {
  both([] __device__(unsigned a, unsigned b) { return u32(__hadd2(h2(a), h2(b))); },
       [](unsigned short x, unsigned short y) { return to_half(from_half(x) + from_half(y)); });
}

CASE(half2_subtract) {
  both([] __device__(unsigned a, unsigned b) { return u32(__hsub2(h2(a), h2(b))); },
       [](unsigned short x, unsigned short y) { return to_half(from_half(x) - from_half(y)); });
}

CASE(half2_multiply) {
  both([] __device__(unsigned a, unsigned b) { return u32(__hmul2(h2(a), h2(b))); },
       [](unsigned short x, unsigned short y) { return to_half(from_half(x) * from_half(y)); });
}

CASE(half2_fused) {
  both([] __device__(unsigned a, unsigned b) { return u32(__hfma2(h2(a), h2(b), h2(a))); },
       [](unsigned short x, unsigned short y) { return to_half(std::fma(from_half(x), from_half(y), from_half(x))); });
}

CASE(half2_negate_and_abs) {
  both([] __device__(unsigned a, unsigned) { return u32(__hneg2(h2(a))); },
       [](unsigned short x, unsigned short) { return (unsigned short)(x ^ 0x8000); });
}

CASE(half2_compare) {
  both([] __device__(unsigned a, unsigned b) { return u32(__hlt2(h2(a), h2(b))); },
       [](unsigned short x, unsigned short y) { return (unsigned short)(from_half(x) < from_half(y) ? 0x3c00 : 0); });
  both([] __device__(unsigned a, unsigned) { return u32(__heq2(h2(a), h2(a))); },
       [](unsigned short, unsigned short) { return (unsigned short)0x3c00; });
}

CASE(half2_square_root) {
  // One unit in the last place, as the library promises.
  auto a = pairs(77);
  for (auto &x : a) x &= 0x7fff7fff;
  Device<unsigned> da(a), out(N);
  apply<<<N / 256, 256>>>(da.p, da.p, out.p, [] __device__(unsigned x, unsigned) { return u32(h2sqrt(h2(x))); });
  HIP(hipDeviceSynchronize());
  auto got = out.get();
  for (int i = 0; i < N; i++)
    for (int s = 0; s < 32; s += 16) {
      int w = to_half(std::sqrt(from_half(a[i] >> s))), g = got[i] >> s & 0xffff;
      CHECK(std::abs(w - g) <= 1, "root of %#x: %#x, not %#x", a[i] >> s & 0xffff, g, w);
    }
}

__global__ void narrow(const unsigned *in, unsigned *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float f;
  memcpy(&f, in + i, 4);
  out[i] = __half_as_ushort(__float2half_rn(f));
}

CASE(from_float) {
  std::vector<unsigned> in(N);
  for (int i = 0; i < N; i++) in[i] = (unsigned)mix(i) % 0x0c000000 + (0x33000000 + ((unsigned)(mix(i) >> 60) & 1) * 0x80000000u);
  Device<unsigned> d(in), out(N);
  narrow<<<N / 256, 256>>>(d.p, out.p);
  HIP(hipDeviceSynchronize());
  auto got = out.get();
  for (int i = 0; i < N; i++) {
    double x = bits(in[i]);
    CHECK(got[i] == to_half(x), "%g: %#x, not %#x", x, got[i], to_half(x));
  }
}

__global__ void widen(const unsigned *in, float *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = __half2float(__ushort_as_half((unsigned short)in[i]));
}

CASE(to_float_all) {
  std::vector<unsigned> in(65536);
  for (int i = 0; i < 65536; i++) in[i] = i;
  Device<unsigned> d(in);
  Device<float> out(65536);
  widen<<<256, 256>>>(d.p, out.p);
  HIP(hipDeviceSynchronize());
  auto got = out.get();
  for (int i = 0; i < 65536; i++) {
    double want = from_half(i);
    CHECK(got[i] == want || (std::isnan(want) && std::isnan(got[i])), "%#x: %g, not %g", i, got[i], want);
  }
}

__global__ void integers(const unsigned *in, int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = __half2int_rz(__ushort_as_half((unsigned short)in[i]));
}

CASE(to_integer) {
  std::vector<unsigned> in(N);
  for (int i = 0; i < N; i++) in[i] = number(i);
  Device<unsigned> d(in);
  Device<int> out(N);
  integers<<<N / 256, 256>>>(d.p, out.p);
  HIP(hipDeviceSynchronize());
  auto got = out.get();
  for (int i = 0; i < N; i++) CHECK(got[i] == (int)from_half(in[i]), "%#x: %d", in[i], got[i]);
}
