// rocPRIM's radix sort: keys with their values, descending, part of the bits.
#include "common.h"
#include <rocprim/device/device_radix_sort.hpp>
#include <algorithm>
#include <numeric>

template <typename F> void with_temporary(F call) {
  size_t size = 0;
  HIP(call(nullptr, size));
  Device<char> temporary(size);
  HIP(call(temporary.p, size));
  HIP(hipDeviceSynchronize());
}

int main() {
  const int n = 120001;
  std::vector<unsigned> keys(n), values(n);
  for (int i = 0; i < n; i++) keys[i] = (unsigned)mix(i) & 0xfffff;
  std::iota(values.begin(), values.end(), 0);
  Device<unsigned> k(keys), v(values), ko(n), vo(n);
  with_temporary([&](void *t, size_t &s) { return rocprim::radix_sort_pairs(t, s, k.p, ko.p, v.p, vo.p, n); });
  // The sort is stable: equal keys keep their order.
  std::vector<unsigned> order = values;
  std::stable_sort(order.begin(), order.end(), [&](unsigned a, unsigned b) { return keys[a] < keys[b]; });
  auto gk = ko.get(), gv = vo.get();
  for (int i = 0; i < n; i++)
    CHECK(gk[i] == keys[order[i]] && gv[i] == order[i], "pair %d: %x %u, not %x %u", i, gk[i], gv[i], keys[order[i]], order[i]);

  with_temporary([&](void *t, size_t &s) { return rocprim::radix_sort_keys_desc(t, s, k.p, ko.p, n, 4, 16); });
  auto field = [](unsigned key) { return key >> 4 & 0xfff; };
  std::vector<unsigned> want = keys;
  std::stable_sort(want.begin(), want.end(), [&](unsigned a, unsigned b) { return field(a) > field(b); });
  gk = ko.get();
  for (int i = 0; i < n; i++) CHECK(gk[i] == want[i], "key %d: %x, not %x", i, gk[i], want[i]);
  return pass();
}
