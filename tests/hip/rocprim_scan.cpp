// rocPRIM's scans, reductions and histogram, which look back at other work-groups' results while they run.
#include "common.h"
#include <algorithm>
// rocPRIM's headers use these without including them.
#include <chrono>
#include <iostream>
#include <rocprim/device/device_histogram.hpp>
#include <rocprim/device/device_reduce.hpp>
#include <rocprim/device/device_scan.hpp>

// rocPRIM's functions are called twice: to ask for the size of temporary memory, and to work.
template <typename F> void with_temporary(F call) {
  size_t size = 0;
  HIP(call(nullptr, size));
  Device<char> temporary(size);
  HIP(call(temporary.p, size));
  HIP(hipDeviceSynchronize());
}

int main() {
  const int n = 200003;
  std::vector<int> in(n);
  for (int i = 0; i < n; i++) in[i] = (int)(mix(i) % 2001) - 1000;
  Device<int> d(in), o(n), one(1);

  with_temporary([&](void *t, size_t &s) { return rocprim::inclusive_scan(t, s, d.p, o.p, n, rocprim::plus<int>()); });
  auto out = o.get();
  int sum = 0;
  for (int i = 0; i < n; i++) {
    sum += in[i];
    CHECK(out[i] == sum, "inclusive scan at %d: %d, not %d", i, out[i], sum);
  }

  with_temporary([&](void *t, size_t &s) { return rocprim::exclusive_scan(t, s, d.p, o.p, -5000, n, rocprim::maximum<int>()); });
  out = o.get();
  int top = -5000;
  for (int i = 0; i < n; i++) {
    CHECK(out[i] == top, "exclusive scan at %d: %d, not %d", i, out[i], top);
    top = std::max(top, in[i]);
  }

  with_temporary([&](void *t, size_t &s) { return rocprim::reduce(t, s, d.p, one.p, 17, n, rocprim::plus<int>()); });
  CHECK(one.get()[0] == sum + 17, "reduction: %d, not %d", one.get()[0], sum + 17);

  const int bins = 40;
  Device<int> counts(bins);
  with_temporary([&](void *t, size_t &s) { return rocprim::histogram_even(t, s, d.p, n, counts.p, bins + 1, -1000, 1000); });
  std::vector<int> want(bins);
  for (int v : in)
    if (v < 1000) want[(v + 1000) / 50]++;
  auto got = counts.get();
  for (int b = 0; b < bins; b++) CHECK(got[b] == want[b], "bin %d: %d, not %d", b, got[b], want[b]);
  return pass();
}
