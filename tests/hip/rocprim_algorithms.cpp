// finds: mem:write-outside
// rocPRIM's device-wide algorithms, each compared with the C++ library's or with a plain loop. Its merge writes beyond its
// temporary memory: partition_kernel has no more partitions than that, but 256 work-items that each write one.
#include "cases.h"
#include <algorithm>
#include <numeric>
// rocPRIM's headers use these without including them.
#include <chrono>
#include <iostream>
#include <rocprim/device/device_adjacent_difference.hpp>
#include <rocprim/device/device_binary_search.hpp>
#include <rocprim/device/device_histogram.hpp>
#include <rocprim/device/device_merge.hpp>
#include <rocprim/device/device_merge_sort.hpp>
#include <rocprim/device/device_partition.hpp>
#include <rocprim/device/device_radix_sort.hpp>
#include <rocprim/device/device_reduce_by_key.hpp>
#include <rocprim/device/device_run_length_encode.hpp>
#include <rocprim/device/device_scan_by_key.hpp>
#include <rocprim/device/device_segmented_radix_sort.hpp>
#include <rocprim/device/device_segmented_reduce.hpp>
#include <rocprim/device/device_segmented_scan.hpp>
#include <rocprim/device/device_select.hpp>
#include <rocprim/device/device_transform.hpp>

using std::vector;

const int N = 9001;

// rocPRIM's functions are called twice: to ask for the size of temporary memory, and to work.
template <typename F> void with_temporary(F call) {
  size_t size = 0;
  HIP(call(nullptr, size));
  Device<char> temporary(std::max<size_t>(size, 1));
  HIP(call(temporary.p, size));
  HIP(hipDeviceSynchronize());
}

static vector<int> numbers(int n, int modulus, int seed = 0) {
  vector<int> v(n);
  for (int i = 0; i < n; i++) v[i] = (int)(mix(i + seed * 1000003ull) % modulus);
  return v;
}

static vector<int> runs(int n) {
  vector<int> v(n);
  int key = 0;
  for (int i = 0; i < n; i++) {
    if (mix(i) % 7 == 0) key = (key + 1) % 50;
    v[i] = key;
  }
  return v;
}

template <typename T> void same(const vector<T> &got, const vector<T> &want, const char *what) {
  CHECK(got.size() >= want.size(), "%s: %zu elements, not %zu", what, got.size(), want.size());
  for (size_t i = 0; i < want.size(); i++)
    CHECK(got[i] == want[i], "%s at %zu: %g, not %g", what, i, (double)got[i], (double)want[i]);
}

CASE(merge) {
  auto a = numbers(N, 5000, 1), b = numbers(N / 2, 5000, 2);
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  Device<int> da(a), db(b), out(a.size() + b.size());
  with_temporary([&](void *t, size_t &s) { return rocprim::merge(t, s, da.p, db.p, out.p, a.size(), b.size(), rocprim::less<int>()); });
  vector<int> want(out.n);
  std::merge(a.begin(), a.end(), b.begin(), b.end(), want.begin());
  same(out.get(), want, "merge");
}

CASE(merge_pairs) {
  auto a = numbers(N, 500, 3), b = numbers(N, 500, 4);
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  vector<int> va(N), vb(N);
  std::iota(va.begin(), va.end(), 0);
  std::iota(vb.begin(), vb.end(), 100000);
  Device<int> ka(a), kb(b), xa(va), xb(vb), ko(2 * N), vo(2 * N);
  with_temporary([&](void *t, size_t &s) { return rocprim::merge(t, s, ka.p, kb.p, ko.p, xa.p, xb.p, vo.p, N, N, rocprim::less<int>()); });
  vector<std::pair<int, int>> pa(N), pb(N), want(2 * N);
  for (int i = 0; i < N; i++) pa[i] = {a[i], va[i]}, pb[i] = {b[i], vb[i]};
  std::merge(pa.begin(), pa.end(), pb.begin(), pb.end(), want.begin(), [](auto x, auto y) { return x.first < y.first; });
  auto keys = ko.get(), values = vo.get();
  for (int i = 0; i < 2 * N; i++) CHECK(keys[i] == want[i].first && values[i] == want[i].second, "pair %d", i);
}

CASE(merge_sort) {
  auto in = numbers(N, 1 << 30, 5);
  Device<int> d(in), out(N);
  with_temporary([&](void *t, size_t &s) { return rocprim::merge_sort(t, s, d.p, out.p, N, rocprim::greater<int>()); });
  std::sort(in.begin(), in.end(), std::greater<int>());
  same(out.get(), in, "merge sort");
}

CASE(radix_sort_pairs_descending) {
  auto keys = numbers(N, 300, 6);
  vector<int> values(N);
  std::iota(values.begin(), values.end(), 0);
  Device<unsigned> k(vector<unsigned>(keys.begin(), keys.end())), ko(N);
  Device<int> v(values), vo(N);
  with_temporary([&](void *t, size_t &s) { return rocprim::radix_sort_pairs_desc(t, s, k.p, ko.p, v.p, vo.p, N); });
  std::stable_sort(values.begin(), values.end(), [&](int a, int b) { return keys[a] > keys[b]; });
  same(vo.get(), values, "descending sort");
}

CASE(radix_sort_doubles) {
  vector<double> in(N);
  for (int i = 0; i < N; i++) in[i] = ((double)(mix(i) % 2000003) - 1000001.0) * 1e-3;
  Device<double> d(in), out(N);
  with_temporary([&](void *t, size_t &s) { return rocprim::radix_sort_keys(t, s, d.p, out.p, N); });
  std::sort(in.begin(), in.end());
  same(out.get(), in, "doubles");
}

CASE(radix_sort_bits) {
  auto in = numbers(N, 1 << 20, 7);
  Device<int> d(in), out(N);
  with_temporary([&](void *t, size_t &s) { return rocprim::radix_sort_keys(t, s, d.p, out.p, N, 4, 11); });
  std::stable_sort(in.begin(), in.end(), [](int a, int b) { return (a >> 4 & 127) < (b >> 4 & 127); });
  same(out.get(), in, "bits 4 to 10");
}

static vector<int> offsets(int n) {
  vector<int> at{0};
  for (int i = 0; at.back() < n; i++) at.push_back(std::min(n, at.back() + (int)(mix(i) % 700)));
  return at;
}

CASE(segmented_radix_sort) {
  auto in = numbers(N, 10000, 8), at = offsets(N);
  Device<int> d(in), out(N), o(at);
  int segments = at.size() - 1;
  with_temporary([&](void *t, size_t &s) { return rocprim::segmented_radix_sort_keys(t, s, d.p, out.p, N, segments, o.p, o.p + 1); });
  for (int i = 0; i < segments; i++) std::sort(in.begin() + at[i], in.begin() + at[i + 1]);
  same(out.get(), in, "segmented sort");
}

CASE(segmented_reduce) {
  auto in = numbers(N, 10000, 9), at = offsets(N);
  int segments = at.size() - 1;
  Device<int> d(in), o(at), out(segments);
  with_temporary([&](void *t, size_t &s) { return rocprim::segmented_reduce(t, s, d.p, out.p, segments, o.p, o.p + 1, rocprim::maximum<int>(), -1); });
  vector<int> want;
  for (int i = 0; i < segments; i++) {
    int top = -1;
    for (int j = at[i]; j < at[i + 1]; j++) top = std::max(top, in[j]);
    want.push_back(top);
  }
  same(out.get(), want, "segmented reduction");
}

CASE(segmented_scan) {
  auto in = numbers(N, 100, 10), at = offsets(N);
  int segments = at.size() - 1;
  Device<int> d(in), o(at), out(N);
  with_temporary([&](void *t, size_t &s) { return rocprim::segmented_inclusive_scan(t, s, d.p, out.p, segments, o.p, o.p + 1, rocprim::plus<int>()); });
  for (int i = 0; i < segments; i++)
    for (int j = at[i] + 1; j < at[i + 1]; j++) in[j] += in[j - 1];
  same(out.get(), in, "segmented scan");
}

CASE(reduce_by_key) {
  auto keys = runs(N), values = numbers(N, 1000, 11);
  Device<int> k(keys), v(values), unique(N), sums(N), count(1);
  with_temporary([&](void *t, size_t &s) { return rocprim::reduce_by_key(t, s, k.p, v.p, N, unique.p, sums.p, count.p, rocprim::plus<int>()); });
  vector<int> wk, wv;
  for (int i = 0; i < N; i++) {
    if (i == 0 || keys[i] != keys[i - 1]) wk.push_back(keys[i]), wv.push_back(0);
    wv.back() += values[i];
  }
  CHECK(count.get()[0] == (int)wk.size(), "%d runs, not %zu", count.get()[0], wk.size());
  same(unique.get(), wk, "keys");
  same(sums.get(), wv, "sums");
}

CASE(run_length_encode) {
  auto in = runs(N);
  Device<int> d(in), unique(N), counts(N), total(1);
  with_temporary([&](void *t, size_t &s) { return rocprim::run_length_encode(t, s, d.p, N, unique.p, counts.p, total.p); });
  vector<int> wk, wc;
  for (int i = 0; i < N; i++) {
    if (i == 0 || in[i] != in[i - 1]) wk.push_back(in[i]), wc.push_back(0);
    wc.back()++;
  }
  CHECK(total.get()[0] == (int)wk.size(), "%d runs, not %zu", total.get()[0], wk.size());
  same(unique.get(), wk, "values");
  same(counts.get(), wc, "counts");
}

CASE(run_length_encode_non_trivial_runs) {
  auto in = runs(N);
  Device<int> d(in), at(N), counts(N), total(1);
  with_temporary([&](void *t, size_t &s) { return rocprim::run_length_encode_non_trivial_runs(t, s, d.p, N, at.p, counts.p, total.p); });
  vector<int> wo, wc;
  for (int i = 0; i < N;) {
    int j = i;
    while (j < N && in[j] == in[i]) j++;
    if (j - i > 1) wo.push_back(i), wc.push_back(j - i);
    i = j;
  }
  CHECK(total.get()[0] == (int)wo.size(), "%d runs, not %zu", total.get()[0], wo.size());
  same(at.get(), wo, "offsets");
  same(counts.get(), wc, "counts");
}

CASE(select_flagged) {
  auto in = numbers(N, 100000, 12), flags = numbers(N, 2, 13);
  Device<int> d(in), f(flags), out(N), total(1);
  with_temporary([&](void *t, size_t &s) { return rocprim::select(t, s, d.p, f.p, out.p, total.p, N); });
  vector<int> want;
  for (int i = 0; i < N; i++)
    if (flags[i]) want.push_back(in[i]);
  CHECK(total.get()[0] == (int)want.size(), "%d, not %zu", total.get()[0], want.size());
  same(out.get(), want, "flagged");
}

struct Odd {
  __host__ __device__ bool operator()(int x) const { return x & 1; }
};

CASE(select_if) {
  auto in = numbers(N, 100000, 14);
  Device<int> d(in), out(N), total(1);
  with_temporary([&](void *t, size_t &s) { return rocprim::select(t, s, d.p, out.p, total.p, N, Odd()); });
  vector<int> want;
  std::copy_if(in.begin(), in.end(), std::back_inserter(want), Odd());
  CHECK(total.get()[0] == (int)want.size(), "%d, not %zu", total.get()[0], want.size());
  same(out.get(), want, "odd ones");
}

CASE(unique) {
  auto in = runs(N);
  Device<int> d(in), out(N), total(1);
  with_temporary([&](void *t, size_t &s) { return rocprim::unique(t, s, d.p, out.p, total.p, N); });
  in.erase(std::unique(in.begin(), in.end()), in.end());
  CHECK(total.get()[0] == (int)in.size(), "%d, not %zu", total.get()[0], in.size());
  same(out.get(), in, "unique");
}

CASE(partition) {
  auto in = numbers(N, 100000, 15);
  Device<int> d(in), out(N), total(1);
  with_temporary([&](void *t, size_t &s) { return rocprim::partition(t, s, d.p, out.p, total.p, N, Odd()); });
  vector<int> yes, no;
  for (int x : in) (x & 1 ? yes : no).push_back(x);
  CHECK(total.get()[0] == (int)yes.size(), "%d, not %zu", total.get()[0], yes.size());
  // Those that were not selected stand at the end, last one first.
  yes.insert(yes.end(), no.rbegin(), no.rend());
  same(out.get(), yes, "partition");
}

CASE(adjacent_difference) {
  auto in = numbers(N, 100000, 16);
  Device<int> d(in), out(N);
  with_temporary([&](void *t, size_t &s) { return rocprim::adjacent_difference(t, s, d.p, out.p, N); });
  vector<int> want(N);
  std::adjacent_difference(in.begin(), in.end(), want.begin());
  same(out.get(), want, "difference");
}

CASE(lower_bound) {
  auto hay = numbers(N, 5000, 17), needles = numbers(1000, 5200, 18);
  std::sort(hay.begin(), hay.end());
  Device<int> h(hay), n(needles), out(1000);
  with_temporary([&](void *t, size_t &s) { return rocprim::lower_bound(t, s, h.p, n.p, out.p, N, 1000, rocprim::less<int>()); });
  vector<int> want;
  for (int x : needles) want.push_back(std::lower_bound(hay.begin(), hay.end(), x) - hay.begin());
  same(out.get(), want, "lower bound");
}

CASE(upper_bound) {
  auto hay = numbers(N, 5000, 19), needles = numbers(1000, 5200, 20);
  std::sort(hay.begin(), hay.end());
  Device<int> h(hay), n(needles), out(1000);
  with_temporary([&](void *t, size_t &s) { return rocprim::upper_bound(t, s, h.p, n.p, out.p, N, 1000, rocprim::less<int>()); });
  vector<int> want;
  for (int x : needles) want.push_back(std::upper_bound(hay.begin(), hay.end(), x) - hay.begin());
  same(out.get(), want, "upper bound");
}

CASE(binary_search) {
  auto hay = numbers(N, 50000, 21), needles = numbers(1000, 50000, 22);
  std::sort(hay.begin(), hay.end());
  Device<int> h(hay), n(needles), out(1000);
  with_temporary([&](void *t, size_t &s) { return rocprim::binary_search(t, s, h.p, n.p, out.p, N, 1000, rocprim::less<int>()); });
  vector<int> want;
  for (int x : needles) want.push_back(std::binary_search(hay.begin(), hay.end(), x));
  same(out.get(), want, "binary search");
}

CASE(inclusive_scan_by_key) {
  auto keys = runs(N), values = numbers(N, 1000, 23);
  Device<int> k(keys), v(values), out(N);
  with_temporary([&](void *t, size_t &s) { return rocprim::inclusive_scan_by_key(t, s, k.p, v.p, out.p, N, rocprim::plus<int>()); });
  for (int i = 1; i < N; i++)
    if (keys[i] == keys[i - 1]) values[i] += values[i - 1];
  same(out.get(), values, "scan by key");
}

CASE(exclusive_scan_by_key) {
  auto keys = runs(N), values = numbers(N, 1000, 24);
  Device<int> k(keys), v(values), out(N);
  with_temporary([&](void *t, size_t &s) { return rocprim::exclusive_scan_by_key(t, s, k.p, v.p, out.p, 42, N, rocprim::plus<int>()); });
  vector<int> want(N);
  for (int i = 0; i < N; i++) want[i] = i && keys[i] == keys[i - 1] ? want[i - 1] + values[i - 1] : 42;
  same(out.get(), want, "exclusive scan by key");
}

CASE(transform_two) {
  auto a = numbers(N, 100000, 25), b = numbers(N, 100000, 26);
  Device<int> da(a), db(b);
  Device<long long> out(N);
  HIP(rocprim::transform(da.p, db.p, out.p, N, [] __device__(int x, int y) { return (long long)x * y; }));
  HIP(hipDeviceSynchronize());
  vector<long long> want(N);
  for (int i = 0; i < N; i++) want[i] = (long long)a[i] * b[i];
  same(out.get(), want, "products");
}

CASE(histogram_range) {
  auto in = numbers(N, 1000, 27);
  vector<int> levels{0, 10, 50, 51, 300, 301, 700, 999};
  Device<int> d(in), l(levels), counts(levels.size() - 1);
  with_temporary([&](void *t, size_t &s) { return rocprim::histogram_range(t, s, d.p, N, counts.p, (unsigned)levels.size(), l.p); });
  vector<int> want(levels.size() - 1);
  for (int x : in)
    for (size_t b = 0; b + 1 < levels.size(); b++) want[b] += x >= levels[b] && x < levels[b + 1];
  same(counts.get(), want, "histogram");
}
