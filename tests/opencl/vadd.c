// OpenCL from C: a kernel from source, buffers, events, profiling, printf.
// link: -lOpenCL
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include "common.h"

#define N 100000

static const char *source =
    "__kernel void vadd(__global const float *a, __global const float *b, __global float *c, float k) {\n"
    "    size_t i = get_global_id(0);\n"
    "    c[i] = a[i] + k * b[i];\n"
    "    if (i == 7) printf(\"item %d: %g and %s\\n\", (int)i, c[i], \"text\");\n"
    "}\n";

static void CL_CALLBACK ended(cl_event event, cl_int status, void *data) {
    (void)event;
    *(volatile int *)data = status == CL_COMPLETE ? 1 : -1;
}

int main(void) {
    cl_platform_id platform;
    cl_device_id device;
    cl_int code;
    CHECK(clGetPlatformIDs(1, &platform, NULL));
    CHECK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, NULL));
    char name[256];
    CHECK(clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name, name, NULL));
    printf("device: %s\n", name);
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    CHECK(code);
    cl_queue_properties properties[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, 0};
    cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, properties, &code);
    CHECK(code);
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &code);
    CHECK(code);
    code = clBuildProgram(program, 1, &device, "", NULL, NULL);
    char log[10000];
    CHECK(clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL));
    if (code) fprintf(stderr, "%s", log);
    CHECK(code);
    cl_kernel kernel = clCreateKernel(program, "vadd", &code);
    CHECK(code);
    float *a = malloc(N * sizeof *a), *b = malloc(N * sizeof *b), *c = malloc(N * sizeof *c);
    for (int i = 0; i < N; i++) {
        a[i] = i;
        b[i] = 2 * i + 1;
    }
    cl_mem da = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, N * sizeof *a, a, &code);
    CHECK(code);
    cl_mem db = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_USE_HOST_PTR, N * sizeof *b, b, &code);
    CHECK(code);
    cl_mem dc = clCreateBuffer(context, CL_MEM_WRITE_ONLY, N * sizeof *c, NULL, &code);
    CHECK(code);
    float k = 0.5f;
    CHECK(clSetKernelArg(kernel, 0, sizeof da, &da));
    CHECK(clSetKernelArg(kernel, 1, sizeof db, &db));
    CHECK(clSetKernelArg(kernel, 2, sizeof dc, &dc));
    CHECK(clSetKernelArg(kernel, 3, sizeof k, &k));
    size_t global = N;
    cl_event event;
    volatile int called = 0;
    CHECK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, &event));
    CHECK(clSetEventCallback(event, CL_COMPLETE, ended, (void *)&called));
    CHECK(clEnqueueReadBuffer(queue, dc, CL_TRUE, 0, N * sizeof *c, c, 1, &event, NULL));
    int wrong = 0;
    for (int i = 0; i < N; i++) wrong += c[i] != a[i] + k * b[i];
    cl_ulong times[2];
    CHECK(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof times[0], &times[0], NULL));
    CHECK(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof times[1], &times[1], NULL));
    printf("%d wrong, called %d, time %s\n", wrong, called, times[1] > times[0] ? "passes" : "stands still");
    // What is wrong is told, and nothing else happens.
    size_t none = 0;
    CHECK(clSetKernelArg(kernel, 9, sizeof k, &k) != CL_INVALID_ARG_INDEX);
    CHECK(clSetKernelArg(kernel, 3, 3, &k) != CL_INVALID_ARG_SIZE);
    CHECK(clEnqueueReadBuffer(queue, dc, CL_TRUE, N, N * sizeof *c, c, 0, NULL, NULL) != CL_INVALID_VALUE);
    CHECK(clEnqueueNDRangeKernel(queue, kernel, 4, NULL, &global, NULL, 0, NULL, NULL) != CL_INVALID_WORK_DIMENSION);
    CHECK(clGetDeviceInfo(device, 0x9999, sizeof none, &none, NULL) != CL_INVALID_VALUE);
    CHECK(clReleaseEvent(event));
    CHECK(clReleaseEvent(event) != CL_INVALID_EVENT);
    CHECK(clReleaseMemObject(da));
    CHECK(clReleaseMemObject(db));
    CHECK(clReleaseMemObject(dc));
    CHECK(clReleaseKernel(kernel));
    CHECK(clReleaseProgram(program));
    CHECK(clReleaseCommandQueue(queue));
    CHECK(clReleaseContext(context));
    puts(wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
