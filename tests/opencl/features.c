// OpenCL 2.0's features from C: shared virtual memory, generic pointers, sub-groups, atomics with scopes, pipes, variables
// of the program, work-group functions, grids that work-groups do not divide; programs compiled in parts; queues out of order.
// link: -lOpenCL
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <string.h>
#include "common.h"

static const char *source =
    "global int counter = 5;\n"
    "int sum(int *p, int n) { int s = 0; for (int i = 0; i < n; i++) s += p[i]; return s; }\n"
    "kernel void anywhere(global int *in, global int *out, local int *scratch) {\n"
    "    int own[4];\n"
    "    for (int i = 0; i < 4; i++) { own[i] = i * (int)get_global_id(0); scratch[4 * get_local_id(0) + i] = 1; }\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    int *p = get_global_id(0) % 3 == 0 ? (int *)in : get_global_id(0) % 3 == 1 ? (int *)own : (int *)scratch;\n"
    "    out[get_global_id(0)] = sum(p, 4);\n"
    "}\n"
    "kernel void count(global atomic_int *total, global int *order) {\n"
    "    int at = atomic_fetch_add_explicit(total, 2, memory_order_acq_rel, memory_scope_device);\n"
    "    order[get_global_id(0)] = at;\n"
    "    if (get_global_id(0) == 0) counter += 1;\n"
    "}\n"
    "kernel void variable(global int *out) { *out = counter; }\n"
    "kernel void groups(global int *reduced, global int *sizes) {\n"
    "    int all = work_group_reduce_add((int)get_local_id(0));\n"
    "    int lane = sub_group_reduce_max((int)get_sub_group_local_id());\n"
    "    if (get_local_id(0) == 0) { reduced[get_group_id(0)] = all; sizes[get_group_id(0)] = lane; }\n"
    "}\n"
    "kernel void ragged(global int *out) { out[get_global_id(0)] = (int)get_local_size(0); }\n"
    "kernel void fill(write_only pipe int p) { int v = (int)get_global_id(0) * 3; write_pipe(p, &v); }\n"
    "kernel void drain(read_only pipe int p, global int *out) {\n"
    "    int v = -1; read_pipe(p, &v); out[get_global_id(0)] = v;\n"
    "}\n";

static cl_context context;
static cl_device_id device;
static cl_command_queue queue;

static cl_program built(const char *text, const char *options) {
    cl_int code;
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &code);
    CHECK(code);
    code = clBuildProgram(program, 1, &device, options, NULL, NULL);
    static char log[20000];
    CHECK(clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL));
    if (code) fprintf(stderr, "%s", log);
    CHECK(code);
    return program;
}

static cl_kernel made(cl_program program, const char *name) {
    cl_int code;
    cl_kernel kernel = clCreateKernel(program, name, &code);
    CHECK(code);
    return kernel;
}

static void run(cl_kernel kernel, size_t global, size_t local) {
    CHECK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, local ? &local : NULL, 0, NULL, NULL));
    CHECK(clFinish(queue));
}

static void parts(void) {
    const char *main_text = "#include \"scale.h\"\nfloat scaled(float);\n"
                            "kernel void k(global float *p) { p[get_global_id(0)] = scaled(p[get_global_id(0)]) + SHIFT; }\n";
    const char *scale_text = "float scaled(float x) { return 3.0f * x; }\n", *header_text = "#define SHIFT 0.5f\n";
    cl_int code;
    cl_program a = clCreateProgramWithSource(context, 1, &main_text, NULL, &code);
    cl_program b = clCreateProgramWithSource(context, 1, &scale_text, NULL, &code);
    cl_program header = clCreateProgramWithSource(context, 1, &header_text, NULL, &code);
    const char *name = "scale.h";
    CHECK(clCompileProgram(a, 1, &device, "", 1, &header, &name, NULL, NULL));
    CHECK(clCompileProgram(b, 1, &device, "", 0, NULL, NULL, NULL, NULL));
    cl_program library = clLinkProgram(context, 1, &device, "-create-library", 1, &b, NULL, NULL, &code);
    CHECK(code);
    cl_program inputs[] = {a, library};
    cl_program linked = clLinkProgram(context, 1, &device, "", 2, inputs, NULL, NULL, &code);
    CHECK(code);
    // What it has become can be kept, and used again.
    size_t size;
    CHECK(clGetProgramInfo(linked, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL));
    unsigned char *binary = malloc(size);
    CHECK(clGetProgramInfo(linked, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL));
    const unsigned char *given = binary;
    cl_program again = clCreateProgramWithBinary(context, 1, &device, &size, &given, NULL, &code);
    CHECK(code);
    CHECK(clBuildProgram(again, 1, &device, "", NULL, NULL));
    cl_kernel k = made(again, "k");
    float *p = clSVMAlloc(context, CL_MEM_READ_WRITE, 64 * sizeof *p, 0);
    for (int i = 0; i < 64; i++) p[i] = i;
    CHECK(clSetKernelArgSVMPointer(k, 0, p));
    run(k, 64, 0);
    for (int i = 0; i < 64; i++) EXPECT(p[i] == 3.0f * i + 0.5f);
    clSVMFree(context, p);
    // Broken programs have a log and a code.
    const char *wrong = "kernel void k(global float *p) { p[0] = nothing; }";
    cl_program broken = clCreateProgramWithSource(context, 1, &wrong, NULL, &code);
    EXPECT(clBuildProgram(broken, 1, &device, "", NULL, NULL) == CL_BUILD_PROGRAM_FAILURE);
    static char log[20000];
    CHECK(clGetProgramBuildInfo(broken, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL));
    EXPECT(strstr(log, "use of undeclared identifier 'nothing'"));
    EXPECT(clBuildProgram(broken, 1, &device, "-no-such-option", NULL, NULL) == CL_INVALID_BUILD_OPTIONS);
    given = (const unsigned char *)"no binary";
    size = 9;
    clCreateProgramWithBinary(context, 1, &device, &size, &given, NULL, &code);
    EXPECT(code == CL_INVALID_BINARY);
    free(binary);
}

static void features(const char *version) {
    cl_int code;
    cl_program program = built(source, version);

    int *in = clSVMAlloc(context, CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER, 4096, 0);
    int *out = clSVMAlloc(context, CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER, 4096, 0);
    EXPECT(in && out);
    for (int i = 0; i < 4; i++) in[i] = 10 + i;
    cl_kernel generic = made(program, "anywhere");
    CHECK(clSetKernelArgSVMPointer(generic, 0, in));
    CHECK(clSetKernelArgSVMPointer(generic, 1, out));
    CHECK(clSetKernelArg(generic, 2, 64 * 4 * sizeof(int), NULL));
    run(generic, 192, 64);
    for (int i = 0; i < 192; i++) EXPECT(out[i] == (i % 3 == 0 ? 46 : i % 3 == 1 ? 6 * i : 4));

    cl_kernel count = made(program, "count"), variable = made(program, "variable");
    in[0] = 100;
    CHECK(clSetKernelArgSVMPointer(count, 0, in));
    CHECK(clSetKernelArgSVMPointer(count, 1, out));
    run(count, 256, 64);
    EXPECT(in[0] == 612);
    long sum = 0;
    for (int i = 0; i < 256; i++) sum += out[i];
    EXPECT(sum == 256 * 100 + 2 * 255 * 256 / 2);
    CHECK(clSetKernelArgSVMPointer(variable, 0, out));
    run(variable, 1, 1);
    EXPECT(out[0] == 6);

    cl_kernel groups = made(program, "groups");
    CHECK(clSetKernelArgSVMPointer(groups, 0, in));
    CHECK(clSetKernelArgSVMPointer(groups, 1, out));
    run(groups, 1024, 256);
    for (int i = 0; i < 4; i++) EXPECT(in[i] == 255 * 256 / 2 && out[i] == 63);

    cl_kernel ragged = made(program, "ragged");
    CHECK(clSetKernelArgSVMPointer(ragged, 0, out));
    run(ragged, 150, 64);
    for (int i = 0; i < 150; i++) EXPECT(out[i] == (i < 128 ? 64 : 22));

    cl_mem pipe = clCreatePipe(context, 0, sizeof(int), 64, NULL, &code);
    CHECK(code);
    cl_kernel fill = made(program, "fill"), drain = made(program, "drain");
    CHECK(clSetKernelArg(fill, 0, sizeof pipe, &pipe));
    run(fill, 40, 40);
    CHECK(clSetKernelArg(drain, 0, sizeof pipe, &pipe));
    CHECK(clSetKernelArgSVMPointer(drain, 1, out));
    run(drain, 50, 50);
    int seen = 0, empty = 0;
    for (int i = 0; i < 50; i++) out[i] < 0 ? empty++ : (seen += out[i]);
    EXPECT(empty == 10 && seen == 3 * 39 * 40 / 2);
    clSVMFree(context, in);
    clSVMFree(context, out);
}

int main(void) {
    cl_platform_id platform;
    cl_int code;
    CHECK(clGetPlatformIDs(1, &platform, NULL));
    CHECK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    CHECK(code);
    queue = clCreateCommandQueueWithProperties(context, device, NULL, &code);
    CHECK(code);
    features("-cl-std=CL2.0");
    features("-cl-std=CL3.0");
    parts();
    puts("PASS");
    return 0;
}
