// Bugs and their mended twins in HIP, without its headers: MENDED makes the twins. A line with a bug says which check finds it
// there, and as what; `run` says how the kernel is run.
#define KERNEL extern "C" __attribute__((global, amdgpu_flat_work_group_size(1, 256))) void
#define SHARED __attribute__((shared))
#define DEVICE __attribute__((device)) inline

DEVICE unsigned item() { return __builtin_amdgcn_workitem_id_x(); }
DEVICE unsigned group() { return __builtin_amdgcn_workgroup_id_x(); }
DEVICE void synchronise() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

// run: --grid 64 --block 64 --arg zeros:f32:64 --arg zeros:f32:63
KERNEL scale(const float *in, float *out) {
  unsigned i = item();
#ifdef MENDED
  if (i < 63)
#endif
    out[i] = 2 * in[i]; // BUG mem write-outside
}

// run: --grid 128 --block 128 --arg zeros:u32:128
KERNEL turn_round(unsigned *out) {
  SHARED static unsigned tile[128];
  unsigned i = item();
  tile[i] = 0;
  synchronise();
  tile[i] = i;
#ifdef MENDED
  synchronise();
#endif
  out[i] = tile[127 - i]; // BUG race lds-race
}

// run: --grid 128 --block 128 --arg zeros:u32:128
KERNEL overwritten(unsigned *out) {
  SHARED static unsigned tile[128];
  unsigned i = item();
  tile[i] = i;
  synchronise();
  unsigned other = tile[127 - i];
#ifdef MENDED
  synchronise();
#endif
  tile[i] = other; // BUG race lds-race
  synchronise();
  out[i] = tile[i];
}

// run: --grid 64 --block 64 --arg zeros:u32:64
KERNEL forgotten(unsigned *out) {
  SHARED static unsigned tile[64];
  unsigned i = item();
#ifdef MENDED
  tile[i] = i;
#else
  if (i < 63)
    tile[i] = i;
#endif
  synchronise();
  out[i] = tile[i] + 1; // BUG init undefined-result
}

// run: --grid 256 --block 64 --arg zeros:u32:1
KERNEL count(unsigned *out) {
  if (item() != 0)
    return;
#ifdef MENDED
  __atomic_fetch_add(out, 1, __ATOMIC_RELAXED);
#else
  *out += 1; // BUG race memory-race
#endif
}

// run: --grid 128 --block 128 --arg zeros:u32:128
KERNEL some_leave(unsigned *out) {
  unsigned i = item();
#ifndef MENDED
  if (i >= 64)
    return;
#endif
  __builtin_amdgcn_s_barrier(); // BUG sync ended-before-barrier
  out[i] = i;
}
