// A code object from a file and from memory: functions and globals by name, launches with an array and with a buffer of
// arguments. The program finds the code object in itself: it carries one in its fat binary.
#include "common.h"
#include <cstring>
#include <string>

extern "C" {
__device__ int offset = 1000;
__constant__ int factors[4] = {2, 3, 5, 7};
// Arguments of many sizes, so that their places matter.
__global__ void mixed(char c, short s, int *out, double d, char e, float f, long long w) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  out[i] = offset + factors[i & 3] * i + c + s + (int)d + e + (int)f + (int)w;
}
}

// The gfx90a code object in the offload bundle of a program: entries of offset, size and identifier follow the count.
static std::string own_code(const char *path) {
  FILE *file = std::fopen(path, "rb");
  CHECK(file, "%s", path);
  std::string all;
  for (int c; (c = std::fgetc(file)) != EOF;) all += (char)c;
  std::fclose(file);
  std::string magic = "__CLANG_OFFLOAD_";
  magic += "BUNDLE__";
  size_t at = all.find(magic);
  CHECK(at != std::string::npos, "no offload bundle in %s", path);
  auto word = [&](size_t p) {
    unsigned long long v;
    memcpy(&v, all.data() + p, 8);
    return v;
  };
  size_t p = at + magic.size(), count = word(p);
  p += 8;
  while (count--) {
    size_t offset = word(p), size = word(p + 8), length = word(p + 16);
    if (all.substr(p + 24, length).find("gfx90a") != std::string::npos) return all.substr(at + offset, size);
    p += 24 + length;
  }
  CHECK(false, "no code for gfx90a");
  return "";
}

static void test(hipModule_t module) {
  hipFunction_t function;
  HIP(hipModuleGetFunction(&function, module, "mixed"));
  hipDeviceptr_t global;
  size_t size;
  HIP(hipModuleGetGlobal(&global, &size, module, "offset"));
  CHECK(size == sizeof(int), "size of a global: %zu", size);
  int value = 0;
  HIP(hipMemcpyDtoH(&value, global, sizeof value));
  CHECK(value == 1000, "a global's value: %d", value);
  value = 20000;
  HIP(hipMemcpyHtoD(global, &value, sizeof value));

  const int n = 512;
  Device<int> out(n);
  struct {
    char c;
    short s;
    int *out;
    double d;
    char e;
    float f;
    long long w;
  } a = {1, -300, out.p, 40.5, -5, 6.75f, 70000};
  void *each[] = {&a.c, &a.s, &a.out, &a.d, &a.e, &a.f, &a.w};
  const int factors[4] = {2, 3, 5, 7};
  auto check = [&](const char *how) {
    auto v = out.get();
    for (int i = 0; i < n; i++) {
      int want = 20000 + factors[i & 3] * i + 1 - 300 + 40 - 5 + 6 + 70000;
      CHECK(v[i] == want, "%s, %d: %d, not %d", how, i, v[i], want);
    }
    HIP(hipMemset(out.p, 0, n * sizeof(int)));
  };
  HIP(hipModuleLaunchKernel(function, n / 64, 1, 1, 64, 1, 1, 0, 0, each, nullptr));
  check("arguments one by one");
  size_t length = sizeof a;
  void *buffer[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &a, HIP_LAUNCH_PARAM_BUFFER_SIZE, &length, HIP_LAUNCH_PARAM_END};
  HIP(hipModuleLaunchKernel(function, n / 128, 1, 1, 128, 1, 1, 0, 0, nullptr, buffer));
  check("arguments in a buffer");

  hipError_t error = hipModuleGetFunction(&function, module, "missing");
  CHECK(error == hipErrorNotFound, "a missing function: %s", hipGetErrorString(error));
  HIP(hipModuleUnload(module));
}

int main(int, char **argv) {
  std::string code = own_code(argv[0]);
  hipModule_t module;
  HIP(hipModuleLoadData(&module, code.data()));
  test(module);

  char path[] = "/tmp/wavemill-module-XXXXXX";
  int fd = mkstemp(path);
  FILE *file = fdopen(fd, "wb");
  CHECK(std::fwrite(code.data(), 1, code.size(), file) == code.size(), "writing %s", path);
  std::fclose(file);
  hipError_t error = hipModuleLoad(&module, path);
  std::remove(path);
  CHECK(error == hipSuccess, "hipModuleLoad: %s", hipGetErrorString(error));
  test(module);

  error = hipModuleLoad(&module, "/nowhere/at/all.hsaco");
  CHECK(error == hipErrorFileNotFound, "a missing file: %s", hipGetErrorString(error));
  return pass();
}
