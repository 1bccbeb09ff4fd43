// rocPRIM's primitives of blocks and warps: one kernel each, compared with the host.
#include "cases.h"
#include <algorithm>
#include <numeric>
// rocPRIM's headers use these without including them.
#include <chrono>
#include <iostream>
#include <rocprim/block/block_adjacent_difference.hpp>
#include <rocprim/block/block_discontinuity.hpp>
#include <rocprim/block/block_exchange.hpp>
#include <rocprim/block/block_histogram.hpp>
#include <rocprim/block/block_load.hpp>
#include <rocprim/block/block_radix_sort.hpp>
#include <rocprim/block/block_reduce.hpp>
#include <rocprim/block/block_scan.hpp>
#include <rocprim/block/block_shuffle.hpp>
#include <rocprim/block/block_sort.hpp>
#include <rocprim/block/block_store.hpp>
#include <rocprim/warp/warp_exchange.hpp>
#include <rocprim/warp/warp_reduce.hpp>
#include <rocprim/warp/warp_scan.hpp>
#include <rocprim/warp/warp_sort.hpp>

using std::vector;

constexpr int BLOCK = 192, ITEMS = 4, BLOCKS = 3, TILE = BLOCK * ITEMS, N = TILE * BLOCKS;

static vector<int> numbers(int n = N, int modulus = 1000) {
  vector<int> v(n);
  for (int i = 0; i < n; i++) v[i] = (int)(mix(i) % modulus);
  return v;
}

// Runs a kernel over N numbers, and hands the results out.
template <typename K> vector<int> run(K kernel, const vector<int> &in, int blocks = BLOCKS, int threads = BLOCK) {
  Device<int> d(in), out(in.size());
  kernel<<<blocks, threads>>>(d.p, out.p);
  HIP(hipGetLastError());
  HIP(hipDeviceSynchronize());
  return out.get();
}

static void same(const vector<int> &got, const vector<int> &want) {
  for (size_t i = 0; i < want.size(); i++) CHECK(got[i] == want[i], "at %zu: %d, not %d", i, got[i], want[i]);
}

template <rocprim::block_load_method L, rocprim::block_store_method S> __global__ void move(int *in, int *out) {
  using Load = rocprim::block_load<int, BLOCK, ITEMS, L>;
  using Store = rocprim::block_store<int, BLOCK, ITEMS, S>;
  __shared__ typename Load::storage_type load;
  __shared__ typename Store::storage_type store;
  int v[ITEMS];
  Load().load(in + blockIdx.x * TILE, v, load);
  for (int i = 0; i < ITEMS; i++) v[i] = v[i] * 10 + i;
  Store().store(out + blockIdx.x * TILE, v, store);
}

CASE(block_load_and_store_transposed) {
  auto in = numbers(), want = in;
  for (int i = 0; i < N; i++) want[i] = in[i] * 10 + i % ITEMS;
  auto kernel = move<rocprim::block_load_method::block_load_transpose, rocprim::block_store_method::block_store_transpose>;
  same(run(kernel, in), want);
}

CASE(block_load_and_store_vectorized) {
  auto in = numbers(), want = in;
  for (int i = 0; i < N; i++) want[i] = in[i] * 10 + i % ITEMS;
  auto kernel = move<rocprim::block_load_method::block_load_vectorize, rocprim::block_store_method::block_store_vectorize>;
  same(run(kernel, in), want);
}

CASE(block_load_and_store_by_warps) {
  auto in = numbers(), want = in;
  for (int i = 0; i < N; i++) want[i] = in[i] * 10 + i % ITEMS;
  auto kernel = move<rocprim::block_load_method::block_load_warp_transpose, rocprim::block_store_method::block_store_warp_transpose>;
  same(run(kernel, in), want);
}

template <rocprim::block_reduce_algorithm A> __global__ void reduce(int *in, int *out) {
  using Reduce = rocprim::block_reduce<int, BLOCK, A>;
  __shared__ typename Reduce::storage_type storage;
  int v[ITEMS], sum;
  for (int i = 0; i < ITEMS; i++) v[i] = in[blockIdx.x * TILE + threadIdx.x * ITEMS + i];
  Reduce().reduce(v, sum, storage);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

static vector<int> sums(const vector<int> &in) {
  vector<int> want(BLOCKS);
  for (int i = 0; i < N; i++) want[i / TILE] += in[i];
  return want;
}

CASE(block_reduce_warps) {
  auto in = numbers();
  same(run(reduce<rocprim::block_reduce_algorithm::using_warp_reduce>, in), sums(in));
}

CASE(block_reduce_raking) {
  auto in = numbers();
  same(run(reduce<rocprim::block_reduce_algorithm::raking_reduce>, in), sums(in));
}

template <rocprim::block_scan_algorithm A> __global__ void scan(int *in, int *out) {
  using Scan = rocprim::block_scan<int, BLOCK, A>;
  __shared__ typename Scan::storage_type storage;
  int v[ITEMS], r[ITEMS];
  for (int i = 0; i < ITEMS; i++) v[i] = in[blockIdx.x * TILE + threadIdx.x * ITEMS + i];
  Scan().inclusive_scan(v, r, storage);
  for (int i = 0; i < ITEMS; i++) out[blockIdx.x * TILE + threadIdx.x * ITEMS + i] = r[i];
}

static vector<int> scans(vector<int> in) {
  for (int i = 1; i < N; i++)
    if (i % TILE) in[i] += in[i - 1];
  return in;
}

CASE(block_scan_warps) {
  auto in = numbers();
  same(run(scan<rocprim::block_scan_algorithm::using_warp_scan>, in), scans(in));
}

CASE(block_scan_reduce_then_scan) {
  auto in = numbers();
  same(run(scan<rocprim::block_scan_algorithm::reduce_then_scan>, in), scans(in));
}

__global__ void radix_sort(int *in, int *out) {
  using Sort = rocprim::block_radix_sort<int, BLOCK, ITEMS>;
  __shared__ typename Sort::storage_type storage;
  int v[ITEMS];
  for (int i = 0; i < ITEMS; i++) v[i] = in[blockIdx.x * TILE + threadIdx.x * ITEMS + i];
  Sort().sort_desc(v, storage);
  for (int i = 0; i < ITEMS; i++) out[blockIdx.x * TILE + threadIdx.x * ITEMS + i] = v[i];
}

CASE(block_radix_sort) {
  auto in = numbers();
  auto got = run(radix_sort, in);
  for (int b = 0; b < BLOCKS; b++) std::sort(in.begin() + b * TILE, in.begin() + (b + 1) * TILE, std::greater<int>());
  same(got, in);
}

__global__ void sort_one(int *in, int *out) {
  using Sort = rocprim::block_sort<int, 256>;
  __shared__ typename Sort::storage_type storage;
  int v = in[blockIdx.x * 256 + threadIdx.x];
  Sort().sort(v, storage);
  out[blockIdx.x * 256 + threadIdx.x] = v;
}

CASE(block_sort_bitonic) {
  auto in = numbers(1024);
  auto got = run(sort_one, in, 4, 256);
  for (int b = 0; b < 4; b++) std::sort(in.begin() + b * 256, in.begin() + (b + 1) * 256);
  same(got, in);
}

__global__ void exchange(int *in, int *out) {
  using Exchange = rocprim::block_exchange<int, BLOCK, ITEMS>;
  __shared__ typename Exchange::storage_type storage;
  int v[ITEMS];
  for (int i = 0; i < ITEMS; i++) v[i] = in[blockIdx.x * TILE + threadIdx.x * ITEMS + i];
  Exchange().blocked_to_striped(v, v, storage);
  for (int i = 0; i < ITEMS; i++) out[blockIdx.x * TILE + threadIdx.x * ITEMS + i] = v[i];
}

CASE(block_exchange) {
  auto in = numbers(), want = in;
  for (int b = 0; b < BLOCKS; b++)
    for (int t = 0; t < BLOCK; t++)
      for (int i = 0; i < ITEMS; i++) want[b * TILE + t * ITEMS + i] = in[b * TILE + i * BLOCK + t];
  same(run(exchange, in), want);
}

__global__ void discontinuity(int *in, int *out) {
  using Heads = rocprim::block_discontinuity<int, BLOCK>;
  __shared__ typename Heads::storage_type storage;
  int v[ITEMS], flags[ITEMS];
  for (int i = 0; i < ITEMS; i++) v[i] = in[blockIdx.x * TILE + threadIdx.x * ITEMS + i];
  Heads().flag_heads(flags, v, rocprim::not_equal_to<int>(), storage);
  for (int i = 0; i < ITEMS; i++) out[blockIdx.x * TILE + threadIdx.x * ITEMS + i] = flags[i];
}

CASE(block_discontinuity) {
  auto in = numbers(N, 3), want = in;
  for (int i = 0; i < N; i++) want[i] = i % TILE == 0 || in[i] != in[i - 1];
  same(run(discontinuity, in), want);
}

__global__ void difference(int *in, int *out) {
  using Difference = rocprim::block_adjacent_difference<int, BLOCK>;
  __shared__ typename Difference::storage_type storage;
  int v[ITEMS], r[ITEMS];
  for (int i = 0; i < ITEMS; i++) v[i] = in[blockIdx.x * TILE + threadIdx.x * ITEMS + i];
  Difference().subtract_left(v, r, rocprim::minus<int>(), storage);
  for (int i = 0; i < ITEMS; i++) out[blockIdx.x * TILE + threadIdx.x * ITEMS + i] = r[i];
}

CASE(block_adjacent_difference) {
  auto in = numbers(), want = in;
  for (int i = 0; i < N; i++) want[i] = i % TILE == 0 ? in[i] : in[i] - in[i - 1];
  same(run(difference, in), want);
}

template <rocprim::block_histogram_algorithm A> __global__ void histogram(int *in, int *out) {
  using Histogram = rocprim::block_histogram<unsigned, BLOCK, ITEMS, 64, A>;
  __shared__ typename Histogram::storage_type storage;
  __shared__ unsigned bins[64];
  unsigned v[ITEMS];
  for (int i = 0; i < ITEMS; i++) v[i] = in[blockIdx.x * TILE + threadIdx.x * ITEMS + i];
  Histogram().histogram(v, bins, storage);
  rocprim::syncthreads();
  if (threadIdx.x < 64) out[blockIdx.x * 64 + threadIdx.x] = bins[threadIdx.x];
}

static vector<int> bins(const vector<int> &in) {
  vector<int> want(64 * BLOCKS);
  for (int i = 0; i < N; i++) want[i / TILE * 64 + in[i]]++;
  return want;
}

CASE(block_histogram_atomic) {
  auto in = numbers(N, 64);
  same(run(histogram<rocprim::block_histogram_algorithm::using_atomic>, in), bins(in));
}

CASE(block_histogram_sort) {
  auto in = numbers(N, 64);
  same(run(histogram<rocprim::block_histogram_algorithm::using_sort>, in), bins(in));
}

__global__ void shuffle(int *in, int *out) {
  using Shuffle = rocprim::block_shuffle<int, BLOCK>;
  int v = in[blockIdx.x * BLOCK + threadIdx.x], r;
  Shuffle().rotate(v, r, 5);
  out[blockIdx.x * BLOCK + threadIdx.x] = r;
}

CASE(block_shuffle) {
  auto in = numbers(BLOCK * BLOCKS), want = in;
  for (int i = 0; i < BLOCK * BLOCKS; i++) want[i] = in[i / BLOCK * BLOCK + (i % BLOCK + 5) % BLOCK];
  same(run(shuffle, in), want);
}

template <int W> __global__ void warp_reduce(int *in, int *out) {
  using Reduce = rocprim::warp_reduce<int, W, true>;
  __shared__ typename Reduce::storage_type storage[BLOCK / W];
  int v = in[blockIdx.x * BLOCK + threadIdx.x];
  Reduce().reduce(v, v, storage[threadIdx.x / W], rocprim::minimum<int>());
  out[blockIdx.x * BLOCK + threadIdx.x] = v;
}

template <int W> static void warp_minima() {
  auto in = numbers(BLOCK * BLOCKS), want = in;
  for (int i = 0; i < BLOCK * BLOCKS; i++) want[i] = *std::min_element(in.begin() + i / W * W, in.begin() + (i / W + 1) * W);
  same(run(warp_reduce<W>, in), want);
}

CASE(warp_reduce_64) { warp_minima<64>(); }
CASE(warp_reduce_16) { warp_minima<16>(); }
CASE(warp_reduce_4) { warp_minima<4>(); }

template <int W> __global__ void warp_scan(int *in, int *out) {
  using Scan = rocprim::warp_scan<int, W>;
  __shared__ typename Scan::storage_type storage[BLOCK / W];
  int v = in[blockIdx.x * BLOCK + threadIdx.x];
  Scan().exclusive_scan(v, v, 7, storage[threadIdx.x / W]);
  out[blockIdx.x * BLOCK + threadIdx.x] = v;
}

template <int W> static void warp_sums() {
  auto in = numbers(BLOCK * BLOCKS), want = in;
  for (int i = 0; i < BLOCK * BLOCKS; i++) want[i] = i % W ? want[i - 1] + in[i - 1] : 7;
  same(run(warp_scan<W>, in), want);
}

CASE(warp_scan_64) { warp_sums<64>(); }
CASE(warp_scan_8) { warp_sums<8>(); }

__global__ void warp_sort(int *in, int *out) {
  using Sort = rocprim::warp_sort<int, 32>;
  __shared__ typename Sort::storage_type storage[BLOCK / 32];
  int v = in[blockIdx.x * BLOCK + threadIdx.x];
  Sort().sort(v, storage[threadIdx.x / 32]);
  out[blockIdx.x * BLOCK + threadIdx.x] = v;
}

CASE(warp_sort) {
  auto in = numbers(BLOCK * BLOCKS), want = in;
  for (int i = 0; i < BLOCK * BLOCKS; i += 32) std::sort(want.begin() + i, want.begin() + i + 32);
  same(run(warp_sort, in), want);
}

__global__ void warp_exchange(int *in, int *out) {
  using Exchange = rocprim::warp_exchange<int, ITEMS, 16>;
  __shared__ typename Exchange::storage_type storage[BLOCK / 16];
  int v[ITEMS];
  for (int i = 0; i < ITEMS; i++) v[i] = in[blockIdx.x * TILE + threadIdx.x * ITEMS + i];
  Exchange().blocked_to_striped(v, v, storage[threadIdx.x / 16]);
  for (int i = 0; i < ITEMS; i++) out[blockIdx.x * TILE + threadIdx.x * ITEMS + i] = v[i];
}

CASE(warp_exchange) {
  auto in = numbers(), want = in;
  for (int w = 0; w < N / 64; w++)
    for (int t = 0; t < 16; t++)
      for (int i = 0; i < ITEMS; i++) want[w * 64 + t * ITEMS + i] = in[w * 64 + i * 16 + t];
  same(run(warp_exchange, in), want);
}
