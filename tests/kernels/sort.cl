// Bitonic sort of one block in local memory.
#define N 512
kernel __attribute__((reqd_work_group_size(256, 1, 1))) void bitonic(global int *data) {
  local int a[N];
  uint l = get_local_id(0);
  global int *block = data + get_group_id(0) * N;
  a[l] = block[l];
  a[l + 256] = block[l + 256];
  for (uint size = 2; size <= N; size *= 2)
    for (uint stride = size / 2; stride > 0; stride /= 2) {
      barrier(CLK_LOCAL_MEM_FENCE);
      uint i = 2 * l - (l & (stride - 1));
      bool up = (i & size) == 0;
      int p = a[i], q = a[i + stride];
      if ((p > q) == up) {
        a[i] = q;
        a[i + stride] = p;
      }
    }
  barrier(CLK_LOCAL_MEM_FENCE);
  block[l] = a[l];
  block[l + 256] = a[l + 256];
}
