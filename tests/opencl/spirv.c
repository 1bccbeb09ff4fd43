// Programs in SPIR-V: made of OpenCL C by clang and llvm-spirv, run, and compared with the host; constants that are specialised, parts
// that are linked with OpenCL C, and what is no module.
// link: -lOpenCL -lm
// exec: --gpu vega10
#define _GNU_SOURCE
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <math.h>
#include <string.h>
#include "common.h"

#define N 256

static const char *kernels =
    "typedef struct { int a; float b; char c[8]; } mixed;\n"
    "constant int primes[4] = {2, 3, 5, 7};\n"
    "int helper(int x);\n"
    "int sum(int *p, int n) { int s = 0; for (int i = 0; i < n; i++) s += p[i]; return s; }\n"
    "kernel void numbers(global const float *in, global float *out, float k) {\n"
    "    size_t i = get_global_id(0);\n"
    "    float whole, part = fract(in[i], &whole);\n"
    "    int exponent;\n"
    "    float4 v = vload4(i / 4, in);\n"
    "    out[i] = part * k + whole + (float)primes[i & 3] + fma(v.x, 2.0f, v.y) + frexp(in[i], &exponent) + exponent;\n"
    "}\n"
    "kernel void memories(global int *out, local int *shared, mixed given) {\n"
    "    int own[4];\n"
    "    for (int i = 0; i < 4; i++) own[i] = i * (int)get_global_id(0) + given.a + given.c[i];\n"
    "    shared[get_local_id(0)] = (int)get_local_id(0);\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    int *any = get_global_id(0) & 1 ? (int *)own : (int *)shared;\n"
    "    given.b += 1.0f;\n"
    "    out[get_global_id(0)] = sum(any, 4) + (int)given.b + shared[get_local_size(0) - 1 - get_local_id(0)];\n"
    "}\n"
    "kernel void count(global int *total, global atomic_int *other) {\n"
    "    atomic_add(total, 2);\n"
    "    atomic_fetch_add_explicit(other, 3, memory_order_relaxed, memory_scope_device);\n"
    "}\n"
    "kernel void picture(read_only image2d_t from, sampler_t how, write_only image2d_t to) {\n"
    "    int2 at = (int2)(get_global_id(0), get_global_id(1));\n"
    "    const sampler_t exact = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;\n"
    "    write_imagef(to, at, 0.5f * (read_imagef(from, how, at + (int2)(1, 0)) + read_imagef(from, exact, at)));\n"
    "}\n"
    "kernel void linked(global int *out) { out[get_global_id(0)] = helper((int)get_global_id(0)); }\n"
    "kernel void says(int n) { if (get_global_id(0) == 0) printf(\"note: said %d\\n\", n); }\n";

static cl_context context;
static cl_device_id device;
static cl_command_queue queue;

// What the tools make of the kernels.
static unsigned char *module(size_t *length) {
    char place[] = "/tmp/spirv-XXXXXX", command[1024], path[64];
    EXPECT(mkdtemp(place));
    snprintf(path, sizeof path, "%s/k.cl", place);
    FILE *file = fopen(path, "w");
    EXPECT(file && fputs(kernels, file) >= 0 && !fclose(file));
    snprintf(command, sizeof command,
             "clang-15 -cc1 -triple spir64-unknown-unknown -cl-std=CL2.0 -finclude-default-header -no-opaque-pointers "
             "-disable-llvm-passes -O2 -emit-llvm-bc -o %s/k.bc %s/k.cl && llvm-spirv-15 %s/k.bc -o %s/k.spv",
             place, place, place, place);
    EXPECT(system(command) == 0);
    snprintf(path, sizeof path, "%s/k.spv", place);
    file = fopen(path, "rb");
    EXPECT(file && !fseek(file, 0, SEEK_END));
    *length = (size_t)ftell(file);
    rewind(file);
    unsigned char *bytes = malloc(*length);
    EXPECT(bytes && fread(bytes, 1, *length, file) == *length && !fclose(file));
    snprintf(command, sizeof command, "rm -r %s", place);
    EXPECT(system(command) == 0);
    return bytes;
}

static cl_program from_il(const void *il, size_t length) {
    cl_int code;
    cl_program program = clCreateProgramWithIL(context, il, length, &code);
    CHECK(code);
    return program;
}

static void show_log(cl_program program) {
    char log[4096] = "";
    clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
    fprintf(stderr, "%.4095s\n", log);
}

static cl_kernel kernel_of(cl_program program, const char *name) {
    cl_int code;
    cl_kernel kernel = clCreateKernel(program, name, &code);
    CHECK(code);
    return kernel;
}

static cl_mem buffer(size_t size, void *data) {
    cl_int code;
    cl_mem made = clCreateBuffer(context, CL_MEM_READ_WRITE | (data ? CL_MEM_COPY_HOST_PTR : 0), size, data, &code);
    CHECK(code);
    return made;
}

static void run(cl_kernel kernel, cl_uint dims, const size_t *global, const size_t *local) {
    CHECK(clEnqueueNDRangeKernel(queue, kernel, dims, NULL, global, local, 0, NULL, NULL));
    CHECK(clFinish(queue));
}

static void run_numbers(cl_program program) {
    static float in[N], out[N];
    for (int i = 0; i < N; i++) in[i] = (float)(i - 100) / 8;
    cl_mem from = buffer(sizeof in, in), to = buffer(sizeof out, NULL);
    cl_kernel kernel = kernel_of(program, "numbers");
    float k = 0.5f;
    CHECK(clSetKernelArg(kernel, 0, sizeof from, &from));
    CHECK(clSetKernelArg(kernel, 1, sizeof to, &to));
    CHECK(clSetKernelArg(kernel, 2, sizeof k, &k));
    run(kernel, 1, (size_t[]){N}, (size_t[]){64});
    CHECK(clEnqueueReadBuffer(queue, to, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL));
    const int primes[] = {2, 3, 5, 7};
    for (int i = 0; i < N; i++) {
        // Everything is a multiple of 1/256 or smaller than a float's last bit allows.
        float whole = floorf(in[i]), part = in[i] - whole;
        int exponent;
        float mantissa = frexpf(in[i], &exponent);
        const float *v = &in[i / 4 * 4];
        float want = part * k + whole + (float)primes[i & 3] + (v[0] * 2 + v[1]) + mantissa + (float)exponent;
        EXPECT(fabsf(out[i] - want) <= 1e-4f);
    }
}

static void run_memories(cl_program program) {
    static int out[N];
    struct { int a; float b; char c[8]; } given = {1000, 2.5f, {1, 2, 3, 4}};
    cl_mem to = buffer(sizeof out, NULL);
    cl_kernel kernel = kernel_of(program, "memories");
    CHECK(clSetKernelArg(kernel, 0, sizeof to, &to));
    CHECK(clSetKernelArg(kernel, 1, 64 * sizeof(int), NULL));
    CHECK(clSetKernelArg(kernel, 2, sizeof given, &given));
    run(kernel, 1, (size_t[]){N}, (size_t[]){64});
    CHECK(clEnqueueReadBuffer(queue, to, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL));
    for (int i = 0; i < N; i++) {
        int any = i & 1 ? 6 * i + 4 * 1000 + 10 : 0 + 1 + 2 + 3;
        EXPECT(out[i] == any + 3 + 63 - i % 64);
    }
    int totals[2] = {5, 7};
    cl_mem first = buffer(4, &totals[0]), second = buffer(4, &totals[1]);
    kernel = kernel_of(program, "count");
    CHECK(clSetKernelArg(kernel, 0, sizeof first, &first));
    CHECK(clSetKernelArg(kernel, 1, sizeof second, &second));
    run(kernel, 1, (size_t[]){N}, NULL);
    CHECK(clEnqueueReadBuffer(queue, first, CL_TRUE, 0, 4, &totals[0], 0, NULL, NULL));
    CHECK(clEnqueueReadBuffer(queue, second, CL_TRUE, 0, 4, &totals[1], 0, NULL, NULL));
    EXPECT(totals[0] == 5 + 2 * N && totals[1] == 7 + 3 * N);
}

static void run_picture(cl_program program) {
    enum { W = 16, H = 8 };
    static float in[H][W][4], out[H][W][4];
    for (int i = 0; i < H * W * 4; i++) (&in[0][0][0])[i] = (float)(i * 37 % 101);
    cl_image_format format = {CL_RGBA, CL_FLOAT};
    cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = W, .image_height = H};
    cl_int code;
    cl_mem from = clCreateImage(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, &format, &desc, in, &code);
    CHECK(code);
    cl_mem to = clCreateImage(context, CL_MEM_WRITE_ONLY, &format, &desc, NULL, &code);
    CHECK(code);
    cl_sampler how = clCreateSampler(context, CL_FALSE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, &code);
    CHECK(code);
    cl_kernel kernel = kernel_of(program, "picture");
    CHECK(clSetKernelArg(kernel, 0, sizeof from, &from));
    CHECK(clSetKernelArg(kernel, 1, sizeof how, &how));
    CHECK(clSetKernelArg(kernel, 2, sizeof to, &to));
    run(kernel, 2, (size_t[]){W, H}, (size_t[]){8, 8});
    size_t origin[3] = {0}, region[3] = {W, H, 1};
    CHECK(clEnqueueReadImage(queue, to, CL_TRUE, origin, region, 0, 0, out, 0, NULL, NULL));
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            for (int c = 0; c < 4; c++) {
                float next = x + 1 < W ? in[y][x + 1][c] : 0;
                EXPECT(out[y][x][c] == 0.5f * (next + in[y][x][c]));
            }
}

// A module of its own words: kernel void k(global uint *p) { *p = 5; }, whose five is the constant 7.
#define OP(code, words) ((cl_uint)(words) << 16 | (code))
static const cl_uint constant[] = {
    0x07230203, 0x00010000, 0, 12, 0,
    OP(17, 2), 4, OP(17, 2), 6,                 // OpCapability Addresses, Kernel
    OP(14, 3), 2, 2,                            // OpMemoryModel Physical64 OpenCL
    OP(15, 4), 6, 7, 'k',                       // OpEntryPoint Kernel %7 "k"
    OP(71, 4), 5, 1, 7,                         // OpDecorate %5 SpecId 7
    OP(19, 2), 1,                               // %1 = OpTypeVoid
    OP(21, 4), 2, 32, 0,                        // %2 = OpTypeInt 32 0
    OP(32, 4), 3, 5, 2,                         // %3 = OpTypePointer CrossWorkgroup %2
    OP(33, 4), 4, 1, 3,                         // %4 = OpTypeFunction %1 %3
    OP(50, 4), 2, 5, 5,                         // %5 = OpSpecConstant %2 5
    OP(54, 5), 1, 7, 0, 4,                      // %7 = OpFunction %1 None %4
    OP(55, 3), 3, 8,                            // %8 = OpFunctionParameter %3
    OP(248, 2), 9,                              // %9 = OpLabel
    OP(62, 5), 8, 5, 2, 4,                      // OpStore %8 %5 Aligned 4
    OP(253, 1), OP(56, 1),                      // OpReturn, OpFunctionEnd
};

static cl_uint constant_of(cl_program program) {
    if (clBuildProgram(program, 1, &device, "", NULL, NULL)) show_log(program), exit(1);
    cl_uint got = 0;
    cl_mem to = buffer(sizeof got, NULL);
    cl_kernel kernel = kernel_of(program, "k");
    CHECK(clSetKernelArg(kernel, 0, sizeof to, &to));
    run(kernel, 1, (size_t[]){1}, NULL);
    CHECK(clEnqueueReadBuffer(queue, to, CL_TRUE, 0, sizeof got, &got, 0, NULL, NULL));
    CHECK(clReleaseKernel(kernel));
    return got;
}

int main(void) {
    cl_platform_id platform;
    CHECK(clGetPlatformIDs(1, &platform, NULL));
    CHECK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, NULL));
    cl_int code;
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    CHECK(code);
    queue = clCreateCommandQueueWithProperties(context, device, NULL, &code);
    CHECK(code);
    char text[2048];
    CHECK(clGetDeviceInfo(device, CL_DEVICE_IL_VERSION, sizeof text, text, NULL));
    EXPECT(strstr(text, "SPIR-V_1.2"));
    CHECK(clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, sizeof text, text, NULL));
    EXPECT(strstr(text, "cl_khr_il_program"));
    cl_name_version versions[8];
    size_t size;
    CHECK(clGetDeviceInfo(device, CL_DEVICE_ILS_WITH_VERSION, sizeof versions, versions, &size));
    EXPECT(size == 3 * sizeof *versions && !strcmp(versions[0].name, "SPIR-V"));

    // Compiled, and linked with a function in OpenCL C.
    size_t length;
    unsigned char *il = module(&length);
    cl_program parts[2] = {from_il(il, length)};
    CHECK(clGetProgramInfo(parts[0], CL_PROGRAM_IL, 0, NULL, &size));
    EXPECT(size == length);
    if (clCompileProgram(parts[0], 1, &device, "", 0, NULL, NULL, NULL, NULL)) show_log(parts[0]), exit(1);
    const char *helper = "int helper(int x) { return 7 * x + 1; }";
    parts[1] = clCreateProgramWithSource(context, 1, &helper, NULL, &code);
    CHECK(code);
    CHECK(clCompileProgram(parts[1], 1, &device, "-cl-std=CL2.0", 0, NULL, NULL, NULL, NULL));
    cl_program program = clLinkProgram(context, 1, &device, "-cl-std=CL2.0", 2, parts, NULL, NULL, &code);
    CHECK(code);
    run_numbers(program);
    run_memories(program);
    run_picture(program);
    static int out[N];
    cl_mem to = buffer(sizeof out, NULL);
    cl_kernel kernel = kernel_of(program, "linked");
    CHECK(clSetKernelArg(kernel, 0, sizeof to, &to));
    run(kernel, 1, (size_t[]){N}, NULL);
    CHECK(clEnqueueReadBuffer(queue, to, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL));
    for (int i = 0; i < N; i++) EXPECT(out[i] == 7 * i + 1);
    kernel = kernel_of(program, "says");
    CHECK(clSetKernelArg(kernel, 0, sizeof(int), &(int){42}));
    run(kernel, 1, (size_t[]){N}, NULL);

    // Constants have the module's value until they are given another.
    program = from_il(constant, sizeof constant);
    EXPECT(constant_of(program) == 5);
    cl_uint value = 4000000000u;
    CHECK(clSetProgramSpecializationConstant(program, 7, sizeof value, &value));
    EXPECT(constant_of(program) == value);
    EXPECT(clSetProgramSpecializationConstant(program, 8, sizeof value, &value) == CL_INVALID_SPEC_ID);
    EXPECT(clSetProgramSpecializationConstant(program, 7, 8, &value) == CL_INVALID_VALUE);
    EXPECT(clSetProgramSpecializationConstant(program, 7, sizeof value, NULL) == CL_INVALID_VALUE);
    EXPECT(clSetProgramSpecializationConstant(parts[1], 7, sizeof value, &value) == CL_INVALID_PROGRAM);

    // What is no module.
    clCreateProgramWithIL(context, "not a module of SPIR-V at all", 28, &code);
    EXPECT(code == CL_INVALID_VALUE);
    clCreateProgramWithIL(context, NULL, 28, &code);
    EXPECT(code == CL_INVALID_VALUE);
    clCreateProgramWithIL(context, il, 0, &code);
    EXPECT(code == CL_INVALID_VALUE);
    program = from_il(constant, sizeof constant - 8 * sizeof(cl_uint));
    EXPECT(clBuildProgram(program, 1, &device, "", NULL, NULL) == CL_BUILD_PROGRAM_FAILURE);
    CHECK(clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof text, text, NULL));
    EXPECT(strstr(text, "the module"));
    puts("PASS");
    return 0;
}
