#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable

// Every 32-bit and 64-bit atomic on global memory; the sums do not depend on the order.
kernel void global_atomics(volatile global int *w, volatile global long *d, global const int *in) {
  int x = in[get_global_id(0)];
  atomic_add(&w[0], x);
  atomic_sub(&w[1], x);
  atomic_inc(&w[2]);
  atomic_dec(&w[3]);
  atomic_min(&w[4], x);
  atomic_max(&w[5], x);
  atomic_min((volatile global uint *)&w[6], (uint)x);
  atomic_max((volatile global uint *)&w[7], (uint)x);
  atomic_and(&w[8], x | 1 << (x & 31));
  atomic_or(&w[9], x);
  atomic_xor(&w[10], x);
  int old, seen = w[11];
  do {
    old = seen;
    seen = atomic_cmpxchg(&w[11], old, old + x);
  } while (seen != old);
  atom_add(&d[0], (long)x << 20);
  atom_sub(&d[1], (long)x << 20);
  atom_min(&d[2], (long)x << 20);
  atom_max(&d[3], (long)x << 20);
  atom_or(&d[4], (long)x << 20);
  atom_xor(&d[5], (long)x << 20);
  atom_and(&d[6], (long)x | 1l << (x & 63));
  atom_inc(&d[7]);
}

// The same in local memory, copied out by the first work-item.
kernel void local_atomics(global int *w, global long *d, global const int *in) {
  local int a[12];
  local long b[8];
  size_t l = get_local_id(0);
  if (l < 12)
    a[l] = w[l];
  if (l < 8)
    b[l] = d[l];
  barrier(CLK_LOCAL_MEM_FENCE);
  int x = in[get_global_id(0)];
  atomic_add(&a[0], x);
  atomic_sub(&a[1], x);
  atomic_inc(&a[2]);
  atomic_dec(&a[3]);
  atomic_min(&a[4], x);
  atomic_max(&a[5], x);
  atomic_min((local uint *)&a[6], (uint)x);
  atomic_max((local uint *)&a[7], (uint)x);
  atomic_and(&a[8], x | 1 << (x & 31));
  atomic_or(&a[9], x);
  atomic_xor(&a[10], x);
  int old, seen = ((volatile local int *)a)[11];
  do {
    old = seen;
    seen = atomic_cmpxchg(&a[11], old, old + x);
  } while (seen != old);
  atom_add(&b[0], (long)x << 20);
  atom_sub(&b[1], (long)x << 20);
  atom_min(&b[2], (long)x << 20);
  atom_max(&b[3], (long)x << 20);
  atom_or(&b[4], (long)x << 20);
  atom_xor(&b[5], (long)x << 20);
  atom_and(&b[6], (long)x | 1l << (x & 63));
  atom_inc(&b[7]);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l < 12)
    w[l] = a[l];
  if (l < 8)
    d[l] = b[l];
}
