// Setting and copying: bytes, words, rows with a pitch, boxes, to symbols, asynchronously, and device to device.
#include "common.h"
#include <cstring>

__device__ int table[256];
__constant__ float scale[4];

__global__ void read_symbols(int *out) {
  out[threadIdx.x] = table[threadIdx.x] * (int)scale[threadIdx.x & 3];
  table[threadIdx.x] = -(int)threadIdx.x;
}

typedef unsigned char byte;

static void sets() {
  const size_t n = 10007;
  Device<byte> d(n);
  HIP(hipMemset(d.p, 0xa5, n));
  HIP(hipMemset(d.p + 13, 7, 5000));
  auto v = d.get();
  for (size_t i = 0; i < n; i++) CHECK(v[i] == (i >= 13 && i < 5013 ? 7 : 0xa5), "byte %zu: %x", i, v[i]);
  Device<unsigned> w(1000);
  HIP(hipMemsetD32(w.p, 0xdeadbeef, 1000));
  HIP(hipMemsetD16((hipDeviceptr_t)(w.p + 100), 0x1234, 200));
  HIP(hipMemsetD8((hipDeviceptr_t)(w.p + 500), 0x5a, 40));
  auto x = w.get();
  for (int i = 0; i < 1000; i++) {
    unsigned want = i >= 100 && i < 200 ? 0x12341234 : i >= 500 && i < 510 ? 0x5a5a5a5a : 0xdeadbeef;
    CHECK(x[i] == want, "word %d: %x", i, x[i]);
  }
  byte *p;
  size_t pitch;
  HIP(hipMallocPitch((void **)&p, &pitch, 300, 20));
  CHECK(pitch >= 300, "pitch %zu", pitch);
  HIP(hipMemset(p, 1, pitch * 20));
  HIP(hipMemset2D(p + 10, pitch, 9, 100, 15));
  std::vector<byte> rows(pitch * 20);
  HIP(hipMemcpy(rows.data(), p, rows.size(), hipMemcpyDeviceToHost));
  for (size_t i = 0; i < rows.size(); i++) {
    size_t x = i % pitch, y = i / pitch;
    CHECK(rows[i] == (x >= 10 && x < 110 && y < 15 ? 9 : 1), "row %zu, byte %zu: %d", y, x, rows[i]);
  }
  HIP(hipFree(p));
}

static void rows() {
  const int width = 97, height = 31, from = 128, to = 256;
  std::vector<byte> in(from * height), out(to * height, 0xee);
  for (size_t i = 0; i < in.size(); i++) in[i] = (byte)mix(i);
  Device<byte> a(200 * height), b(160 * height);
  HIP(hipMemcpy2D(a.p, 200, in.data(), from, width, height, hipMemcpyHostToDevice));
  HIP(hipMemcpy2D(b.p, 160, a.p, 200, width, height, hipMemcpyDeviceToDevice));
  hipStream_t stream;
  HIP(hipStreamCreate(&stream));
  HIP(hipMemcpy2DAsync(out.data(), to, b.p, 160, width, height, hipMemcpyDeviceToHost, stream));
  HIP(hipStreamSynchronize(stream));
  for (int y = 0; y < height; y++)
    for (int x = 0; x < to; x++) {
      byte want = x < width ? in[y * from + x] : 0xee;
      CHECK(out[y * to + x] == want, "row %d, byte %d: %x, not %x", y, x, out[y * to + x], want);
    }
  HIP(hipStreamDestroy(stream));
}

static void boxes() {
  const int w = 20, h = 11, d = 7;
  std::vector<int> in(w * h * d), out(w * h * d, -1);
  for (size_t i = 0; i < in.size(); i++) in[i] = (int)i;
  hipPitchedPtr p;
  HIP(hipMalloc3D(&p, make_hipExtent(w * sizeof(int), h, d)));
  HIP(hipMemset3D(p, 0, make_hipExtent(w * sizeof(int), h, d)));
  hipMemcpy3DParms there = {}, back = {};
  there.srcPtr = make_hipPitchedPtr(in.data(), w * sizeof(int), w, h);
  there.dstPtr = p;
  there.extent = make_hipExtent(w * sizeof(int), h, d);
  there.kind = hipMemcpyHostToDevice;
  HIP(hipMemcpy3D(&there));
  // A box from the middle, to the corner.
  back.srcPtr = p;
  back.srcPos = make_hipPos(4 * sizeof(int), 3, 2);
  back.dstPtr = make_hipPitchedPtr(out.data(), w * sizeof(int), w, h);
  back.extent = make_hipExtent(9 * sizeof(int), 5, 4);
  back.kind = hipMemcpyDeviceToHost;
  HIP(hipMemcpy3D(&back));
  for (int z = 0; z < d; z++)
    for (int y = 0; y < h; y++)
      for (int x = 0; x < w; x++) {
        bool inside = x < 9 && y < 5 && z < 4;
        int got = out[(z * h + y) * w + x], want = inside ? in[((z + 2) * h + y + 3) * w + x + 4] : -1;
        CHECK(got == want, "%d, %d, %d: %d, not %d", x, y, z, got, want);
      }
  HIP(hipFree(p.ptr));
}

static void symbols() {
  std::vector<int> in(256), out(256);
  for (int i = 0; i < 256; i++) in[i] = i * 3;
  float s[4] = {1, 2, 3, 4};
  HIP(hipMemcpyToSymbol(HIP_SYMBOL(table), in.data(), sizeof table));
  HIP(hipMemcpyToSymbol(HIP_SYMBOL(scale), s, sizeof s));
  Device<int> d(256);
  read_symbols<<<1, 256>>>(d.p);
  auto got = d.get();
  for (int i = 0; i < 256; i++) CHECK(got[i] == i * 3 * (i % 4 + 1), "symbol at %d: %d", i, got[i]);
  HIP(hipMemcpyFromSymbol(out.data(), HIP_SYMBOL(table), sizeof table));
  for (int i = 0; i < 256; i++) CHECK(out[i] == -i, "symbol after the kernel at %d: %d", i, out[i]);
  void *p;
  size_t size;
  HIP(hipGetSymbolAddress(&p, HIP_SYMBOL(table)));
  HIP(hipGetSymbolSize(&size, HIP_SYMBOL(table)));
  CHECK(size == sizeof table && p, "size of the symbol: %zu", size);
}

static void large_and_unaligned() {
  const size_t n = (5 << 20) + 3;
  std::vector<byte> in(n), out(n);
  for (size_t i = 0; i < n; i++) in[i] = (byte)(i * 31 >> 3);
  Device<byte> a(n + 64), b(n + 64);
  HIP(hipMemcpyAsync(a.p + 1, in.data(), n, hipMemcpyHostToDevice, 0));
  HIP(hipMemcpyAsync(b.p + 7, a.p + 1, n, hipMemcpyDeviceToDevice, 0));
  HIP(hipMemcpyAsync(out.data(), b.p + 7, n, hipMemcpyDeviceToHost, 0));
  HIP(hipDeviceSynchronize());
  CHECK(memcmp(in.data(), out.data(), n) == 0, "5 MB there and back");
}

int main() {
  sets();
  rows();
  boxes();
  symbols();
  large_and_unaligned();
  return pass();
}
