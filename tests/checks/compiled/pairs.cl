// Bugs and their mended twins, as OpenCL's compiler has them: MENDED makes the twins. A line with a bug says which check finds
// it there, and as what; `run` says how the kernel is run.

// run: --grid 64 --block 64 --arg zeros:u32:63 --arg zeros:u32:64
kernel void read_too_far(global const uint *in, global uint *out) {
  size_t i = get_global_id(0);
#ifdef MENDED
  if (i < 63)
#endif
    out[i] = in[i] + 1; // BUG mem read-outside
}

// run: --grid 64 --block 64 --arg zeros:u32:64
kernel void write_too_far(global uint *out) {
  size_t i = get_global_id(0);
#ifdef MENDED
  out[i] = i;
#else
  out[i + 1] = i; // BUG mem write-outside
#endif
}

// run: --grid 64 --block 64 --arg zeros:u16:127
kernel void half_a_word(global ushort *out) {
  size_t i = get_global_id(0);
#ifdef MENDED
  if (2 * i + 1 < 127)
#endif
    out[2 * i + 1] = i; // BUG mem write-outside
}

// run: --grid 64 --block 64 --arg local:256 --arg zeros:u32:64
kernel void local_too_far(local uint *scratch, global uint *out) {
  size_t l = get_local_id(0);
#ifdef MENDED
  scratch[l] = l;
#else
  scratch[l + 1] = l; // BUG mem lds-outside
#endif
  barrier(CLK_LOCAL_MEM_FENCE);
  out[l] = l;
}

// run: --grid 64 --block 64 --arg local:256 --arg zeros:u32:64
kernel void nobody_wrote_it(local uint *scratch, global uint *out) {
  size_t l = get_local_id(0);
#ifdef MENDED
  scratch[l] = l;
#else
  if (l != 5)
    scratch[l] = l;
#endif
  barrier(CLK_LOCAL_MEM_FENCE);
  out[l] = scratch[l]; // BUG init undefined-result
}

// run: --grid 64 --block 64 --arg local:256 --arg zeros:u32:64
kernel void nobody_knows_where(local uint *scratch, global uint *out) {
  size_t l = get_local_id(0);
#ifdef MENDED
  scratch[l] = l;
#endif
  barrier(CLK_LOCAL_MEM_FENCE);
  out[scratch[l] & 63] = 1; // BUG init undefined-address
}

// run: --grid 128 --block 128 --arg local:512 --arg zeros:u32:128
kernel void no_barrier(local uint *scratch, global uint *out) {
  size_t l = get_local_id(0);
  scratch[l] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  scratch[l] = l;
#ifdef MENDED
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
  out[l] = scratch[127 - l]; // BUG race lds-race
}

// run: --grid 128 --block 64 --arg zeros:u32:128
kernel void one_place(global uint *out) {
#ifdef MENDED
  out[get_global_id(0)] = get_group_id(0);
#else
  if (get_local_id(0) == 0)
    out[0] = get_group_id(0); // BUG race memory-race
#endif
}

// run: --grid 128 --block 64 --arg zeros:u32:1 --arg zeros:u32:1 --arg zeros:u32:1 --threads 1
kernel void message(global uint *data, volatile global atomic_uint *flag, global uint *out) {
  if (get_local_id(0) != 0)
    return;
#ifdef MENDED
  memory_order release = memory_order_release, acquire = memory_order_acquire;
#else
  memory_order release = memory_order_relaxed, acquire = memory_order_relaxed;
#endif
  if (get_group_id(0) == 0) {
    *data = 42; // BUG race memory-race
    atomic_store_explicit(flag, 1, release, memory_scope_device);
  } else {
    while (atomic_load_explicit(flag, acquire, memory_scope_device) == 0)
      ;
    *out = *data;
  }
}

// run: --grid 64 --block 64 --arg zeros:u32:64
kernel void half_a_barrier(global uint *out) {
  size_t l = get_local_id(0);
#ifdef MENDED
  barrier(CLK_GLOBAL_MEM_FENCE);
#else
  if (l < 32)
    barrier(CLK_GLOBAL_MEM_FENCE); // BUG sync divergent-barrier
#endif
  out[l] = l;
}

// run: --grid 128 --block 128 --arg zeros:u32:128
kernel void left_early(global uint *out) {
  size_t l = get_local_id(0);
#ifndef MENDED
  if (l >= 64)
    return;
#endif
  barrier(CLK_GLOBAL_MEM_FENCE); // BUG sync ended-before-barrier
  out[l] = l;
}
