// Code objects of every version that compilers write, through clCreateProgramWithBinary: clang makes them of one source, the host knows
// what must come of it. Version 1 is what AMD's Catalyst driver has (catalyst.c). And a source where there is no compiler.
// link: -lOpenCL
// exec: --gpu vega10
#define _GNU_SOURCE
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <string.h>
#include <unistd.h>
#include "common.h"

#define N 1024
#define GROUP 256
#define OFFSET 64

// With what the runtime hands over: the grid's offset and its counts of groups, LDS of a size that the host says.
static const char *source =
    "kernel void turn(global const int *in, global int *out, int k, local int *shared) {\n"
    "    size_t i = get_global_id(0), l = get_local_id(0);\n"
    "    shared[l] = in[i - get_global_offset(0)];\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    out[i] = shared[get_local_size(0) - 1 - l] * k + (int)get_group_id(0) * 1000 + (int)get_num_groups(0);\n"
    "}\n";
// The device library knows no version 6: nothing of it is used.
static const char *bare =
    "kernel void bare(global int *out, int k) {\n"
    "    unsigned i = __builtin_amdgcn_workgroup_id_x() * 256 + __builtin_amdgcn_workitem_id_x();\n"
    "    out[i] = k * (int)i;\n"
    "}\n";

static char place[] = "/tmp/versions-XXXXXX";
static cl_context context;
static cl_device_id device;
static cl_command_queue queue;
static cl_mem in, out;
static cl_int given[N], got[N + OFFSET];

// Compiles a source.
static cl_program program(const char *clang, int version, const char *gpu, const char *text, const char *library) {
    char command[1024], name[64];
    snprintf(name, sizeof name, "%s/k.cl", place);
    FILE *file = fopen(name, "w");
    EXPECT(file && fputs(text, file) >= 0 && !fclose(file));
    snprintf(command, sizeof command,
             "%s -w -x cl -cl-std=CL2.0 -target amdgcn-amd-amdhsa -mcpu=%s -mcode-object-version=%d %s -O2 %s -o %s/k.co", clang, gpu,
             version, library, name, place);
    EXPECT(system(command) == 0);
    snprintf(name, sizeof name, "%s/k.co", place);
    file = fopen(name, "rb");
    unsigned char bytes[1 << 16];
    size_t size = file ? fread(bytes, 1, sizeof bytes, file) : 0;
    EXPECT(size && !fclose(file));
    const unsigned char *binary = bytes;
    cl_int code, status;
    cl_program made = clCreateProgramWithBinary(context, 1, &device, &size, &binary, &status, &code);
    CHECK(code);
    CHECK(status);
    CHECK(clBuildProgram(made, 1, &device, "", NULL, NULL));
    return made;
}

static void run(cl_program from, const char *name, size_t offset) {
    cl_int code, k = 7;
    cl_kernel kernel = clCreateKernel(from, name, &code);
    CHECK(code);
    int bare = !strcmp(name, "bare");
    cl_uint arg = 0;
    if (!bare) CHECK(clSetKernelArg(kernel, arg++, sizeof in, &in));
    CHECK(clSetKernelArg(kernel, arg++, sizeof out, &out));
    CHECK(clSetKernelArg(kernel, arg++, sizeof k, &k));
    if (!bare) CHECK(clSetKernelArg(kernel, arg++, GROUP * sizeof(cl_int), NULL));
    size_t global = N, local = GROUP;
    cl_int none = -1;
    CHECK(clEnqueueFillBuffer(queue, out, &none, sizeof none, 0, sizeof got, 0, NULL, NULL));
    CHECK(clEnqueueNDRangeKernel(queue, kernel, 1, &offset, &global, &local, 0, NULL, NULL));
    CHECK(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL));
    for (int i = 0; i < N + OFFSET; i++) {
        int own = i - (int)offset, group = own / GROUP;
        cl_int expected = own < 0 || own >= N ? -1
                          : bare              ? own * k
                                              : given[group * GROUP + GROUP - 1 - own % GROUP] * k + group * 1000 + N / GROUP;
        EXPECT(got[i] == expected);
    }
    CHECK(clReleaseKernel(kernel));
    CHECK(clReleaseProgram(from));
}

int main(void) {
    cl_platform_id platform;
    cl_int code;
    EXPECT(mkdtemp(place));
    CHECK(clGetPlatformIDs(1, &platform, NULL));
    CHECK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, NULL));
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    CHECK(code);
    queue = clCreateCommandQueueWithProperties(context, device, NULL, &code);
    CHECK(code);
    for (int i = 0; i < N; i++) given[i] = i * 37 % 1009 - 500;
    in = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof given, given, &code);
    CHECK(code);
    out = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof got, NULL, &code);
    CHECK(code);
    const char *library = "--rocm-device-lib-path=/usr/lib/x86_64-linux-gnu/amdgcn/bitcode";
    for (int version = 2; version <= 5; version++) {
        // Before version 4, code that may run with XNACK on was code that needs it.
        const char *gpu = version < 4 ? "gfx900:xnack-" : "gfx900";
        run(program("clang-15", version, gpu, source, library), "turn", OFFSET);
        printf("case: version %d of clang 15\n", version);
    }
    for (int version = 4; version <= 5; version++) {
        run(program("clang-19", version, "gfx900", source, library), "turn", OFFSET);
        printf("case: version %d of clang 19\n", version);
    }
    run(program("clang-19", 6, "gfx9-generic", bare, "-nogpulib"), "bare", 0);
    puts("case: version 6 of clang 19, for all GPUs of the generation");
    // Without a compiler there is a code of its own, and the log says what to do.
    setenv("WAVEMILL_CLANG", "/nowhere/clang", 1);
    cl_program without = clCreateProgramWithSource(context, 1, &source, NULL, &code);
    CHECK(code);
    EXPECT(clBuildProgram(without, 1, &device, "", NULL, NULL) == CL_COMPILER_NOT_AVAILABLE);
    EXPECT(clCompileProgram(without, 1, &device, "", 0, NULL, NULL, NULL, NULL) == CL_COMPILER_NOT_AVAILABLE);
    char log[1024] = "";
    CHECK(clGetProgramBuildInfo(without, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL));
    EXPECT(strstr(log, "/nowhere/clang"));
    puts("case: no compiler");
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", place);
    EXPECT(system(command) == 0);
    puts("PASS");
    return 0;
}
