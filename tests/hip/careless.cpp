// link: -g
// finds: mem:read-outside init:undefined-result race:lds-race race:memory-race sync:divergent-barrier
// What goes well by chance: the program passes, and `exec --check` tells what is wrong with each kernel.
#include "common.h"

// One element too far, in the same page.
__global__ void sum_of_two(const int *in, int *out, int n) {
  int i = threadIdx.x;
  if (i < n) out[i] = in[i] + in[i + 1];
}

// The last element of the tile is never written, and lands in memory that the host copies.
__global__ void hole(int *out) {
  __shared__ int tile[64];
  int i = threadIdx.x;
  if (i != 63) tile[i] = i;
  __syncthreads();
  out[i] = tile[i];
}

// No barrier between the two.
__global__ void reverse(int *out) {
  __shared__ int tile[128];
  int i = threadIdx.x;
  tile[i] = 0;
  __syncthreads();
  tile[i] = i;
  out[i] = tile[127 - i];
}

// Two blocks count with plain loads and stores.
__global__ void count(int *out) {
  if (threadIdx.x == 0) *out += 1;
}

// Half of the block goes through a barrier of its own.
__global__ void halves(int *out) {
  int i = threadIdx.x;
  if (i < 32) __syncthreads();
  out[i] = i;
}

int main() {
  Device<int> in(std::vector<int>(64, 1)), out(128);
  sum_of_two<<<1, 64>>>(in.p, out.p, 64);
  auto got = out.get();
  CHECK(got[0] == 2, "%d", got[0]);
  hole<<<1, 64>>>(out.p);
  got = out.get();
  CHECK(got[62] == 62, "%d", got[62]);
  reverse<<<1, 128>>>(out.p);
  got = out.get();
  CHECK(got.size() == 128, "%zu", got.size());
  out.put(std::vector<int>(128, 0));
  count<<<2, 64>>>(out.p);
  got = out.get();
  CHECK(got[0] >= 1, "%d", got[0]);
  halves<<<1, 64>>>(out.p);
  got = out.get();
  CHECK(got[63] == 63, "%d", got[63]);
  return pass();
}
