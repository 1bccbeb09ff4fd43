// link: -lOpenCL
// exec: --gpu vega10
// Queues on the device: made, asked about, made the default, handed to kernels, and what is wrong with them.
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <stdio.h>
#include <string.h>

#define CHECK(e) do { cl_int c_ = (e); if (c_) { printf("line %d: %d\n", __LINE__, c_); return 1; } } while (0)
#define EXPECT(e) do { if (!(e)) { printf("line %d: not %s\n", __LINE__, #e); return 1; } } while (0)

static const char *source =
    "kernel void parent(global int *out, int n) {\n"
    "  int i = get_global_id(0);\n"
    "  enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_1D(n), ^{\n"
    "    atomic_add(&out[get_global_id(0)], i + 1);\n"
    "    if (get_global_id(0) == 0) printf(\"child of %d\\n\", i);\n"
    "  });\n"
    "}\n"
    "kernel void given(queue_t q, global int *out) {\n"
    "  enqueue_kernel(q, CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(64), ^{ out[get_global_id(0)] = 7 * get_global_id(0); });\n"
    "}\n";

static cl_command_queue on_device(cl_context context, cl_device_id device, cl_ulong bits, cl_ulong size, cl_int *error) {
    cl_queue_properties list[] = {CL_QUEUE_PROPERTIES, bits, CL_QUEUE_SIZE, size, 0};
    if (!size)
        list[2] = 0;
    return clCreateCommandQueueWithProperties(context, device, list, error);
}

int main(void) {
    cl_platform_id platform;
    cl_device_id device;
    cl_int error;
    CHECK(clGetPlatformIDs(1, &platform, NULL));
    CHECK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, NULL));
    cl_device_device_enqueue_capabilities can;
    cl_uint preferred, most, queues, events;
    CHECK(clGetDeviceInfo(device, CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES, sizeof can, &can, NULL));
    CHECK(clGetDeviceInfo(device, CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE, sizeof preferred, &preferred, NULL));
    CHECK(clGetDeviceInfo(device, CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE, sizeof most, &most, NULL));
    CHECK(clGetDeviceInfo(device, CL_DEVICE_MAX_ON_DEVICE_QUEUES, sizeof queues, &queues, NULL));
    CHECK(clGetDeviceInfo(device, CL_DEVICE_MAX_ON_DEVICE_EVENTS, sizeof events, &events, NULL));
    EXPECT(can == (CL_DEVICE_QUEUE_SUPPORTED | CL_DEVICE_QUEUE_REPLACEABLE_DEFAULT));
    // What a full profile demands.
    EXPECT(preferred >= 16 << 10 && most >= 256 << 10 && queues >= 1 && events >= 1024);

    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    CHECK(error);
    cl_command_queue host = clCreateCommandQueueWithProperties(context, device, NULL, &error);
    CHECK(error);
    const cl_ulong bits = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_ON_DEVICE;
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
    CHECK(error);
    error = clBuildProgram(program, 1, &device, "-cl-std=CL2.0", NULL, NULL);
    if (error) {
        char log[4096];
        clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
        printf("%s\n", log);
    }
    CHECK(error);
    // What kernels enqueue are no kernels of the program's.
    size_t count;
    CHECK(clGetProgramInfo(program, CL_PROGRAM_NUM_KERNELS, sizeof count, &count, NULL));
    EXPECT(count == 2);
    cl_kernel parent = clCreateKernel(program, "parent", &error);
    CHECK(error);
    cl_kernel given = clCreateKernel(program, "given", &error);
    CHECK(error);
    cl_mem out = clCreateBuffer(context, CL_MEM_READ_WRITE, 4096, NULL, &error);
    CHECK(error);

    // Wrong ones.
    EXPECT(!on_device(context, device, CL_QUEUE_ON_DEVICE, 0, &error) && error == CL_INVALID_VALUE);
    EXPECT(!on_device(context, device, CL_QUEUE_ON_DEVICE_DEFAULT, 0, &error) && error == CL_INVALID_VALUE);
    EXPECT(!on_device(context, device, 0, 4096, &error) && error == CL_INVALID_VALUE);
    EXPECT(!on_device(context, device, bits, (cl_ulong)most + 1, &error) && error == CL_INVALID_QUEUE_PROPERTIES);
    EXPECT(clSetKernelArg(given, 0, sizeof host, &host) == CL_INVALID_DEVICE_QUEUE);
    EXPECT(clSetDefaultDeviceCommandQueue(context, device, host) == CL_INVALID_COMMAND_QUEUE);

    // The default queue: there is one, however often it is asked for.
    cl_command_queue first = on_device(context, device, bits | CL_QUEUE_ON_DEVICE_DEFAULT, 0, &error);
    CHECK(error);
    cl_command_queue again = on_device(context, device, bits | CL_QUEUE_ON_DEVICE_DEFAULT, 0, &error);
    CHECK(error);
    EXPECT(first == again);
    cl_uint references, size;
    CHECK(clGetCommandQueueInfo(first, CL_QUEUE_REFERENCE_COUNT, sizeof references, &references, NULL));
    EXPECT(references == 2);
    CHECK(clReleaseCommandQueue(again));
    CHECK(clGetCommandQueueInfo(first, CL_QUEUE_SIZE, sizeof size, &size, NULL));
    EXPECT(size == preferred);
    cl_command_queue found;
    CHECK(clGetCommandQueueInfo(host, CL_QUEUE_DEVICE_DEFAULT, sizeof found, &found, NULL));
    EXPECT(found == first);
    // Programs cannot enqueue there.
    size_t items = 10;
    EXPECT(clEnqueueNDRangeKernel(first, parent, 1, NULL, &items, &items, 0, NULL, NULL) == CL_INVALID_COMMAND_QUEUE);
    EXPECT(clFinish(first) == CL_INVALID_COMMAND_QUEUE);

    cl_int zero = 0, n = 100, values[128];
    CHECK(clSetKernelArg(parent, 0, sizeof out, &out));
    CHECK(clSetKernelArg(parent, 1, sizeof n, &n));
    for (int round = 1; round <= 50; round++) {
        CHECK(clEnqueueFillBuffer(host, out, &zero, sizeof zero, 0, 4096, 0, NULL, NULL));
        CHECK(clEnqueueNDRangeKernel(host, parent, 1, NULL, &items, &items, 0, NULL, NULL));
        CHECK(clEnqueueReadBuffer(host, out, CL_TRUE, 0, sizeof values, values, 0, NULL, NULL));
        for (int i = 0; i < 128; i++)
            EXPECT(values[i] == (i < n ? 55 : 0));
    }

    // Another one, as an argument and then as the default.
    cl_command_queue second = on_device(context, device, bits, 32 << 10, &error);
    CHECK(error);
    CHECK(clSetKernelArg(given, 0, sizeof second, &second));
    CHECK(clSetKernelArg(given, 1, sizeof out, &out));
    size_t one = 1;
    CHECK(clEnqueueNDRangeKernel(host, given, 1, NULL, &one, &one, 0, NULL, NULL));
    CHECK(clEnqueueReadBuffer(host, out, CL_TRUE, 0, sizeof values, values, 0, NULL, NULL));
    for (int i = 0; i < 64; i++)
        EXPECT(values[i] == 7 * i);
    CHECK(clSetDefaultDeviceCommandQueue(context, device, second));
    CHECK(clGetCommandQueueInfo(second, CL_QUEUE_DEVICE_DEFAULT, sizeof found, &found, NULL));
    EXPECT(found == second);
    CHECK(clEnqueueNDRangeKernel(host, parent, 1, NULL, &items, &items, 0, NULL, NULL));
    CHECK(clFinish(host));

    CHECK(clReleaseCommandQueue(first));
    CHECK(clReleaseCommandQueue(second));
    puts("PASS");
    return 0;
}
