// Arrays, textures and surfaces: sampled, filtered and written on the GPU, and compared with the host.
// link: --offload-arch=gfx900
// exec: --gpu vega10
#include <hip/hip_runtime.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(e)                                                                          \
    do {                                                                                  \
        hipError_t code = (e);                                                            \
        if (code != hipSuccess) {                                                         \
            printf("%s:%d: %s\n", __FILE__, __LINE__, hipGetErrorString(code));           \
            exit(1);                                                                      \
        }                                                                                 \
    } while (0)

__global__ void sample(hipTextureObject_t texture, float *out, int w, int h, float dx, float dy) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h) out[y * w + x] = tex2D<float>(texture, x + dx, y + dy);
}

__global__ void fetch(hipTextureObject_t texture, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = tex1Dfetch<float>(texture, i);
}

__global__ void invert(hipSurfaceObject_t surface, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float v;
    surf2Dread(&v, surface, x * sizeof(float), y);
    surf2Dwrite(1.0f - v, surface, x * sizeof(float), y);
}

int main() {
    const int w = 37, h = 21;
    std::vector<float> picture(w * h), got(w * h);
    for (int i = 0; i < w * h; i++) picture[i] = float((i * 7919) % 256) / 256;
    hipChannelFormatDesc format = hipCreateChannelDesc<float>();
    hipArray *array;
    CHECK(hipMallocArray(&array, &format, w, h));
    CHECK(hipMemcpy2DToArray(array, 0, 0, picture.data(), w * sizeof(float), w * sizeof(float), h, hipMemcpyHostToDevice));
    float *out;
    CHECK(hipMalloc(&out, w * h * sizeof(float)));
    dim3 block(8, 8), grid((w + 7) / 8, (h + 7) / 8);
    auto at = [&](int x, int y) {
        x = x < 0 ? 0 : x >= w ? w - 1 : x;
        y = y < 0 ? 0 : y >= h ? h - 1 : y;
        return picture[y * w + x];
    };
    int wrong = 0;
    for (int linear = 0; linear < 2; linear++) {
        hipResourceDesc resource = {};
        resource.resType = hipResourceTypeArray;
        resource.res.array.array = array;
        hipTextureDesc how = {};
        how.addressMode[0] = how.addressMode[1] = hipAddressModeClamp;
        how.filterMode = linear ? hipFilterModeLinear : hipFilterModePoint;
        how.readMode = hipReadModeElementType;
        hipTextureObject_t texture;
        CHECK(hipCreateTextureObject(&texture, &resource, &how, nullptr));
        float dx = linear ? 0.75f : 0.5f, dy = linear ? 1.0f : 0.5f;
        sample<<<grid, block>>>(texture, out, w, h, dx, dy);
        CHECK(hipMemcpy(got.data(), out, w * h * sizeof(float), hipMemcpyDeviceToHost));
        for (int y = 0; y < h; y++)
            for (int x = 0; x < w; x++) {
                // Weights of linear filters have eight bits.
                float a = at(x, y) * 0.75f + at(x + 1, y) * 0.25f, b = at(x, y + 1) * 0.75f + at(x + 1, y + 1) * 0.25f;
                float want = linear ? 0.5f * (a + b) : at(x, y);
                if (std::fabs(got[y * w + x] - want) > (linear ? 1.0f / 128 : 0)) wrong++;
            }
        CHECK(hipDestroyTextureObject(texture));
    }
    printf("note: %d of %d samples differ\n", wrong, 2 * w * h);

    hipResourceDesc resource = {};
    resource.resType = hipResourceTypeArray;
    resource.res.array.array = array;
    hipSurfaceObject_t surface;
    CHECK(hipCreateSurfaceObject(&surface, &resource));
    invert<<<grid, block>>>(surface, w, h);
    CHECK(hipMemcpy2DFromArray(got.data(), w * sizeof(float), array, 0, 0, w * sizeof(float), h, hipMemcpyDeviceToHost));
    for (int i = 0; i < w * h; i++) wrong += got[i] != 1.0f - picture[i];
    CHECK(hipDestroySurfaceObject(surface));
    CHECK(hipFreeArray(array));

    // A texture of plain memory.
    CHECK(hipMemcpy(out, picture.data(), w * h * sizeof(float), hipMemcpyHostToDevice));
    resource = {};
    resource.resType = hipResourceTypeLinear;
    resource.res.linear.devPtr = out;
    resource.res.linear.desc = format;
    resource.res.linear.sizeInBytes = w * h * sizeof(float);
    hipTextureDesc how = {};
    how.readMode = hipReadModeElementType;
    hipTextureObject_t texture;
    CHECK(hipCreateTextureObject(&texture, &resource, &how, nullptr));
    float *copy;
    CHECK(hipMalloc(&copy, w * h * sizeof(float)));
    fetch<<<(w * h + 63) / 64, 64>>>(texture, copy, w * h);
    CHECK(hipMemcpy(got.data(), copy, w * h * sizeof(float), hipMemcpyDeviceToHost));
    for (int i = 0; i < w * h; i++) wrong += got[i] != picture[i];
    CHECK(hipDestroyTextureObject(texture));
    puts(wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
