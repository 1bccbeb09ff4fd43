// Every function of OpenCL 1.2 that takes a handle, and those of 2.x and 3.0, with the handle of something else: each has its error code.
// Then handles of what was released, and arguments that are wrong in other ways.
// link: -lOpenCL
// exec: --gpu vega10
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int wrong, tried;

static void expect(int line, const char *what, cl_int got, cl_int want) {
    tried++;
    if (got != want) {
        fprintf(stderr, "line %d: %.60s: %d, not %d\n", line, what, got, want);
        wrong++;
    }
}

#define CODE(call, want) expect(__LINE__, #call, call, want)
// Calls whose last argument is where the code goes.
#define MAKES(call, want)                            \
    do {                                             \
        cl_int e = 12345;                            \
        int nothing = !(call);                       \
        expect(__LINE__, #call, e, want);            \
        expect(__LINE__, "null: " #call, nothing, 1); \
    } while (0)
#define FINE(call) CODE(call, CL_SUCCESS)

static void CL_CALLBACK nobody(cl_program p, void *d) { (void)p, (void)d; }
static void CL_CALLBACK no_event(cl_event v, cl_int s, void *d) { (void)v, (void)s, (void)d; }
static void CL_CALLBACK no_mem(cl_mem m, void *d) { (void)m, (void)d; }
static void CL_CALLBACK native(void *d) { (void)d; }

int main(void) {
    cl_platform_id platform;
    cl_device_id device;
    cl_int e;
    FINE(clGetPlatformIDs(1, &platform, NULL));
    FINE(clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, NULL));
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &e);
    FINE(e);
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &e);
    FINE(e);
    cl_mem buffer = clCreateBuffer(context, 0, 256, NULL, &e);
    FINE(e);
    cl_sampler sampler = clCreateSampler(context, CL_FALSE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, &e);
    FINE(e);
    const char *text = "kernel void k(global int *p, int n, local int *l) { p[get_global_id(0)] = n + l[0]; }";
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &e);
    FINE(e);
    MAKES(clCreateKernel(program, "k", &e), CL_INVALID_PROGRAM_EXECUTABLE);
    FINE(clBuildProgram(program, 1, &device, "", NULL, NULL));
    cl_kernel kernel = clCreateKernel(program, "k", &e);
    FINE(e);
    cl_event user = clCreateUserEvent(context, &e);
    FINE(e);

    // Something that is none of them.
    void *other = sampler;
    char room[512];
    size_t size, zero[3] = {0}, one[3] = {1, 1, 1};
    cl_uint n;
    cl_image_format format = {CL_RGBA, CL_UNORM_INT8};
    cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 4, .image_height = 4};
    cl_mem image = clCreateImage(context, 0, &format, &desc, NULL, &e);
    FINE(e);
    cl_event list[1] = {other};

    CODE(clGetPlatformInfo(other, CL_PLATFORM_NAME, 0, NULL, &size), CL_INVALID_PLATFORM);
    CODE(clGetDeviceIDs(other, CL_DEVICE_TYPE_ALL, 0, NULL, &n), CL_INVALID_PLATFORM);
    CODE(clGetDeviceInfo(other, CL_DEVICE_NAME, 0, NULL, &size), CL_INVALID_DEVICE);
    cl_device_partition_property halves[] = {CL_DEVICE_PARTITION_EQUALLY, 8, 0};
    CODE(clCreateSubDevices(other, halves, 0, NULL, &n), CL_INVALID_DEVICE);
    CODE(clRetainDevice(other), CL_INVALID_DEVICE);
    CODE(clReleaseDevice(other), CL_INVALID_DEVICE);
    MAKES(clCreateContext(NULL, 1, (cl_device_id *)&other, NULL, NULL, &e), CL_INVALID_DEVICE);
    cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)other, 0};
    MAKES(clCreateContextFromType(properties, CL_DEVICE_TYPE_ALL, NULL, NULL, &e), CL_INVALID_PLATFORM);
    CODE(clRetainContext(other), CL_INVALID_CONTEXT);
    CODE(clReleaseContext(other), CL_INVALID_CONTEXT);
    CODE(clGetContextInfo(other, CL_CONTEXT_DEVICES, 0, NULL, &size), CL_INVALID_CONTEXT);
    MAKES(clCreateCommandQueue(other, device, 0, &e), CL_INVALID_CONTEXT);
    MAKES(clCreateCommandQueue(context, other, 0, &e), CL_INVALID_DEVICE);
    MAKES(clCreateCommandQueueWithProperties(other, device, NULL, &e), CL_INVALID_CONTEXT);
    MAKES(clCreateCommandQueueWithProperties(context, other, NULL, &e), CL_INVALID_DEVICE);
    CODE(clRetainCommandQueue(other), CL_INVALID_COMMAND_QUEUE);
    CODE(clReleaseCommandQueue(other), CL_INVALID_COMMAND_QUEUE);
    CODE(clGetCommandQueueInfo(other, CL_QUEUE_CONTEXT, 0, NULL, &size), CL_INVALID_COMMAND_QUEUE);
    CODE(clSetCommandQueueProperty(other, 0, CL_TRUE, NULL), CL_INVALID_COMMAND_QUEUE);
    MAKES(clCreateBuffer(other, 0, 64, NULL, &e), CL_INVALID_CONTEXT);
    cl_buffer_region region = {0, 64};
    MAKES(clCreateSubBuffer(other, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &e), CL_INVALID_MEM_OBJECT);
    MAKES(clCreateImage(other, 0, &format, &desc, NULL, &e), CL_INVALID_CONTEXT);
    MAKES(clCreateImage2D(other, 0, &format, 4, 4, 0, NULL, &e), CL_INVALID_CONTEXT);
    MAKES(clCreateImage3D(other, 0, &format, 4, 4, 4, 0, 0, NULL, &e), CL_INVALID_CONTEXT);
    MAKES(clCreatePipe(other, 0, 4, 4, NULL, &e), CL_INVALID_CONTEXT);
    MAKES(clCreateBufferWithProperties(other, NULL, 0, 64, NULL, &e), CL_INVALID_CONTEXT);
    MAKES(clCreateImageWithProperties(other, NULL, 0, &format, &desc, NULL, &e), CL_INVALID_CONTEXT);
    CODE(clRetainMemObject(other), CL_INVALID_MEM_OBJECT);
    CODE(clReleaseMemObject(other), CL_INVALID_MEM_OBJECT);
    CODE(clGetSupportedImageFormats(other, 0, CL_MEM_OBJECT_IMAGE2D, 0, NULL, &n), CL_INVALID_CONTEXT);
    CODE(clGetMemObjectInfo(other, CL_MEM_SIZE, 0, NULL, &size), CL_INVALID_MEM_OBJECT);
    CODE(clGetImageInfo(other, CL_IMAGE_WIDTH, 0, NULL, &size), CL_INVALID_MEM_OBJECT);
    CODE(clGetImageInfo(buffer, CL_IMAGE_WIDTH, 0, NULL, &size), CL_INVALID_MEM_OBJECT);
    CODE(clGetPipeInfo(other, CL_PIPE_PACKET_SIZE, 0, NULL, &size), CL_INVALID_MEM_OBJECT);
    CODE(clSetMemObjectDestructorCallback(other, no_mem, NULL), CL_INVALID_MEM_OBJECT);
    MAKES(clCreateSampler(other == sampler ? (void *)queue : other, CL_FALSE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, &e), CL_INVALID_CONTEXT);
    MAKES(clCreateSamplerWithProperties(other, NULL, &e), CL_INVALID_CONTEXT);
    CODE(clRetainSampler((void *)queue), CL_INVALID_SAMPLER);
    CODE(clReleaseSampler((void *)queue), CL_INVALID_SAMPLER);
    CODE(clGetSamplerInfo((void *)queue, CL_SAMPLER_CONTEXT, 0, NULL, &size), CL_INVALID_SAMPLER);
    MAKES(clCreateProgramWithSource(other, 1, &text, NULL, &e), CL_INVALID_CONTEXT);
    const unsigned char *bytes = (const unsigned char *)text;
    size = 8;
    MAKES(clCreateProgramWithBinary(other, 1, &device, &size, &bytes, NULL, &e), CL_INVALID_CONTEXT);
    MAKES(clCreateProgramWithBinary(context, 1, (cl_device_id *)&other, &size, &bytes, NULL, &e), CL_INVALID_DEVICE);
    MAKES(clCreateProgramWithBuiltInKernels(other, 1, &device, "k", &e), CL_INVALID_CONTEXT);
    MAKES(clCreateProgramWithIL(other, text, 8, &e), CL_INVALID_CONTEXT);
    CODE(clRetainProgram(other), CL_INVALID_PROGRAM);
    CODE(clReleaseProgram(other), CL_INVALID_PROGRAM);
    CODE(clBuildProgram(other, 0, NULL, "", NULL, NULL), CL_INVALID_PROGRAM);
    CODE(clBuildProgram(program, 1, (cl_device_id *)&other, "", NULL, NULL), CL_INVALID_DEVICE);
    CODE(clCompileProgram(other, 0, NULL, "", 0, NULL, NULL, NULL, NULL), CL_INVALID_PROGRAM);
    MAKES(clLinkProgram(other, 0, NULL, "", 1, &program, NULL, NULL, &e), CL_INVALID_CONTEXT);
    MAKES(clLinkProgram(context, 0, NULL, "", 1, (cl_program *)&other, NULL, NULL, &e), CL_INVALID_PROGRAM);
    CODE(clUnloadPlatformCompiler(other), CL_INVALID_PLATFORM);
    CODE(clGetProgramInfo(other, CL_PROGRAM_SOURCE, 0, NULL, &size), CL_INVALID_PROGRAM);
    CODE(clGetProgramBuildInfo(other, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size), CL_INVALID_PROGRAM);
    CODE(clGetProgramBuildInfo(program, other, CL_PROGRAM_BUILD_LOG, 0, NULL, &size), CL_INVALID_DEVICE);
    CODE(clSetProgramReleaseCallback(other, nobody, NULL), CL_INVALID_PROGRAM);
    CODE(clSetProgramSpecializationConstant(other, 0, 4, room), CL_INVALID_PROGRAM);
    MAKES(clCreateKernel(other, "k", &e), CL_INVALID_PROGRAM);
    MAKES(clCreateKernel(program, "nothing", &e), CL_INVALID_KERNEL_NAME);
    CODE(clCreateKernelsInProgram(other, 0, NULL, &n), CL_INVALID_PROGRAM);
    MAKES(clCloneKernel(other, &e), CL_INVALID_KERNEL);
    CODE(clRetainKernel(other), CL_INVALID_KERNEL);
    CODE(clReleaseKernel(other), CL_INVALID_KERNEL);
    CODE(clSetKernelArg(other, 0, sizeof buffer, &buffer), CL_INVALID_KERNEL);
    CODE(clSetKernelArg(kernel, 0, sizeof other, &other), CL_INVALID_MEM_OBJECT);
    CODE(clSetKernelArg(kernel, 3, sizeof buffer, &buffer), CL_INVALID_ARG_INDEX);
    CODE(clSetKernelArg(kernel, 0, 4, &buffer), CL_INVALID_ARG_SIZE);
    CODE(clSetKernelArg(kernel, 1, 4, NULL), CL_INVALID_ARG_VALUE);
    CODE(clSetKernelArg(kernel, 1, 8, room), CL_INVALID_ARG_SIZE);
    CODE(clSetKernelArg(kernel, 2, 64, room), CL_INVALID_ARG_VALUE);
    CODE(clSetKernelArg(kernel, 2, 0, NULL), CL_INVALID_ARG_SIZE);
    CODE(clSetKernelArgSVMPointer(other, 0, NULL), CL_INVALID_KERNEL);
    CODE(clSetKernelExecInfo(other, CL_KERNEL_EXEC_INFO_SVM_PTRS, 0, NULL), CL_INVALID_KERNEL);
    CODE(clGetKernelInfo(other, CL_KERNEL_NUM_ARGS, 0, NULL, &size), CL_INVALID_KERNEL);
    CODE(clGetKernelArgInfo(other, 0, CL_KERNEL_ARG_NAME, 0, NULL, &size), CL_INVALID_KERNEL);
    CODE(clGetKernelArgInfo(kernel, 9, CL_KERNEL_ARG_NAME, 0, NULL, &size), CL_INVALID_ARG_INDEX);
    CODE(clGetKernelWorkGroupInfo(other, device, CL_KERNEL_WORK_GROUP_SIZE, 0, NULL, &size), CL_INVALID_KERNEL);
    CODE(clGetKernelWorkGroupInfo(kernel, other, CL_KERNEL_WORK_GROUP_SIZE, 0, NULL, &size), CL_INVALID_DEVICE);
    CODE(clGetKernelSubGroupInfo(other, device, CL_KERNEL_MAX_NUM_SUB_GROUPS, 0, NULL, sizeof size, &size, NULL), CL_INVALID_KERNEL);
    CODE(clWaitForEvents(1, list), CL_INVALID_EVENT);
    CODE(clWaitForEvents(0, NULL), CL_INVALID_VALUE);
    CODE(clGetEventInfo(other, CL_EVENT_COMMAND_TYPE, 0, NULL, &size), CL_INVALID_EVENT);
    MAKES(clCreateUserEvent(other, &e), CL_INVALID_CONTEXT);
    CODE(clRetainEvent(other), CL_INVALID_EVENT);
    CODE(clReleaseEvent(other), CL_INVALID_EVENT);
    CODE(clSetUserEventStatus(other, CL_COMPLETE), CL_INVALID_EVENT);
    CODE(clSetEventCallback(other, CL_COMPLETE, no_event, NULL), CL_INVALID_EVENT);
    CODE(clGetEventProfilingInfo(other, CL_PROFILING_COMMAND_END, 0, NULL, &size), CL_INVALID_EVENT);
    CODE(clGetEventProfilingInfo(user, CL_PROFILING_COMMAND_END, sizeof(cl_ulong), room, NULL), CL_PROFILING_INFO_NOT_AVAILABLE);
    CODE(clFlush(other), CL_INVALID_COMMAND_QUEUE);
    CODE(clFinish(other), CL_INVALID_COMMAND_QUEUE);

    // Commands: the queue, the objects, the list of events.
#define COMMAND(q, m, ...)                                                                              \
    do {                                                                                                \
        CODE(clEnqueueReadBuffer(q, m, CL_TRUE, 0, 4, room, __VA_ARGS__), want);                        \
        CODE(clEnqueueWriteBuffer(q, m, CL_TRUE, 0, 4, room, __VA_ARGS__), want);                       \
        CODE(clEnqueueReadBufferRect(q, m, CL_TRUE, zero, zero, one, 0, 0, 0, 0, room, __VA_ARGS__), want);  \
        CODE(clEnqueueWriteBufferRect(q, m, CL_TRUE, zero, zero, one, 0, 0, 0, 0, room, __VA_ARGS__), want); \
        CODE(clEnqueueFillBuffer(q, m, room, 4, 0, 64, __VA_ARGS__), want);                             \
        CODE(clEnqueueCopyBuffer(q, m, buffer, 0, 64, 4, __VA_ARGS__), want);                           \
        CODE(clEnqueueCopyBufferRect(q, m, buffer, zero, zero, one, 0, 0, 0, 0, __VA_ARGS__), want);    \
        CODE(clEnqueueCopyBufferToImage(q, m, image, 0, zero, one, __VA_ARGS__), want);                 \
        CODE(clEnqueueMigrateMemObjects(q, 1, &m, 0, __VA_ARGS__), want);                               \
        MAKES(clEnqueueMapBuffer(q, m, CL_TRUE, CL_MAP_READ, 0, 4, __VA_ARGS__, &e), want);             \
        CODE(clEnqueueUnmapMemObject(q, m, room, __VA_ARGS__), want == CL_SUCCESS ? CL_INVALID_VALUE : want); \
    } while (0)
#define IMAGE_COMMAND(q, m, ...)                                                                        \
    do {                                                                                                \
        CODE(clEnqueueReadImage(q, m, CL_TRUE, zero, one, 0, 0, room, __VA_ARGS__), want);              \
        CODE(clEnqueueWriteImage(q, m, CL_TRUE, zero, one, 0, 0, room, __VA_ARGS__), want);             \
        CODE(clEnqueueFillImage(q, m, room, zero, one, __VA_ARGS__), want);                             \
        CODE(clEnqueueCopyImage(q, m, image, zero, (size_t[]){2, 2, 0}, one, __VA_ARGS__), want);       \
        CODE(clEnqueueCopyImageToBuffer(q, m, buffer, zero, one, 0, __VA_ARGS__), want);                \
        size_t pitch;                                                                                   \
        MAKES(clEnqueueMapImage(q, m, CL_TRUE, CL_MAP_READ, zero, one, &pitch, NULL, __VA_ARGS__, &e), want); \
    } while (0)
    memset(room, 0, sizeof room);
    cl_mem no_mem_object = other;
    cl_command_queue no_queue = other;
    cl_int want = CL_INVALID_COMMAND_QUEUE;
    COMMAND(no_queue, buffer, 0, NULL, NULL);
    IMAGE_COMMAND(no_queue, image, 0, NULL, NULL);
    CODE(clEnqueueNDRangeKernel(other, kernel, 1, NULL, one, NULL, 0, NULL, NULL), want);
    CODE(clEnqueueTask(other, kernel, 0, NULL, NULL), want);
    CODE(clEnqueueNativeKernel(other, native, NULL, 0, 0, NULL, NULL, 0, NULL, NULL), want);
    CODE(clEnqueueMarkerWithWaitList(other, 0, NULL, NULL), want);
    CODE(clEnqueueBarrierWithWaitList(other, 0, NULL, NULL), want);
    CODE(clEnqueueMarker(other, list), want);
    CODE(clEnqueueBarrier(other), want);
    CODE(clEnqueueWaitForEvents(other, 1, &user), want);
    CODE(clEnqueueSVMFree(other, 0, NULL, NULL, NULL, 0, NULL, NULL), want);
    CODE(clEnqueueSVMMemcpy(other, CL_TRUE, room, room + 8, 8, 0, NULL, NULL), want);
    CODE(clEnqueueSVMMemFill(other, room, room, 4, 64, 0, NULL, NULL), want);
    CODE(clEnqueueSVMMap(other, CL_TRUE, 0, room, 8, 0, NULL, NULL), want);
    CODE(clEnqueueSVMUnmap(other, room, 0, NULL, NULL), want);
    want = CL_INVALID_MEM_OBJECT;
    COMMAND(queue, no_mem_object, 0, NULL, NULL);
    IMAGE_COMMAND(queue, no_mem_object, 0, NULL, NULL);
    IMAGE_COMMAND(queue, buffer, 0, NULL, NULL);
    want = CL_INVALID_EVENT_WAIT_LIST;
    COMMAND(queue, buffer, 1, list, NULL);
    IMAGE_COMMAND(queue, image, 1, list, NULL);
    COMMAND(queue, buffer, 1, NULL, NULL);
    COMMAND(queue, buffer, 0, list, NULL);
    CODE(clEnqueueMarkerWithWaitList(queue, 1, list, NULL), want);
    CODE(clEnqueueBarrierWithWaitList(queue, 1, NULL, NULL), want);

    // Kernels and their sizes.
    CODE(clEnqueueNDRangeKernel(queue, other, 1, NULL, one, NULL, 0, NULL, NULL), CL_INVALID_KERNEL);
    CODE(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, one, NULL, 0, NULL, NULL), CL_INVALID_KERNEL_ARGS);
    FINE(clSetKernelArg(kernel, 0, sizeof buffer, &buffer));
    FINE(clSetKernelArg(kernel, 1, 4, room));
    FINE(clSetKernelArg(kernel, 2, 64, NULL));
    CODE(clEnqueueNDRangeKernel(queue, kernel, 0, NULL, one, NULL, 0, NULL, NULL), CL_INVALID_WORK_DIMENSION);
    CODE(clEnqueueNDRangeKernel(queue, kernel, 4, NULL, one, NULL, 0, NULL, NULL), CL_INVALID_WORK_DIMENSION);
    CODE(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, (size_t[]){64}, (size_t[]){7}, 0, NULL, NULL), CL_INVALID_WORK_GROUP_SIZE);
    CODE(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, (size_t[]){4096}, (size_t[]){4096}, 0, NULL, NULL), CL_INVALID_WORK_ITEM_SIZE);
    CODE(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, one, NULL, 1, list, NULL), CL_INVALID_EVENT_WAIT_LIST);
    FINE(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, (size_t[]){64}, NULL, 0, NULL, NULL));
    CODE(clEnqueueNativeKernel(queue, NULL, NULL, 0, 0, NULL, NULL, 0, NULL, NULL), CL_INVALID_VALUE);

    // Sizes, flags and numbers.
    MAKES(clCreateBuffer(context, 0, 0, NULL, &e), CL_INVALID_BUFFER_SIZE);
    MAKES(clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, 4, NULL, &e), CL_INVALID_VALUE);
    MAKES(clCreateBuffer(context, CL_MEM_USE_HOST_PTR, 4, NULL, &e), CL_INVALID_HOST_PTR);
    MAKES(clCreateBuffer(context, 0, 4, room, &e), CL_INVALID_HOST_PTR);
    region.origin = 1;
    MAKES(clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &e), CL_MISALIGNED_SUB_BUFFER_OFFSET);
    region = (cl_buffer_region){0, 4096};
    MAKES(clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &e), CL_INVALID_VALUE);
    format.image_channel_order = CL_RGB;
    MAKES(clCreateImage(context, 0, &format, &desc, NULL, &e), CL_IMAGE_FORMAT_NOT_SUPPORTED);
    format.image_channel_order = 7;
    MAKES(clCreateImage(context, 0, &format, &desc, NULL, &e), CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
    format.image_channel_order = CL_RGBA;
    desc.image_width = 1 << 20;
    MAKES(clCreateImage(context, 0, &format, &desc, NULL, &e), CL_INVALID_IMAGE_SIZE);
    desc.image_type = 5;
    MAKES(clCreateImage(context, 0, &format, &desc, NULL, &e), CL_INVALID_IMAGE_DESCRIPTOR);
    CODE(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 250, 16, room, 0, NULL, NULL), CL_INVALID_VALUE);
    CODE(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 16, NULL, 0, NULL, NULL), CL_INVALID_VALUE);
    CODE(clEnqueueCopyBuffer(queue, buffer, buffer, 0, 4, 16, 0, NULL, NULL), CL_MEM_COPY_OVERLAP);
    CODE(clEnqueueFillBuffer(queue, buffer, room, 3, 0, 64, 0, NULL, NULL), CL_INVALID_VALUE);
    CODE(clGetDeviceInfo(device, 0x9999, 0, NULL, &size), CL_INVALID_VALUE);
    CODE(clGetDeviceInfo(device, CL_DEVICE_NAME, 1, room, NULL), CL_INVALID_VALUE);
    CODE(clGetDeviceIDs(platform, 0, 1, &device, NULL), CL_INVALID_DEVICE_TYPE);
    CODE(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ACCELERATOR, 0, NULL, &n), CL_DEVICE_NOT_FOUND);
    halves[1] = 0;
    CODE(clCreateSubDevices(device, halves, 0, NULL, &n), CL_INVALID_VALUE);
    CODE(clSetUserEventStatus(user, 5), CL_INVALID_VALUE);
    FINE(clSetUserEventStatus(user, CL_COMPLETE));
    CODE(clSetUserEventStatus(user, CL_COMPLETE), CL_INVALID_OPERATION);
    CODE(clBuildProgram(program, 0, NULL, "", NULL, NULL), CL_INVALID_OPERATION);

    // What was released is no more, although somebody may have kept the handle.
    FINE(clFinish(queue));
    FINE(clReleaseKernel(kernel));
    CODE(clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, 0, NULL, &size), CL_INVALID_KERNEL);
    CODE(clReleaseKernel(kernel), CL_INVALID_KERNEL);
    FINE(clReleaseMemObject(image));
    CODE(clGetImageInfo(image, CL_IMAGE_WIDTH, 0, NULL, &size), CL_INVALID_MEM_OBJECT);
    FINE(clReleaseMemObject(buffer));
    CODE(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 4, room, 0, NULL, NULL), CL_INVALID_MEM_OBJECT);
    FINE(clReleaseSampler(sampler));
    CODE(clGetSamplerInfo(sampler, CL_SAMPLER_CONTEXT, 0, NULL, &size), CL_INVALID_SAMPLER);
    FINE(clReleaseEvent(user));
    CODE(clWaitForEvents(1, &user), CL_INVALID_EVENT);
    FINE(clReleaseProgram(program));
    CODE(clGetProgramInfo(program, CL_PROGRAM_SOURCE, 0, NULL, &size), CL_INVALID_PROGRAM);
    FINE(clReleaseCommandQueue(queue));
    CODE(clFinish(queue), CL_INVALID_COMMAND_QUEUE);
    FINE(clReleaseContext(context));
    CODE(clGetContextInfo(context, CL_CONTEXT_DEVICES, 0, NULL, &size), CL_INVALID_CONTEXT);
    printf("note: %d of %d answers are wrong\n", wrong, tried);
    puts(wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
