// Cooperative groups: blocks, tiles of several sizes, groups of the lanes that are there, and the grid.
#include "cases.h"
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;

const int BLOCK = 256;

// Runs a kernel on one block and hands out what each thread wrote.
template <typename K> std::vector<int> run(K kernel, int blocks = 1) {
  Device<int> out(std::vector<int>(BLOCK * blocks, -1));
  kernel<<<blocks, BLOCK>>>(out.p);
  HIP(hipGetLastError());
  HIP(hipDeviceSynchronize());
  return out.get();
}

__global__ void block_ranks(int *out) {
  auto block = cg::this_thread_block();
  __shared__ int shared[BLOCK];
  shared[block.thread_rank()] = block.thread_rank() * 3;
  block.sync();
  out[block.group_index().x * BLOCK + block.thread_rank()] = shared[BLOCK - 1 - block.thread_rank()] + block.size();
}

CASE(thread_block) {
  auto got = run(block_ranks, 2);
  for (int i = 0; i < 2 * BLOCK; i++) CHECK(got[i] == (BLOCK - 1 - i % BLOCK) * 3 + BLOCK, "thread %d: %d", i, got[i]);
}

template <int W> __global__ void tile_sum(int *out) {
  auto tile = cg::tiled_partition<W>(cg::this_thread_block());
  int v = threadIdx.x;
  for (int step = W / 2; step > 0; step /= 2) v += tile.shfl_xor(v, step);
  out[threadIdx.x] = v * 100 + tile.thread_rank();
}

template <int W> static void tiles() {
  auto got = run(tile_sum<W>);
  for (int i = 0; i < BLOCK; i++) {
    int first = i / W * W, sum = W * first + W * (W - 1) / 2;
    CHECK(got[i] == sum * 100 + i % W, "thread %d: %d", i, got[i]);
  }
}

CASE(tile_of_64) { tiles<64>(); }
CASE(tile_of_32) { tiles<32>(); }
CASE(tile_of_16) { tiles<16>(); }
CASE(tile_of_4) { tiles<4>(); }

template <int W> __global__ void tile_shift(int *out) {
  auto tile = cg::tiled_partition<W>(cg::this_thread_block());
  int up = tile.shfl_up((int)threadIdx.x, 1), down = tile.shfl_down((int)threadIdx.x, 2), first = tile.shfl((int)threadIdx.x, 0);
  out[threadIdx.x] = up * 1000000 + down * 1000 + first;
}

CASE(tile_shuffles) {
  const int W = 8;
  auto got = run(tile_shift<W>);
  for (int i = 0; i < BLOCK; i++) {
    int lane = i % W, up = lane < 1 ? i : i - 1, down = lane + 2 < W ? i + 2 : i;
    CHECK(got[i] == up * 1000000 + down * 1000 + i - lane, "thread %d: %d", i, got[i]);
  }
}

__global__ void nested(int *out) {
  auto block = cg::this_thread_block();
  auto half = cg::tiled_partition(block, 32);
  out[threadIdx.x] = half.size() * 1000 + half.thread_rank();
  half.sync();
}

CASE(partition_at_run_time) {
  auto got = run(nested);
  for (int i = 0; i < BLOCK; i++) CHECK(got[i] == 32000 + i % 32, "thread %d: %d", i, got[i]);
}

__global__ void some(int *out) {
  if (threadIdx.x % 3 == 1) {
    auto active = cg::coalesced_threads();
    int first = active.shfl((int)threadIdx.x, 0);
    out[threadIdx.x] = active.size() * 1000000 + active.thread_rank() * 1000 + first;
  }
}

CASE(coalesced_lanes) {
  auto got = run(some);
  for (int wave = 0; wave < BLOCK / 64; wave++) {
    std::vector<int> lanes;
    for (int i = wave * 64; i < wave * 64 + 64; i++) {
      if (i % 3 == 1) lanes.push_back(i);
      else CHECK(got[i] == -1, "thread %d: %d", i, got[i]);
    }
    for (size_t k = 0; k < lanes.size(); k++) {
      int want = lanes.size() * 1000000 + k * 1000 + lanes[0];
      CHECK(got[lanes[k]] == want, "thread %d: %d, not %d", lanes[k], got[lanes[k]], want);
    }
  }
}

__global__ void around(int *out, int rounds) {
  auto grid = cg::this_grid();
  int me = grid.thread_rank(), n = grid.size();
  for (int r = 0; r < rounds; r++) {
    int v = out[(me + 1) % n];
    grid.sync();
    out[me] = v;
    grid.sync();
  }
}

CASE(grid_rotation) {
  const int blocks = 6, n = blocks * BLOCK;
  int rounds = 5;
  std::vector<int> in(n);
  for (int i = 0; i < n; i++) in[i] = i;
  Device<int> d(in);
  void *args[] = {&d.p, &rounds};
  HIP(hipLaunchCooperativeKernel((void *)around, dim3(blocks), dim3(BLOCK), args, 0, 0));
  HIP(hipDeviceSynchronize());
  auto got = d.get();
  for (int i = 0; i < n; i++) CHECK(got[i] == (i + rounds) % n, "thread %d: %d", i, got[i]);
}
