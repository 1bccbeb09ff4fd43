// Arrays of one, two and three dimensions and with layers, as textures with every mode of addresses, with numbers that become fractions,
// and as surfaces; arrays copied in parts. What is expected is computed on the host.
// link: --offload-arch=gfx900
// exec: --gpu vega10
#include "common.h"
#include <cmath>
#include <cstring>
#include <vector>

__global__ void sample1(hipTextureObject_t t, float *out, const float *at, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex1D<float>(t, at[i]);
}

__global__ void sample2(hipTextureObject_t t, float *out, const float *at, int n, float y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex2D<float>(t, at[i], y);
}

__global__ void sample3(hipTextureObject_t t, float *out, int w, int h, int d) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < w * h * d) out[i] = tex3D<float>(t, i % w + 0.5f, i / w % h + 0.5f, i / (w * h) + 0.5f);
}

__global__ void colours(hipTextureObject_t t, float4 *out, int w, int h) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < w * h) out[i] = tex2D<float4>(t, i % w + 0.5f, i / w + 0.5f);
}

__global__ void layers(hipTextureObject_t t, float *out, int w, int h, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < w * h * n) out[i] = tex2DLayered<float>(t, i % w + 0.5f, i / w % h + 0.5f, i / (w * h));
}

__global__ void write3(hipSurfaceObject_t s, int w, int h, int d) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < w * h * d) surf3Dwrite(float(i) * 0.5f, s, int(i % w * sizeof(float)), i / w % h, i / (w * h));
}

__global__ void write1(hipSurfaceObject_t s, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) surf1Dwrite(1000.0f - i, s, int(i * sizeof(float)));
}

static hipTextureObject_t texture_of(hipArray_t array, hipTextureAddressMode mode, bool normalized, hipTextureReadMode read) {
  hipResourceDesc what = {};
  what.resType = hipResourceTypeArray;
  what.res.array.array = array;
  hipTextureDesc how = {};
  how.addressMode[0] = how.addressMode[1] = how.addressMode[2] = mode;
  how.readMode = read;
  how.normalizedCoords = normalized;
  hipTextureObject_t texture;
  HIP(hipCreateTextureObject(&texture, &what, &how, nullptr));
  return texture;
}

// The texel of a coordinate by the mode; -1 outside.
static int place(int x, int n, hipTextureAddressMode mode) {
  int twice = ((x % (2 * n)) + 2 * n) % (2 * n);
  switch (mode) {
  case hipAddressModeWrap: return twice % n;
  case hipAddressModeMirror: return twice < n ? twice : 2 * n - 1 - twice;
  case hipAddressModeClamp: return x < 0 ? 0 : x >= n ? n - 1 : x;
  default: return x < 0 || x >= n ? -1 : x;
  }
}

int main() {
  const int w = 16, h = 5, d = 3, n = w * h * d;
  std::vector<float> data(n), got(4 * n);
  for (int i = 0; i < n; i++) data[i] = float((i * 37) % 101) + 1;
  float *out, *at;
  HIP(hipMalloc(&out, 4 * n * sizeof(float)));
  HIP(hipMalloc(&at, n * sizeof(float)));
  hipChannelFormatDesc format = hipCreateChannelDesc<float>();

  // Modes of addresses, far outside, with coordinates of both kinds.
  const hipTextureAddressMode modes[] = {hipAddressModeWrap, hipAddressModeClamp, hipAddressModeMirror, hipAddressModeBorder};
  hipArray_t line, plane;
  HIP(hipMallocArray(&line, &format, w, 0));
  HIP(hipMemcpy2DToArray(line, 0, 0, data.data(), w * 4, w * 4, 1, hipMemcpyHostToDevice));
  HIP(hipMallocArray(&plane, &format, w, h));
  HIP(hipMemcpy2DToArray(plane, 0, 0, data.data(), w * 4, w * 4, h, hipMemcpyHostToDevice));
  for (int normalized = 0; normalized < 2; normalized++)
    for (auto mode : modes) {
      // Wrapping and mirrors are for normalised coordinates alone.
      if (!normalized && (mode == hipAddressModeWrap || mode == hipAddressModeMirror)) continue;
      std::vector<float> places(3 * w);
      for (int i = 0; i < 3 * w; i++) places[i] = (i - w + 0.5f) / (normalized ? w : 1);
      HIP(hipMemcpy(at, places.data(), places.size() * 4, hipMemcpyHostToDevice));
      for (int dims = 1; dims <= 2; dims++) {
        auto texture = texture_of(dims == 1 ? line : plane, mode, normalized, hipReadModeElementType);
        float y = 2.5f / (normalized ? h : 1);
        if (dims == 1) sample1<<<1, 64>>>(texture, out, at, 3 * w);
        else sample2<<<1, 64>>>(texture, out, at, 3 * w, y);
        HIP(hipMemcpy(got.data(), out, 3 * w * 4, hipMemcpyDeviceToHost));
        for (int i = 0; i < 3 * w; i++) {
          int x = place(i - w, w, mode);
          float want = x < 0 ? 0 : data[(dims == 1 ? 0 : 2 * w) + x];
          CHECK(got[i] == want, "%dD, mode %d, normalised %d, %d: %g, not %g", dims, mode, normalized, i - w, got[i], want);
        }
        HIP(hipDestroyTextureObject(texture));
      }
    }

  // Three dimensions: sampled, then written as a surface.
  hipArray_t cube;
  HIP(hipMalloc3DArray(&cube, &format, make_hipExtent(w, h, d), hipArrayDefault));
  hipMemcpy3DParms copy = {};
  copy.srcPtr = make_hipPitchedPtr(data.data(), w * 4, w, h);
  copy.dstArray = cube;
  copy.extent = make_hipExtent(w, h, d);
  copy.kind = hipMemcpyHostToDevice;
  HIP(hipMemcpy3D(&copy));
  auto texture = texture_of(cube, hipAddressModeClamp, false, hipReadModeElementType);
  sample3<<<(n + 63) / 64, 64>>>(texture, out, w, h, d);
  HIP(hipMemcpy(got.data(), out, n * 4, hipMemcpyDeviceToHost));
  for (int i = 0; i < n; i++) CHECK(got[i] == data[i], "3D, %d: %g, not %g", i, got[i], data[i]);
  HIP(hipDestroyTextureObject(texture));
  hipResourceDesc what = {};
  what.resType = hipResourceTypeArray;
  what.res.array.array = cube;
  hipSurfaceObject_t surface;
  HIP(hipCreateSurfaceObject(&surface, &what));
  write3<<<(n + 63) / 64, 64>>>(surface, w, h, d);
  hipMemcpy3DParms back = {};
  back.srcArray = cube;
  back.dstPtr = make_hipPitchedPtr(got.data(), w * 4, w, h);
  back.extent = make_hipExtent(w, h, d);
  back.kind = hipMemcpyDeviceToHost;
  HIP(hipMemcpy3D(&back));
  for (int i = 0; i < n; i++) CHECK(got[i] == 0.5f * i, "3D surface, %d: %g", i, got[i]);
  HIP(hipDestroySurfaceObject(surface));

  // Layers.
  hipArray_t sheets;
  HIP(hipMalloc3DArray(&sheets, &format, make_hipExtent(w, h, d), hipArrayLayered));
  copy.dstArray = sheets;
  HIP(hipMemcpy3D(&copy));
  texture = texture_of(sheets, hipAddressModeClamp, false, hipReadModeElementType);
  layers<<<(n + 63) / 64, 64>>>(texture, out, w, h, d);
  HIP(hipMemcpy(got.data(), out, n * 4, hipMemcpyDeviceToHost));
  for (int i = 0; i < n; i++) CHECK(got[i] == data[i], "layer %d, %d: %g, not %g", i / (w * h), i, got[i], data[i]);
  HIP(hipDestroyTextureObject(texture));

  // Bytes that become fractions.
  // (HIP 5's hipCreateChannelDesc<uchar4> says that they have signs.)
  hipChannelFormatDesc bytes = hipCreateChannelDesc(8, 8, 8, 8, hipChannelFormatKindUnsigned);
  hipArray_t picture;
  HIP(hipMallocArray(&picture, &bytes, w, h));
  std::vector<unsigned char> pixels(w * h * 4);
  for (size_t i = 0; i < pixels.size(); i++) pixels[i] = (unsigned char)(i * 73 + 5);
  HIP(hipMemcpy2DToArray(picture, 0, 0, pixels.data(), w * 4, w * 4, h, hipMemcpyHostToDevice));
  texture = texture_of(picture, hipAddressModeClamp, false, hipReadModeNormalizedFloat);
  colours<<<2, 64>>>(texture, (float4 *)out, w, h);
  HIP(hipMemcpy(got.data(), out, w * h * 16, hipMemcpyDeviceToHost));
  for (int i = 0; i < w * h * 4; i++) CHECK(got[i] == pixels[i] / 255.0f, "byte %d: %g, not %g", i, got[i], pixels[i] / 255.0f);
  HIP(hipDestroyTextureObject(texture));

  // A line, as a surface.
  hipArray_t row;
  HIP(hipMallocArray(&row, &format, 64, 0));
  what.res.array.array = row;
  HIP(hipCreateSurfaceObject(&surface, &what));
  write1<<<1, 64>>>(surface, 64);
  HIP(hipMemcpy2DFromArray(got.data(), 256, row, 0, 0, 256, 1, hipMemcpyDeviceToHost));
  for (int i = 0; i < 64; i++) CHECK(got[i] == 1000.0f - i, "1D surface, %d: %g", i, got[i]);
  HIP(hipDestroySurfaceObject(surface));
  for (auto array : {line, plane, cube, sheets, picture, row}) HIP(hipFreeArray(array));
  std::puts("PASS");
}
