// Runs one of the kernels of tests/kernels through OpenCL and says how long that took and how much memory: `cost DIR KERNEL`.
// Results are looked at, so that nobody is quick by doing nothing.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void check(cl_int error, const char *what) {
  if (error) {
    fprintf(stderr, "%s: error %d\n", what, error);
    exit(1);
  }
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}

// The most memory the process has had, in KiB.
static long peak(void) {
  char line[256];
  long most = 0;
  FILE *f = fopen("/proc/self/status", "r");
  while (f && fgets(line, sizeof line, f))
    sscanf(line, "VmHWM: %ld", &most);
  if (f)
    fclose(f);
  return most;
}

static cl_context context;
static cl_command_queue queue;
static cl_kernel kernel;
static cl_uint arguments;

static cl_mem buffer(size_t bytes, const void *data) {
  cl_int error;
  cl_mem m = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, &error);
  check(error, "clCreateBuffer");
  if (data)
    check(clEnqueueWriteBuffer(queue, m, CL_TRUE, 0, bytes, data, 0, NULL, NULL), "clEnqueueWriteBuffer");
  check(clSetKernelArg(kernel, arguments++, sizeof m, &m), "clSetKernelArg");
  return m;
}

static void number(cl_uint n) {
  check(clSetKernelArg(kernel, arguments++, sizeof n, &n), "clSetKernelArg");
}

static void real(cl_float x) {
  check(clSetKernelArg(kernel, arguments++, sizeof x, &x), "clSetKernelArg");
}

static void fail(const char *what) {
  fprintf(stderr, "wrong result: %s\n", what);
  exit(1);
}

int main(int argc, char **argv) {
  if (argc != 3)
    return fprintf(stderr, "usage: cost DIR KERNEL\n"), 2;
  const char *name = argv[2], *file = name;
  if (!strncmp(name, "sgemm", 5))
    file = "sgemm";
  if (!strcmp(name, "histogram"))
    file = "reduce";
  if (!strcmp(name, "bitonic"))
    file = "sort";
  char path[4096];
  snprintf(path, sizeof path, "%s/%s.cl", argv[1], file);
  FILE *f = fopen(path, "rb");
  if (!f)
    return perror(path), 1;
  static char source[1 << 16];
  size_t length = fread(source, 1, sizeof source - 1, f);
  fclose(f);

  cl_platform_id platform;
  cl_device_id device;
  cl_int error;
  check(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
  check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
  context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
  check(error, "clCreateContext");
  queue = clCreateCommandQueue(context, device, 0, &error);
  check(error, "clCreateCommandQueue");
  const char *text = source;
  cl_program program = clCreateProgramWithSource(context, 1, &text, &length, &error);
  check(error, "clCreateProgramWithSource");
  check(clBuildProgram(program, 1, &device, "", NULL, NULL), "clBuildProgram");
  kernel = clCreateKernel(program, name, &error);
  check(error, "clCreateKernel");

  size_t global[3] = {1, 1, 1}, local[3] = {1, 1, 1};
  cl_uint dimensions = 1;
  cl_mem out = NULL;
  enum { N = 1 << 18, SIDE = 96, BODIES = 1024, EDGE = 48 };
  float *floats = malloc(4 * N * sizeof *floats);
  unsigned *words = malloc(N * sizeof *words);
  for (int i = 0; i < 4 * N; i++)
    floats[i] = (float)(i % 97) * 0.25f;
  for (int i = 0; i < N; i++)
    words[i] = (unsigned)i * 2654435761u >> 8;
  if (!strcmp(name, "vadd")) {
    buffer(N * 4, floats);
    buffer(N * 4, floats);
    out = buffer(N * 4, NULL);
    number(N);
    global[0] = N, local[0] = 64;
  } else if (!strcmp(name, "nbody")) {
    buffer(BODIES * 16, floats);
    out = buffer(BODIES * 16, NULL);
    number(BODIES);
    global[0] = BODIES, local[0] = 64;
  } else if (!strncmp(name, "sgemm", 5)) {
    buffer(SIDE * SIDE * 4, floats);
    buffer(SIDE * SIDE * 4, floats);
    out = buffer(SIDE * SIDE * 4, NULL);
    number(SIDE);
    dimensions = 2;
    global[0] = global[1] = SIDE, local[0] = local[1] = 16;
  } else if (!strcmp(name, "reduce")) {
    buffer(N * 4, words);
    out = buffer(64 * 4, NULL);
    check(clSetKernelArg(kernel, arguments++, 256 * 4, NULL), "clSetKernelArg");
    number(N);
    global[0] = 64 * 256, local[0] = 256;
  } else if (!strcmp(name, "histogram")) {
    buffer(N, words);
    static const unsigned zero[256];
    out = buffer(sizeof zero, zero);
    number(N);
    global[0] = 64 * 256, local[0] = 256;
  } else if (!strcmp(name, "stencil")) {
    buffer(EDGE * EDGE * EDGE * 4, floats);
    out = buffer(EDGE * EDGE * EDGE * 4, NULL);
    real(0.5f);
    real(0.125f);
    dimensions = 3;
    global[0] = global[1] = global[2] = EDGE, local[0] = 16, local[1] = 4;
  } else if (!strcmp(name, "mandelbrot")) {
    out = buffer(128 * 128 * 4, NULL);
    number(128);
    number(100);
    real(-2.0f);
    real(-1.25f);
    real(2.5f / 128);
    dimensions = 2;
    global[0] = global[1] = 128, local[0] = 16, local[1] = 16;
  } else if (!strcmp(name, "bitonic")) {
    out = buffer(32 * 512 * 4, words);
    global[0] = 32 * 256, local[0] = 256;
  } else {
    return fprintf(stderr, "no kernel `%s`\n", name), 2;
  }

  double start = now();
  check(clEnqueueNDRangeKernel(queue, kernel, dimensions, NULL, global, local, 0, NULL, NULL), "clEnqueueNDRangeKernel");
  check(clFinish(queue), "clFinish");
  double seconds = now() - start;

  static unsigned got[16384];
  check(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, 256, got, 0, NULL, NULL), "clEnqueueReadBuffer");
  if (!strcmp(name, "vadd") && ((float *)got)[5] != 2.5f)
    fail("a sum of two");
  if (!strcmp(name, "reduce")) {
    unsigned want = 0, sum = 0;
    for (int i = 0; i < N; i++)
      want += words[i];
    for (int i = 0; i < 64; i++)
      sum += got[i];
    if (sum != want)
      fail("a sum of all");
  }
  if (!strcmp(name, "histogram")) {
    unsigned sum = 0;
    check(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, 1024, got, 0, NULL, NULL), "clEnqueueReadBuffer");
    for (int i = 0; i < 256; i++)
      sum += got[i];
    if (sum != N)
      fail("a count of all");
  }
  if (!strcmp(name, "bitonic"))
    for (int i = 1; i < 64; i++)
      if ((int)got[i] < (int)got[i - 1])
        fail("a sorted block");
  printf("seconds %.6f\npeak %ld\n", seconds, peak());
  return 0;
}
