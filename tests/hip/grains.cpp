// Hardware atomics of floats on every kind of memory: memory that is coarse-grained has them, fine-grained memory of MI200 loses
// them, and 0 comes back (HIP's own tests, AtomicAdd_withunsafeflag.cc: a cell of 5 stays 5). Atomics that are loops of
// compare-and-swap work everywhere.
#include "cases.h"

__global__ void add(float *f, double *d, float *old_f, double *old_d) {
  *old_f = unsafeAtomicAdd(f, 10.0f);
  *old_d = unsafeAtomicAdd(d, 10.0);
}

__global__ void careful(float *f, double *d, float *old_f, double *old_d) {
  *old_f = safeAtomicAdd(f, 10.0f);
  *old_d = safeAtomicAdd(d, 10.0);
}

struct Cells {
  double d, old_d;
  float f, old_f;
};

// What is in a cell after one of the kernels has run, the cells being in some memory.
static Cells after(Cells *at, bool loop) {
  Cells start = {5.0, -1.0, 5.0f, -1.0f};
  HIP(hipMemcpy(at, &start, sizeof start, hipMemcpyDefault));
  if (loop)
    careful<<<1, 1>>>(&at->f, &at->d, &at->old_f, &at->old_d);
  else
    add<<<1, 1>>>(&at->f, &at->d, &at->old_f, &at->old_d);
  HIP(hipDeviceSynchronize());
  Cells got;
  HIP(hipMemcpy(&got, at, sizeof got, hipMemcpyDefault));
  return got;
}

static void expect(const Cells &c, bool added) {
  float f = added ? 15 : 5, old = added ? 5 : 0;
  CHECK(c.f == f && c.d == f, "%g %g, not %g", c.f, c.d, f);
  CHECK(c.old_f == old && c.old_d == old, "returned %g %g, not %g", c.old_f, c.old_d, old);
}

CASE(coarse_device_memory) {
  Cells *p;
  HIP(hipMalloc(&p, sizeof *p));
  expect(after(p, false), true);
  expect(after(p, true), true);
  HIP(hipFree(p));
}

CASE(fine_device_memory) {
  Cells *p;
  HIP(hipExtMallocWithFlags((void **)&p, sizeof *p, hipDeviceMallocFinegrained));
  expect(after(p, false), false);
  expect(after(p, true), true);
  HIP(hipFree(p));
}

CASE(coherent_host_memory) {
  Cells *p;
  HIP(hipHostMalloc((void **)&p, sizeof *p, hipHostMallocCoherent));
  expect(after(p, false), false);
  expect(after(p, true), true);
  HIP(hipHostFree(p));
}

CASE(host_memory_that_is_not_coherent) {
  Cells *p;
  HIP(hipHostMalloc((void **)&p, sizeof *p, hipHostMallocNonCoherent));
  expect(after(p, false), true);
  HIP(hipHostFree(p));
}
