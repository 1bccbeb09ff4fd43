// C = A * B, row-major, n by n.
kernel void sgemm_naive(global const float *a, global const float *b, global float *c, uint n) {
  size_t col = get_global_id(0), row = get_global_id(1);
  float sum = 0;
  for (uint k = 0; k < n; k++)
    sum = fma(a[row * n + k], b[k * n + col], sum);
  c[row * n + col] = sum;
}

#define TILE 16

// The same through tiles in local memory.
kernel __attribute__((reqd_work_group_size(TILE, TILE, 1))) void
sgemm_tiled(global const float *a, global const float *b, global float *c, uint n) {
  local float as[TILE][TILE], bs[TILE][TILE];
  size_t x = get_local_id(0), y = get_local_id(1);
  size_t col = get_global_id(0), row = get_global_id(1);
  float sum = 0;
  for (uint t = 0; t < n; t += TILE) {
    as[y][x] = a[row * n + t + x];
    bs[y][x] = b[(t + y) * n + col];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < TILE; k++)
      sum = fma(as[y][k], bs[k][x], sum);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[row * n + col] = sum;
}
