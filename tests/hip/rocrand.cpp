// link: -lrocrand
// librocrand's own kernels, as Debian compiled them, against the published algorithms.
//
// Philox4x32-10: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC11, with its known answers.
// xorwow: Marsaglia, "Xorshift RNGs", JSS 2003; rocRAND's seeding, one subsequence of 2^67 numbers for each lane.
#include "common.h"
#include <rocrand/rocrand.h>
#include <array>
#include <cmath>

#define RAND(call)                                                                                         \
  do {                                                                                                     \
    rocrand_status status_ = (call);                                                                       \
    CHECK(status_ == ROCRAND_STATUS_SUCCESS, "status %d", status_);                                        \
  } while (0)

typedef std::array<unsigned, 4> Four;
typedef std::array<unsigned, 5> Five;

static Four philox(Four c, unsigned k0, unsigned k1) {
  for (int round = 0; round < 10; round++) {
    unsigned long long a = 0xd2511f53ull * c[0], b = 0xcd9e8d57ull * c[2];
    c = {(unsigned)(b >> 32) ^ c[1] ^ k0, (unsigned)b, (unsigned)(a >> 32) ^ c[3] ^ k1, (unsigned)a};
    k0 += 0x9e3779b9;
    k1 += 0xbb67ae85;
  }
  return c;
}

// One step of the 160 bits of xorwow's shift register.
static Five step(Five x) {
  unsigned t = x[0] ^ x[0] >> 2;
  return {x[1], x[2], x[3], x[4], x[4] ^ x[4] << 4 ^ t ^ t << 1};
}

// What becomes of each single bit: a linear map on 160 bits.
typedef std::vector<Five> Map;

static Five mapped(const Map &map, const Five &x) {
  Five r = {};
  for (int bit = 0; bit < 160; bit++)
    if (x[bit / 32] >> bit % 32 & 1)
      for (int w = 0; w < 5; w++) r[w] ^= map[bit][w];
  return r;
}

static Map jump(int log2) {
  Map map(160);
  for (int bit = 0; bit < 160; bit++) {
    Five x = {};
    x[bit / 32] = 1u << bit % 32;
    map[bit] = step(x);
  }
  while (log2--) {
    Map twice(160);
    for (int bit = 0; bit < 160; bit++) twice[bit] = mapped(map, map[bit]);
    map = twice;
  }
  return map;
}

int main() {
  CHECK((philox({0, 0, 0, 0}, 0, 0) == Four{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}), "the host's philox");
  const unsigned pi[] = {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0};
  CHECK((philox({pi[0], pi[1], pi[2], pi[3]}, pi[4], pi[5]) == Four{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}), "the host's philox");

  const int n = 20000;
  Device<unsigned> d(n);
  Device<float> f(n);
  rocrand_generator generator;
  RAND(rocrand_create_generator(&generator, ROCRAND_RNG_PSEUDO_PHILOX4_32_10));
  for (unsigned long long seed : {0ull, 0x299f31d0a4093822ull}) {
    RAND(rocrand_set_seed(generator, seed));
    RAND(rocrand_generate(generator, d.p, n));
    auto got = d.get();
    for (int i = 0; i < n; i++) {
      unsigned want = philox({(unsigned)i / 4, 0, 0, 0}, (unsigned)seed, (unsigned)(seed >> 32))[i % 4];
      CHECK(got[i] == want, "philox, seed %llx, %d: %08x, not %08x", seed, i, got[i], want);
    }
  }
  // Uniform numbers in (0, 1]: the same bits, scaled. Normal ones: their mean and spread.
  RAND(rocrand_set_seed(generator, 0));
  RAND(rocrand_generate_uniform(generator, f.p, n));
  auto u = f.get();
  for (int i = 0; i < n; i++) {
    double want = (philox({(unsigned)i / 4, 0, 0, 0}, 0, 0)[i % 4] + 1.0) / 4294967296.0;
    CHECK(std::fabs(u[i] - want) < 1e-7 && u[i] > 0 && u[i] <= 1, "uniform %d: %.9g, not %.9g", i, u[i], want);
  }
  RAND(rocrand_generate_normal(generator, f.p, n, 10.0f, 2.0f));
  double sum = 0, squares = 0;
  for (float v : f.get()) sum += v, squares += (v - 10.0) * (v - 10.0);
  CHECK(std::fabs(sum / n - 10) < 0.06 && std::fabs(squares / n - 4) < 0.2, "mean %g, variance %g", sum / n, squares / n);
  RAND(rocrand_destroy_generator(generator));

  RAND(rocrand_create_generator(&generator, ROCRAND_RNG_PSEUDO_XORWOW));
  const unsigned long long seed = 0x123456789abcdefull;
  RAND(rocrand_set_seed(generator, seed));
  RAND(rocrand_generate(generator, d.p, n));
  auto got = d.get();
  unsigned s0 = (unsigned)seed ^ 0x2c7f967f, s1 = (unsigned)(seed >> 32) ^ 0xa03697cb;
  unsigned t0 = 1228688033u * s0, t1 = 2073658381u * s1;
  Five x = {123456789u + t0, 362436069u ^ t0, 521288629u + t1, 88675123u ^ t1, 5783321u + t0};
  unsigned weyl = 6615241u + t0 + t1 + 362437u;
  Map next = jump(67);
  for (int i = 0; i < n; i++) {
    unsigned want = step(x)[4] + weyl;
    CHECK(got[i] == want, "xorwow %d: %08x, not %08x", i, got[i], want);
    x = mapped(next, x);
  }
  RAND(rocrand_destroy_generator(generator));
  return pass();
}
