// A matrix through padded tiles of shared memory, in two-dimensional work-groups, with ragged edges; and a tiled product.
#include "common.h"

constexpr int TILE = 32, ROWS = 8, T = 16;

__global__ void transpose(const float *in, float *out, int width, int height) {
  __shared__ float tile[TILE][TILE + 1];
  int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  for (int j = 0; j < TILE; j += ROWS)
    if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
  __syncthreads();
  x = blockIdx.y * TILE + threadIdx.x;
  y = blockIdx.x * TILE + threadIdx.y;
  for (int j = 0; j < TILE; j += ROWS)
    if (x < height && y + j < width) out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

__global__ void product(const int *a, const int *b, int *c, int n) {
  __shared__ int ta[T][T], tb[T][T];
  int x = blockIdx.x * T + threadIdx.x, y = blockIdx.y * T + threadIdx.y, sum = 0;
  for (int t = 0; t < n; t += T) {
    ta[threadIdx.y][threadIdx.x] = a[y * n + t + threadIdx.x];
    tb[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + x];
    __syncthreads();
    for (int k = 0; k < T; k++) sum += ta[threadIdx.y][k] * tb[k][threadIdx.x];
    __syncthreads();
  }
  c[y * n + x] = sum;
}

int main() {
  const int width = 301, height = 130;
  std::vector<float> in(width * height);
  for (int i = 0; i < width * height; i++) in[i] = (float)i;
  Device<float> from(in), to(width * height);
  transpose<<<dim3((width + TILE - 1) / TILE, (height + TILE - 1) / TILE), dim3(TILE, ROWS)>>>(from.p, to.p, width, height);
  auto out = to.get();
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++)
      CHECK(out[x * height + y] == in[y * width + x], "column %d, row %d", x, y);

  const int n = 64;
  std::vector<int> a(n * n), b(n * n);
  for (int i = 0; i < n * n; i++) {
    a[i] = (int)(mix(i) % 2001) - 1000;
    b[i] = (int)(mix(i + n * n) % 2001) - 1000;
  }
  Device<int> da(a), db(b), dc(n * n);
  product<<<dim3(n / T, n / T), dim3(T, T)>>>(da.p, db.p, dc.p, n);
  auto c = dc.get();
  for (int y = 0; y < n; y++)
    for (int x = 0; x < n; x++) {
      int want = 0;
      for (int k = 0; k < n; k++) want += a[y * n + k] * b[k * n + x];
      CHECK(c[y * n + x] == want, "product at %d, %d: %d, not %d", y, x, c[y * n + x], want);
    }
  return pass();
}
