// Sums of each work-group's elements, through local memory given by the caller.
kernel void reduce(global const uint *in, global uint *out, local uint *scratch, uint n) {
  size_t i = get_global_id(0), l = get_local_id(0);
  uint sum = 0;
  for (; i < n; i += get_global_size(0))
    sum += in[i];
  scratch[l] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (size_t s = get_local_size(0) / 2; s > 0; s /= 2) {
    if (l < s)
      scratch[l] += scratch[l + s];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (l == 0)
    out[get_group_id(0)] = scratch[0];
}

// Bytes counted in local memory, then added up in global memory.
kernel void histogram(global const uchar *in, global uint *out, uint n) {
  local uint bins[256];
  for (uint b = get_local_id(0); b < 256; b += get_local_size(0))
    bins[b] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (size_t i = get_global_id(0); i < n; i += get_global_size(0))
    atomic_inc(&bins[in[i]]);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint b = get_local_id(0); b < 256; b += get_local_size(0))
    atomic_add(&out[b], bins[b]);
}
