// Cooperative groups: a barrier across the whole grid, work-groups as groups, and tiles of a wave.
// record: and repeat
#include "common.h"
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;

// Each round reads what other work-groups have written in the round before.
__global__ void rounds(int *a, int *b, int n, int count) {
  cg::grid_group grid = cg::this_grid();
  int i = grid.thread_rank();
  for (int r = 0; r < count; r++) {
    if (i < n) b[i] = a[(i + 1000) % n] + a[(i + n - 77) % n];
    grid.sync();
    int *t = a;
    a = b;
    b = t;
  }
}

__global__ void tiles(int *out) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<16> tile = cg::tiled_partition<16>(block);
  int v = block.thread_rank();
  for (int d = 8; d > 0; d /= 2) v += tile.shfl_down(v, d);
  block.sync();
  if (tile.thread_rank() == 0) out[block.thread_rank() / 16] = v;
}

int main() {
  int supported, per_cu;
  HIP(hipDeviceGetAttribute(&supported, hipDeviceAttributeCooperativeLaunch, 0));
  CHECK(supported == 1, "cooperative launches are supported");
  int block = 128, blocks = 24, n = block * blocks - 50, count = 7;
  HIP(hipOccupancyMaxActiveBlocksPerMultiprocessor(&per_cu, rounds, block, 0));
  hipDeviceProp_t about;
  HIP(hipGetDeviceProperties(&about, 0));
  CHECK(per_cu * about.multiProcessorCount >= blocks, "room for %d work-groups", per_cu * about.multiProcessorCount);

  std::vector<int> x(n), y(n);
  for (int i = 0; i < n; i++) x[i] = (int)(mix(i) % 100);
  Device<int> a(x), b(n);
  void *arguments[] = {&a.p, &b.p, &n, &count};
  HIP(hipLaunchCooperativeKernel((void *)rounds, dim3(blocks), dim3(block), arguments, 0, 0));
  HIP(hipDeviceSynchronize());
  for (int r = 0; r < count; r++) {
    for (int i = 0; i < n; i++) y[i] = x[(i + 1000) % n] + x[(i + n - 77) % n];
    std::swap(x, y);
  }
  auto got = (count % 2 ? b : a).get();
  for (int i = 0; i < n; i++) CHECK(got[i] == x[i], "%d: %d, not %d", i, got[i], x[i]);

  // More work-groups than fit at once cannot meet: the launch is refused.
  HIP(hipFuncSetAttribute((const void *)rounds, hipFuncAttributeMaxDynamicSharedMemorySize, 1024));
  hipError_t error = hipLaunchCooperativeKernel((void *)rounds, dim3(1 << 20), dim3(block), arguments, 0, 0);
  CHECK(error == hipErrorCooperativeLaunchTooLarge, "a launch too large: %s", hipGetErrorString(error));

  Device<int> o(8);
  tiles<<<1, 128>>>(o.p);
  auto v = o.get();
  for (int t = 0; t < 8; t++) CHECK(v[t] == 16 * 16 * t + 120, "tile %d: %d", t, v[t]);
  return pass();
}
