// Atomics of every width in memory and in shared memory, what they return, and loops of compare-and-swap.
#include "common.h"

constexpr int BLOCKS = 20, BLOCK = 192, N = BLOCKS * BLOCK;
typedef unsigned long long u64;

struct Cells {
  int add, sub, min, max, band, bor, bxor;
  unsigned inc, dec, umin, umax;
  u64 add64, min64, max64;
  float f, product;
  double d;
  int ticket, lock, guarded, shared;
};

__global__ void every(Cells *c, int *tickets, const double *factors) {
  int i = blockIdx.x * BLOCK + threadIdx.x;
  atomicAdd(&c->add, i);
  atomicSub(&c->sub, 2 * i);
  atomicMin(&c->min, 500 - i);
  atomicMax(&c->max, i * 3);
  atomicAnd(&c->band, ~(1 << i % 31));
  atomicOr(&c->bor, 1 << i % 31);
  atomicXor(&c->bxor, i);
  atomicInc(&c->inc, 999);
  atomicDec(&c->dec, 999);
  atomicMin(&c->umin, 4000000000u - i);
  atomicMax(&c->umax, 4000000000u + i);
  atomicAdd(&c->add64, 0x100000001ull * i);
  atomicMin(&c->min64, ~0ull - i);
  atomicMax(&c->max64, (u64)i << 33);
  atomicAdd(&c->f, 0.5f);
  atomicAdd(&c->d, 0.125 * i);
  // Every ticket is given out once.
  tickets[atomicAdd(&c->ticket, 1)] = i;
  // A product by compare-and-swap; powers of two, so that the order does not matter.
  int *cell = (int *)&c->product, seen = *(volatile int *)cell;
  for (;;) {
    int found = atomicCAS(cell, seen, __float_as_int(__int_as_float(seen) * (float)factors[i]));
    if (found == seen) break;
    seen = found;
  }
}

// One lane of each work-group takes a lock with atomicCAS and gives it back with atomicExch.
__global__ void locked(Cells *c) {
  if (threadIdx.x == 0) {
    while (atomicCAS(&c->lock, 0, 1) != 0) {}
    __threadfence();
    int v = *(volatile int *)&c->guarded;
    *(volatile int *)&c->guarded = v + 1;
    __threadfence();
    atomicExch(&c->lock, 0);
  }
}

__global__ void local(int *out) {
  __shared__ int count, top;
  __shared__ u64 wide;
  __shared__ float f;
  if (threadIdx.x == 0) count = 0, top = 0, wide = 0, f = 0;
  __syncthreads();
  atomicAdd(&count, threadIdx.x);
  atomicMax(&top, (int)(threadIdx.x ^ 37));
  atomicAdd(&wide, (u64)threadIdx.x << 32);
  atomicAdd(&f, 0.25f);
  __syncthreads();
  if (threadIdx.x == 0) out[0] = count, out[1] = top, out[2] = (int)(wide >> 32), out[3] = (int)f;
}

int main() {
  Cells zero = {};
  zero.min = 1 << 30, zero.band = -1, zero.umin = ~0u, zero.dec = 7, zero.min64 = ~0ull, zero.product = 1;
  Device<Cells> d(std::vector<Cells>{zero});
  std::vector<double> factors(N, 1.0);
  for (int i = 0; i < 40; i++) factors[i * 71] = i < 30 ? 2.0 : 0.5;
  Device<double> df(factors);
  Device<int> tickets(N);
  every<<<BLOCKS, BLOCK>>>(d.p, tickets.p, df.p);
  locked<<<BLOCKS * 4, 64>>>(d.p);
  Cells got = d.get()[0], want = zero;
  for (int i = 0; i < N; i++) {
    want.add += i, want.sub -= 2 * i, want.bxor ^= i, want.add64 += 0x100000001ull * i, want.f += 0.5f, want.d += 0.125 * i;
    want.inc = want.inc >= 999 ? 0 : want.inc + 1;
    want.dec = want.dec == 0 || want.dec > 999 ? 999 : want.dec - 1;
    want.band &= ~(1 << i % 31), want.bor |= 1 << i % 31;
  }
  want.min = 500 - (N - 1), want.max = 3 * (N - 1), want.umin = 4000000000u - (N - 1), want.umax = 4000000000u + N - 1;
  want.min64 = ~0ull - (N - 1), want.max64 = (u64)(N - 1) << 33, want.product = 1 << 20;
#define SAME(field) CHECK(got.field == want.field, #field ": %.17g, not %.17g", (double)got.field, (double)want.field)
  SAME(add); SAME(sub); SAME(min); SAME(max); SAME(band); SAME(bor); SAME(bxor);
  SAME(inc); SAME(dec); SAME(umin); SAME(umax);
  SAME(add64); SAME(min64); SAME(max64); SAME(f); SAME(d); SAME(product);
  CHECK(got.guarded == BLOCKS * 4, "under the lock: %d", got.guarded);
  std::vector<bool> seen(N);
  for (int t : tickets.get()) {
    CHECK(t >= 0 && t < N && !seen[t], "ticket %d", t);
    seen[t] = true;
  }
  Device<int> o(4);
  local<<<1, 256>>>(o.p);
  auto v = o.get();
  CHECK(v[0] == 255 * 128 && v[1] == 255 && v[2] == 255 * 128 && v[3] == 64, "in shared memory: %d %d %d %d", v[0], v[1], v[2], v[3]);
  return pass();
}
