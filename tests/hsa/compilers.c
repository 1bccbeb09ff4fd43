// input: ../kernels/triton/add.hsaco
// finds: mem:descriptor-range race:lds-race
// Triton gives its buffers' descriptors 2,147,483,646 bytes, whatever they have, and lets waves that have computed the same result
// store it at the same place in LDS.
// Kernels of other compilers, launched as their runtimes do it: Triton's (tests/kernels/triton) and IREE's (tests/kernels/iree). Their
// code objects name their target in a way that HIP 5.2 does not understand.
#include "common.h"

static char directory[4096];
static hsa_queue_t *queue;

// Runs a kernel of a file in `directory` with so many bytes of LDS beyond its own.
static void launch(const char *file, const char *name, uint32_t groups, uint16_t group, uint32_t lds, const void *arguments, size_t size) {
  char path[8192];
  snprintf(path, sizeof path, "%s/%s", directory, file);
  hsa_executable_t executable = load(path);
  void *block = allocate(host_pool, 256);
  memset(block, 0, 256);
  memcpy(block, arguments, size);
  char symbol_name[128];
  snprintf(symbol_name, sizeof symbol_name, "%s.kd", name);
  hsa_executable_symbol_t symbol;
  HSA(hsa_executable_get_symbol_by_name(executable, symbol_name, &gpu, &symbol));
  uint64_t object;
  uint32_t fixed, private_size;
  HSA(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &object));
  HSA(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE, &fixed));
  HSA(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE, &private_size));
  hsa_signal_t done;
  HSA(hsa_signal_create(1, 0, NULL, &done));
  dispatch_with(queue, object, groups * group, group, fixed + lds, private_size, block, done);
  wait_for(done);
  HSA(hsa_signal_destroy(done));
}

struct Four {
  void *p[3];
  int32_t n;
};

static void add(void) {
  enum { N = 1000 };
  float *x = allocate(host_pool, 4 * N), *y = allocate(host_pool, 4 * N), *out = allocate(host_pool, 4 * N);
  for (int i = 0; i < N; i++) x[i] = (float)i * 0.5f, y[i] = 3.0f * (float)i - 7, out[i] = -1;
  struct Four a = {{x, y, out}, N};
  launch("triton/add.hsaco", "add", 4, 256, 0, &a, sizeof a);
  for (int i = 0; i < N; i++) CHECK(out[i] == x[i] + y[i], "%d is %g", i, out[i]);
  printf("case: triton add\n");
}

static void rows(void) {
  enum { ROWS = 5, N = 100 };
  int32_t *x = allocate(host_pool, 4 * ROWS * N), *out = allocate(host_pool, 12 * ROWS);
  for (int i = 0; i < ROWS * N; i++) x[i] = i * 37 % 1009 - 500;
  struct {
    void *p[2];
    int32_t n;
  } a = {{x, out}, N};
  launch("triton/rows.hsaco", "rows", ROWS, 256, 16, &a, sizeof a);
  for (int r = 0; r < ROWS; r++) {
    int sum = 0, best = 0;
    for (int i = 0; i < N; i++) {
      sum += x[r * N + i];
      if (x[r * N + i] > x[r * N + best]) best = i;
    }
    CHECK(out[3 * r] == sum && out[3 * r + 1] == x[r * N + best] && out[3 * r + 2] == best, "row %d: %d %d %d", r, out[3 * r],
          out[3 * r + 1], out[3 * r + 2]);
  }
  printf("case: triton rows\n");
}

static void histogram(void) {
  enum { N = 1000 };
  int32_t *x = allocate(host_pool, 4 * N), *out = allocate(host_pool, 64), want[16] = {0};
  for (int i = 0; i < 16; i++) out[i] = 0;
  for (int i = 0; i < N; i++) want[x[i] = i * i % 16]++;
  struct {
    void *p[2];
    int32_t n;
  } a = {{x, out}, N};
  launch("triton/histogram.hsaco", "histogram", 4, 256, 0, &a, sizeof a);
  for (int i = 0; i < 16; i++) CHECK(out[i] == want[i], "%d was counted %d times", i, out[i]);
  printf("case: triton histogram\n");
}

// A product of small integers, which all sums hold exactly.
static void product(const char *file, const char *name, const char *what, int m, int n, int k, uint32_t lds) {
  _Float16 *a = allocate(host_pool, 2 * m * k), *b = allocate(host_pool, 2 * k * n);
  float *c = allocate(host_pool, 4 * m * n);
  for (int i = 0; i < m * k; i++) a[i] = (_Float16)(i * 7 % 23 - 11);
  for (int i = 0; i < k * n; i++) b[i] = (_Float16)(i * 5 % 19 - 9);
  void *arguments[3] = {a, b, c};
  launch(file, name, 1, 256, lds, arguments, sizeof arguments);
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      float want = 0;
      for (int x = 0; x < k; x++) want += (float)a[i * k + x] * (float)b[x * n + j];
      CHECK(c[i * n + j] == want, "element %d, %d is %g, not %g", i, j, c[i * n + j], want);
    }
  printf("case: %s\n", what);
}

static void scale(void) {
  enum { N = 256 };
  float *a = allocate(host_pool, 4 * N), *b = allocate(host_pool, 4 * N), *out = allocate(host_pool, 4 * N);
  for (int i = 0; i < N; i++) a[i] = (float)i * 0.25f, b[i] = 100.0f - (float)i, out[i] = -1;
  void *arguments[3] = {a, b, out};
  launch("iree/scale.hsaco", "scale_dispatch_0_elementwise_256_f32", 4, 64, 0, arguments, sizeof arguments);
  for (int i = 0; i < N; i++) CHECK(out[i] == a[i] * b[i] + a[i], "%d is %g", i, out[i]);
  printf("case: iree scale\n");
}

int main(int count, char **argument) {
  CHECK(count == 2, "usage: %s CODE-OBJECT", argument[0]);
  snprintf(directory, sizeof directory, "%s", argument[1]);
  for (int up = 0; up < 2; up++) *strrchr(directory, '/') = 0;
  start();
  queue = queue_of(64);
  add();
  rows();
  histogram();
  product("triton/matmul.hsaco", "matmul", "triton matmul", 32, 32, 64, 4096);
  scale();
  product("iree/matmul.hsaco", "matmul_dispatch_0_matmul_64x64x64_f16xf16xf32", "iree matmul", 64, 64, 64, 0);
  HSA(hsa_queue_destroy(queue));
  HSA(hsa_shut_down());
  printf("PASS\n");
  return 0;
}
