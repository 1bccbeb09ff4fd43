// OpenCL's C++ bindings: a picture is turned, sampled and filtered, and compared with the same on the host.
// link: -lOpenCL
// exec: --gpu vega10
#define CL_HPP_TARGET_OPENCL_VERSION 300
#define CL_HPP_ENABLE_EXCEPTIONS
#include <CL/opencl.hpp>
#include <cmath>
#include <cstdio>
#include <vector>

static const char *source = R"(
constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

kernel void box(read_only image2d_t from, write_only image2d_t to) {
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    float4 sum = 0;
    for (int y = -1; y <= 1; y++)
        for (int x = -1; x <= 1; x++) sum += read_imagef(from, nearest, at + (int2)(x, y));
    write_imagef(to, at, sum / 9.0f);
}

kernel void stretch(read_only image2d_t from, sampler_t how, write_only image2d_t to) {
    float2 size = (float2)(get_image_width(to), get_image_height(to));
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    write_imagef(to, at, read_imagef(from, how, (convert_float2(at) + 0.5f) / size));
}

kernel void levels(read_only image3d_t from, write_only image2d_array_t to) {
    int4 at = (int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0);
    write_imageui(to, at, read_imageui(from, nearest, at) + (uint4)(1, 2, 3, 4));
}
)";

static int wrong;

static void expect(bool fine, const char *what) {
    if (!fine) {
        printf("wrong: %s\n", what);
        wrong++;
    }
}

int main() try {
    cl::Device device = cl::Device::getDefault();
    cl::Context context(device);
    cl::CommandQueue queue(context, device, cl::QueueProperties::Profiling);
    cl::Program program(context, source);
    try {
        program.build("-cl-fp32-correctly-rounded-divide-sqrt");
    } catch (const cl::BuildError &e) {
        for (auto &log : e.getBuildLog()) fprintf(stderr, "%s\n", log.second.c_str());
        return 1;
    }
    const int w = 61, h = 40;
    std::vector<cl_uchar4> picture(w * h), got(w * h);
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            picture[y * w + x] = {{cl_uchar(4 * x), cl_uchar(6 * y), cl_uchar(x * y), cl_uchar(255 - x)}};
    cl::ImageFormat rgba(CL_RGBA, CL_UNORM_INT8);
    cl::Image2D from(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, rgba, w, h, 0, picture.data());
    cl::Image2D to(context, CL_MEM_READ_WRITE, rgba, w, h);
    cl::KernelFunctor<cl::Image2D, cl::Image2D> box(program, "box");
    box(cl::EnqueueArgs(queue, cl::NDRange(w, h)), from, to).wait();
    queue.enqueueReadImage(to, CL_TRUE, {0, 0, 0}, {size_t(w), size_t(h), 1}, 0, 0, got.data());
    int worst = 0;
    auto edge = [](int n, int size) { return n < 0 ? 0 : n >= size ? size - 1 : n; };
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            for (int c = 0; c < 4; c++) {
                float sum = 0;
                for (int dy = -1; dy <= 1; dy++)
                    for (int dx = -1; dx <= 1; dx++)
                        sum += picture[edge(y + dy, h) * w + edge(x + dx, w)].s[c] / 255.0f;
                int want = int(std::nearbyint(sum / 9.0f * 255.0f)), is = got[y * w + x].s[c];
                worst = std::max(worst, std::abs(want - is));
            }
    // A sum that lies between two steps may be rounded either way.
    expect(worst <= 1, "box filter");

    // Twice the size, linearly: between the middles of texels values are weighted means.
    cl::Sampler linear(context, CL_TRUE, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_LINEAR);
    cl::ImageFormat real(CL_R, CL_FLOAT);
    std::vector<float> ramp(16), wide(32);
    for (int i = 0; i < 16; i++) ramp[i] = float(i * i);
    cl::Image2D small(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, real, 16, 1, 0, ramp.data());
    cl::Image2D large(context, CL_MEM_WRITE_ONLY, real, 32, 1);
    cl::KernelFunctor<cl::Image2D, cl::Sampler, cl::Image2D> stretch(program, "stretch");
    stretch(cl::EnqueueArgs(queue, cl::NDRange(32, 1)), small, linear, large);
    queue.enqueueReadImage(large, CL_TRUE, {0, 0, 0}, {32, 1, 1}, 0, 0, wide.data());
    for (int i = 0; i < 32; i++) {
        float at = (i + 0.5f) / 2 - 0.5f, low = std::floor(at), part = at - low;
        float a = ramp[edge(int(low), 16)], b = ramp[edge(int(low) + 1, 16)];
        expect(std::fabs(wide[i] - (a + (b - a) * part)) < 1e-3f * (1 + b), "linear sampling");
    }

    // Three dimensions to slices, through a map.
    cl::ImageFormat counts(CL_RGBA, CL_UNSIGNED_INT32);
    cl::Image3D cube(context, CL_MEM_READ_ONLY, counts, 5, 4, 3);
    cl::Image2DArray slices(context, CL_MEM_READ_WRITE, counts, 3, 5, 4, 0, 0);
    size_t row, slice;
    auto *texels = static_cast<char *>(queue.enqueueMapImage(cube, CL_TRUE, CL_MAP_WRITE, {0, 0, 0}, {5, 4, 3}, &row, &slice));
    for (size_t z = 0; z < 3; z++)
        for (size_t y = 0; y < 4; y++)
            for (size_t x = 0; x < 5; x++)
                for (size_t c = 0; c < 4; c++)
                    reinterpret_cast<cl_uint *>(texels + z * slice + y * row)[4 * x + c] = cl_uint(1000 * z + 100 * y + 10 * x);
    queue.enqueueUnmapMemObject(cube, texels);
    cl::KernelFunctor<cl::Image3D, cl::Image2DArray> levels(program, "levels");
    levels(cl::EnqueueArgs(queue, cl::NDRange(5, 4, 3)), cube, slices);
    std::vector<cl_uint> all(5 * 4 * 3 * 4);
    queue.enqueueReadImage(slices, CL_TRUE, {0, 0, 0}, {5, 4, 3}, 0, 0, all.data());
    for (cl_uint z = 0, i = 0; z < 3; z++)
        for (cl_uint y = 0; y < 4; y++)
            for (cl_uint x = 0; x < 5; x++)
                for (cl_uint c = 0; c < 4; c++, i++) expect(all[i] == 1000 * z + 100 * y + 10 * x + c + 1, "slices");

    // Texels of one colour, and a copy to a buffer.
    cl::Buffer buffer(context, CL_MEM_READ_WRITE, 16);
    queue.enqueueFillImage(to, cl_float4{{0.0f, 0.5f, 1.0f, 0.25f}}, {2, 3, 0}, {2, 2, 1});
    queue.enqueueCopyImageToBuffer(to, buffer, {2, 3, 0}, {2, 2, 1}, 0);
    cl_uchar bytes[16];
    queue.enqueueReadBuffer(buffer, CL_TRUE, 0, 16, bytes);
    for (int i = 0; i < 16; i += 4)
        expect(bytes[i] == 0 && bytes[i + 1] == 128 && bytes[i + 2] == 255 && bytes[i + 3] == 64, "fill");
    puts(wrong ? "FAIL" : "PASS");
    return wrong != 0;
} catch (const cl::Error &e) {
    fprintf(stderr, "%s: %d\n", e.what(), e.err());
    return 1;
}
