// Rounds that all work-groups must have finished before any begins the next one: a barrier across the grid.
kernel void rounds(global uint *data, volatile global atomic_uint *arrived, uint rounds) {
  size_t i = get_global_id(0), n = get_global_size(0);
  for (uint r = 0; r < rounds; r++) {
    uint next = data[(r & 1) * n + (i + 64) % n] * 3 + r;
    data[(~r & 1) * n + i] = next;
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_release, memory_scope_device);
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
      atomic_fetch_add_explicit(arrived, 1, memory_order_acq_rel, memory_scope_device);
      while (atomic_load_explicit(arrived, memory_order_acquire, memory_scope_device) < (r + 1) * get_num_groups(0))
        ;
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acquire, memory_scope_device);
  }
}
