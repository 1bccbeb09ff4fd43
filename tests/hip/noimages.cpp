// MI200 has no image instructions: arrays, textures and surfaces are refused there, and the program goes on.
// exec: --gpu mi210
#include "common.h"

__global__ void twice(float *x) { x[threadIdx.x] *= 2; }

int main() {
  hipChannelFormatDesc format = hipCreateChannelDesc<float>();
  hipArray_t array = nullptr;
  CHECK(hipMallocArray(&array, &format, 16, 16, 0) != hipSuccess && !array, "%p", (void *)array);
  hipExtent extent = {4, 4, 4};
  CHECK(hipMalloc3DArray(&array, &format, extent, 0) != hipSuccess && !array, "%p", (void *)array);

  float host[64], *memory;
  HIP(hipMalloc(&memory, 4096));
  hipTextureDesc how = {};
  how.readMode = hipReadModeElementType;
  hipTextureObject_t texture = 0;
  hipResourceDesc what = {};
  what.resType = hipResourceTypeLinear;
  what.res.linear.devPtr = memory;
  what.res.linear.desc = format;
  what.res.linear.sizeInBytes = 4096;
  CHECK(hipCreateTextureObject(&texture, &what, &how, nullptr) != hipSuccess && !texture, "%p", (void *)texture);
  what = {};
  what.resType = hipResourceTypePitch2D;
  what.res.pitch2D.devPtr = memory;
  what.res.pitch2D.desc = format;
  what.res.pitch2D.width = 16;
  what.res.pitch2D.height = 4;
  what.res.pitch2D.pitchInBytes = 256;
  CHECK(hipCreateTextureObject(&texture, &what, &how, nullptr) != hipSuccess && !texture, "%p", (void *)texture);

  // What was refused is forgotten, and everything else works.
  (void)hipGetLastError();
  for (int i = 0; i < 64; i++) host[i] = float(i);
  HIP(hipMemcpy(memory, host, sizeof host, hipMemcpyHostToDevice));
  twice<<<1, 64>>>(memory);
  HIP(hipGetLastError());
  HIP(hipMemcpy(host, memory, sizeof host, hipMemcpyDeviceToHost));
  for (int i = 0; i < 64; i++) CHECK(host[i] == 2.0f * i, "host[%d] = %g", i, host[i]);
  HIP(hipFree(memory));
  std::puts("PASS");
}
