// Compiling at run time: hipRTC hands the source to comgr, the module runs, and a wrong source gets its message.
#include "common.h"
#include <hip/hiprtc.h>
#include <cstring>
#include <string>

#define RTC(call)                                                                                          \
  do {                                                                                                     \
    hiprtcResult result_ = (call);                                                                         \
    CHECK(result_ == HIPRTC_SUCCESS, "%s", hiprtcGetErrorString(result_));                                 \
  } while (0)

static const char *source = R"(
extern "C" __global__ void collatz(const unsigned *in, int *steps, int n) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i >= n) return;
  unsigned long long v = in[i];
  int count = 0;
  while (v != LAST) {
    v = v & 1 ? 3 * v + 1 : v / 2;
    count++;
  }
  steps[i] = count;
}
)";

int main() {
  hiprtcProgram program;
  RTC(hiprtcCreateProgram(&program, source, "collatz.hip", 0, nullptr, nullptr));
  const char *options[] = {"--offload-arch=gfx90a", "-DLAST=1"};
  hiprtcResult result = hiprtcCompileProgram(program, 2, options);
  size_t size;
  if (result != HIPRTC_SUCCESS) {
    RTC(hiprtcGetProgramLogSize(program, &size));
    std::string log(size, 0);
    RTC(hiprtcGetProgramLog(program, &log[0]));
    CHECK(false, "%s", log.c_str());
  }
  RTC(hiprtcGetCodeSize(program, &size));
  std::vector<char> code(size);
  RTC(hiprtcGetCode(program, code.data()));
  RTC(hiprtcDestroyProgram(&program));

  hipModule_t module;
  hipFunction_t function;
  HIP(hipModuleLoadData(&module, code.data()));
  HIP(hipModuleGetFunction(&function, module, "collatz"));
  int n = 1000;
  std::vector<unsigned> in(n);
  for (int i = 0; i < n; i++) in[i] = i + 1;
  Device<unsigned> d(in);
  Device<int> o(n);
  void *arguments[] = {&d.p, &o.p, &n};
  HIP(hipModuleLaunchKernel(function, 8, 1, 1, 128, 1, 1, 0, 0, arguments, nullptr));
  auto got = o.get();
  for (int i = 0; i < n; i++) {
    int count = 0;
    for (unsigned long long v = in[i]; v != 1; count++) v = v & 1 ? 3 * v + 1 : v / 2;
    CHECK(got[i] == count, "%u takes %d steps, not %d", in[i], got[i], count);
  }
  HIP(hipModuleUnload(module));

  RTC(hiprtcCreateProgram(&program, "__global__ void k() { undeclared(); }", "wrong.hip", 0, nullptr, nullptr));
  result = hiprtcCompileProgram(program, 1, options);
  CHECK(result == HIPRTC_ERROR_COMPILATION, "a wrong source: %s", hiprtcGetErrorString(result));
  RTC(hiprtcGetProgramLogSize(program, &size));
  std::string log(size, 0);
  RTC(hiprtcGetProgramLog(program, &log[0]));
  CHECK(log.find("undeclared") != std::string::npos, "the log: %s", log.c_str());
  RTC(hiprtcDestroyProgram(&program));
  return pass();
}
