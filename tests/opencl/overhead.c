// What a dispatch costs: an empty kernel a thousand times in a row, and one by one. Ten microseconds are the limit.
// link: -lOpenCL
// unchecked: it measures time
#define _POSIX_C_SOURCE 199309L
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <stdio.h>
#include <time.h>

// Processor time, of all threads: the machine may be busy with other things.
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

int main(void) {
    cl_platform_id platform;
    cl_device_id device;
    const char *text = "kernel void nothing(int n) {}";
    cl_int code = clGetPlatformIDs(1, &platform, NULL) | clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL);
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, NULL, &code);
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &code);
    code = clBuildProgram(program, 1, &device, "", NULL, NULL);
    cl_kernel kernel = clCreateKernel(program, "nothing", &code);
    int n = 1;
    size_t one = 64;
    code |= clSetKernelArg(kernel, 0, sizeof n, &n);
    double row = 1e9, single = 1e9;
    for (int round = 0; round < 5 && !code; round++) {
        double began = now();
        for (int i = 0; i < 1000; i++) code |= clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, &one, 0, NULL, NULL);
        code |= clFinish(queue);
        double time = (now() - began) / 1000;
        if (time < row) row = time;
        began = now();
        for (int i = 0; i < 100; i++) {
            code |= clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, &one, 0, NULL, NULL);
            code |= clFinish(queue);
        }
        time = (now() - began) / 100;
        if (time < single) single = time;
    }
    printf("note: %.1f us of processor time for a dispatch in a row, %.1f us for one alone\n", row, single);
    int fine = !code && row <= 10 && single <= 10;
    puts(fine ? "PASS" : "FAIL");
    return !fine;
}
