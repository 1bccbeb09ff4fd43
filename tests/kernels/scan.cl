// Prefix sums in one pass: each work-group waits for what the one before it publishes (decoupled look-back).
#define EMPTY 0u
#define SUM 1u
#define PREFIX 2u
kernel __attribute__((reqd_work_group_size(64, 1, 1))) void
scan(global const uint *in, global uint *out, volatile global atomic_uint *status, volatile global atomic_uint *ticket) {
  local uint tile, before, part[64];
  uint l = get_local_id(0);
  if (l == 0)
    tile = atomic_fetch_add_explicit(ticket, 1, memory_order_relaxed, memory_scope_device);
  barrier(CLK_LOCAL_MEM_FENCE);
  uint t = tile, i = t * 64 + l;
  part[l] = in[i];
  for (uint d = 1; d < 64; d *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    uint v = l >= d ? part[l - d] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    part[l] += v;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l == 63) {
    // Values stay below 2^30: the two upper bits say what the number is.
    uint sum = part[63], back = 0;
    if (t == 0) {
      atomic_store_explicit(&status[0], PREFIX << 30 | sum, memory_order_release, memory_scope_device);
    } else {
      atomic_store_explicit(&status[t], SUM << 30 | sum, memory_order_release, memory_scope_device);
      for (int p = t - 1;;) {
        uint s = atomic_load_explicit(&status[p], memory_order_acquire, memory_scope_device);
        if (s >> 30 == EMPTY)
          continue;
        back += s & 0x3fffffff;
        if (s >> 30 == PREFIX)
          break;
        p--;
      }
      atomic_store_explicit(&status[t], PREFIX << 30 | (back + sum), memory_order_release, memory_scope_device);
    }
    before = back;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  out[i] = before + part[l];
}
