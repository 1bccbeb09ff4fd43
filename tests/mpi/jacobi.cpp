// Jacobi's iteration for a plate whose left edge is hot, in strips: each rank of MPI has one, on a GPU of its own. The rows
// at the strips' borders are exchanged in two ways, through host memory, and through the neighbours' device memory that HIP's
// IPC opens. Both must give what one rank gives that has the whole plate.
// ranks: 4
#include <hip/hip_runtime.h>
#include <mpi.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                          \
  do {                                                                                       \
    hipError_t error = (call);                                                               \
    if (error != hipSuccess) {                                                               \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, hipGetErrorString(error));              \
      MPI_Abort(MPI_COMM_WORLD, 1);                                                          \
    }                                                                                        \
  } while (0)

constexpr int WIDTH = 64, HEIGHT = 64, STEPS = 20;

// One step on `rows` rows; a row above and one below belong to the neighbours or are the plate's cold edges.
__global__ void step(const float *from, float *to, int rows) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y + 1;
  if (x >= WIDTH || y > rows)
    return;
  float left = x > 0 ? from[y * WIDTH + x - 1] : 1.0f, right = x + 1 < WIDTH ? from[y * WIDTH + x + 1] : 0.0f;
  to[y * WIDTH + x] = 0.25f * (left + right + from[(y - 1) * WIDTH + x] + from[(y + 1) * WIDTH + x]);
}

enum Way { ALONE, STAGED, IPC };

static std::vector<float> solve(Way way, int rank, int ranks) {
  int rows = way == ALONE ? HEIGHT : HEIGHT / ranks;
  size_t bytes = size_t(rows + 2) * WIDTH * sizeof(float), row = WIDTH * sizeof(float);
  float *plate[2], *above[2] = {}, *below[2] = {};
  for (float *&p : plate) {
    CHECK(hipMalloc(&p, bytes));
    CHECK(hipMemset(p, 0, bytes));
  }
  CHECK(hipDeviceSynchronize());
  bool first = way == ALONE || rank == 0, last = way == ALONE || rank == ranks - 1;
  if (way == IPC) {
    for (int i = 0; i < 2; i++) {
      hipIpcMemHandle_t mine;
      CHECK(hipIpcGetMemHandle(&mine, plate[i]));
      std::vector<hipIpcMemHandle_t> all(ranks);
      MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, MPI_COMM_WORLD);
      if (!first)
        CHECK(hipIpcOpenMemHandle((void **)&above[i], all[rank - 1], hipIpcMemLazyEnablePeerAccess));
      if (!last)
        CHECK(hipIpcOpenMemHandle((void **)&below[i], all[rank + 1], hipIpcMemLazyEnablePeerAccess));
    }
  }
  std::vector<float> out(WIDTH), in(WIDTH);
  for (int n = 0; n < STEPS; n++) {
    float *from = plate[n % 2], *to = plate[(n + 1) % 2];
    if (way == IPC) {
      // The neighbours have ended the step before.
      MPI_Barrier(MPI_COMM_WORLD);
      if (!first)
        CHECK(hipMemcpy(from, above[n % 2] + size_t(rows) * WIDTH, row, hipMemcpyDeviceToDevice));
      if (!last)
        CHECK(hipMemcpy(from + size_t(rows + 1) * WIDTH, below[n % 2] + WIDTH, row, hipMemcpyDeviceToDevice));
      MPI_Barrier(MPI_COMM_WORLD);
    } else if (way == STAGED) {
      int up = first ? MPI_PROC_NULL : rank - 1, down = last ? MPI_PROC_NULL : rank + 1;
      CHECK(hipMemcpy(out.data(), from + WIDTH, row, hipMemcpyDeviceToHost));
      MPI_Sendrecv(out.data(), WIDTH, MPI_FLOAT, up, 0, in.data(), WIDTH, MPI_FLOAT, down, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (!last)
        CHECK(hipMemcpy(from + size_t(rows + 1) * WIDTH, in.data(), row, hipMemcpyHostToDevice));
      CHECK(hipMemcpy(out.data(), from + size_t(rows) * WIDTH, row, hipMemcpyDeviceToHost));
      MPI_Sendrecv(out.data(), WIDTH, MPI_FLOAT, down, 1, in.data(), WIDTH, MPI_FLOAT, up, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (!first)
        CHECK(hipMemcpy(from, in.data(), row, hipMemcpyHostToDevice));
    }
    step<<<dim3(1, rows), WIDTH>>>(from, to, rows);
    CHECK(hipDeviceSynchronize());
  }
  std::vector<float> mine(size_t(rows) * WIDTH);
  CHECK(hipMemcpy(mine.data(), plate[STEPS % 2] + WIDTH, mine.size() * sizeof(float), hipMemcpyDeviceToHost));
  if (way == IPC) {
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 2; i++) {
      if (above[i])
        CHECK(hipIpcCloseMemHandle(above[i]));
      if (below[i])
        CHECK(hipIpcCloseMemHandle(below[i]));
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  for (float *p : plate)
    CHECK(hipFree(p));
  if (way == ALONE)
    return mine;
  std::vector<float> whole(size_t(HEIGHT) * WIDTH);
  MPI_Allgather(mine.data(), int(mine.size()), MPI_FLOAT, whole.data(), int(mine.size()), MPI_FLOAT, MPI_COMM_WORLD);
  return whole;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks, devices = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  CHECK(hipGetDeviceCount(&devices));
  bool good = devices > 0 && ranks == 4;
  std::vector<float> want = solve(ALONE, rank, ranks);
  good &= want[HEIGHT / 2 * WIDTH] > 0.5f && want[WIDTH - 1] == 0.0f;
  // The same operations in the same order: the same bits.
  good &= solve(STAGED, rank, ranks) == want;
  good &= solve(IPC, rank, ranks) == want;
  int mine = good, all = 0;
  MPI_Reduce(&mine, &all, 1, MPI_INT, MPI_LAND, 0, MPI_COMM_WORLD);
  if (rank == 0)
    std::puts(all ? "PASS" : "FAIL");
  MPI_Finalize();
  return good ? 0 : 1;
}
