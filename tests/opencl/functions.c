// What OpenCL's functions do when all is well, one after the other: those of 1.2, and of 2.x and 3.0 what GPUs have.
// link: -lOpenCL
// exec: --gpu vega10
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include <CL/cl.h>
#include <string.h>
#include "common.h"

// A call whose last argument is `&e`.
#define MADE(to, call) do { cl_int e; to = call; CHECK(e); } while (0)

static const char *text =
    "typedef struct { global int *data; int n; } list;\n"
    "kernel void add(global int *p, const int n) { p[get_global_id(0)] += n; }\n"
    "kernel void follow(global list *l) { l->data[get_global_id(0)] = l->n * (int)get_global_id(0); }\n"
    "kernel __attribute__((reqd_work_group_size(8, 2, 1))) void shaped(global const float *restrict in, volatile global float *out,\n"
    "        local float4 *scratch, read_only image2d_t picture, sampler_t how, constant int *table) { out[0] = in[0]; }\n";

static cl_context context;
static cl_device_id device;
static cl_command_queue queue;
static cl_program program;

static cl_kernel kernel_of(const char *name) {
    cl_kernel kernel;
    MADE(kernel, clCreateKernel(program, name, &e));
    return kernel;
}

static cl_mem zeros(size_t bytes) {
    cl_mem mem;
    MADE(mem, clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, &e));
    CHECK(clEnqueueFillBuffer(queue, mem, &(int){0}, 4, 0, bytes, 0, NULL, NULL));
    return mem;
}

static void read_back(cl_mem mem, void *to, size_t bytes) {
    CHECK(clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, bytes, to, 0, NULL, NULL));
}

// Contexts, parts of devices, clocks.
static void devices(void) {
    cl_context other;
    MADE(other, clCreateContextFromType(NULL, CL_DEVICE_TYPE_GPU, NULL, NULL, &e));
    cl_uint count;
    CHECK(clGetContextInfo(other, CL_CONTEXT_NUM_DEVICES, sizeof count, &count, NULL));
    EXPECT(count == 1);
    CHECK(clReleaseContext(other));
    cl_uint units, parts;
    CHECK(clGetDeviceInfo(device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL));
    cl_device_partition_property by_counts[] = {CL_DEVICE_PARTITION_BY_COUNTS, 16, 8, CL_DEVICE_PARTITION_BY_COUNTS_LIST_END, 0};
    cl_device_id part[2];
    CHECK(clCreateSubDevices(device, by_counts, 2, part, &parts));
    EXPECT(parts == 2);
    for (int i = 0; i < 2; i++) {
        cl_uint own;
        cl_device_id parent;
        CHECK(clGetDeviceInfo(part[i], CL_DEVICE_MAX_COMPUTE_UNITS, sizeof own, &own, NULL));
        CHECK(clGetDeviceInfo(part[i], CL_DEVICE_PARENT_DEVICE, sizeof parent, &parent, NULL));
        EXPECT(own == (i ? 8u : 16u) && parent == device);
    }
    // A part runs kernels, too.
    MADE(other, clCreateContext(NULL, 2, part, NULL, NULL, &e));
    cl_program own_program;
    MADE(own_program, clCreateProgramWithSource(other, 1, &text, NULL, &e));
    CHECK(clBuildProgram(own_program, 0, NULL, "", NULL, NULL));
    cl_kernel add;
    MADE(add, clCreateKernel(own_program, "add", &e));
    cl_command_queue second;
    MADE(second, clCreateCommandQueue(other, part[1], 0, &e));
    int data[64] = {0};
    cl_mem mem;
    MADE(mem, clCreateBuffer(other, CL_MEM_COPY_HOST_PTR, sizeof data, data, &e));
    CHECK(clSetKernelArg(add, 0, sizeof mem, &mem));
    CHECK(clSetKernelArg(add, 1, 4, &(int){5}));
    CHECK(clEnqueueNDRangeKernel(second, add, 1, NULL, (size_t[]){64}, NULL, 0, NULL, NULL));
    CHECK(clEnqueueReadBuffer(second, mem, CL_TRUE, 0, sizeof data, data, 0, NULL, NULL));
    for (int i = 0; i < 64; i++) EXPECT(data[i] == 5);
    for (int i = 0; i < 2; i++) CHECK(clReleaseDevice(part[i]));
    cl_ulong on_device[2], host[3];
    CHECK(clGetDeviceAndHostTimer(device, &on_device[0], &host[0]));
    CHECK(clGetHostTimer(device, &host[1]));
    CHECK(clGetDeviceAndHostTimer(device, &on_device[1], &host[2]));
    EXPECT(host[0] <= host[1] && host[1] <= host[2] && on_device[0] <= on_device[1]);
}

static int order[8], called;
static void CL_CALLBACK gone(cl_mem mem, void *data) { (void)mem, order[called++] = (int)(size_t)data; }
static void CL_CALLBACK context_gone(cl_context c, void *data) { (void)c, *(int *)data += 1; }
static void CL_CALLBACK program_gone(cl_program p, void *data) { (void)p, *(int *)data += 1; }
static void CL_CALLBACK doubled(void *args) {
    struct { int *p, n; } *given = args;
    for (int i = 0; i < given->n; i++) given->p[i] *= 2;
}

// Memory: parts, boxes, maps, migration, functions of the program, what is called at the end.
static void memory(void) {
    int data[64];
    cl_mem whole = zeros(4096), part;
    cl_buffer_region region = {1024, 1024};
    MADE(part, clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &e));
    for (int i = 0; i < 64; i++) data[i] = i;
    CHECK(clEnqueueWriteBuffer(queue, part, CL_TRUE, 0, sizeof data, data, 0, NULL, NULL));
    int *mapped;
    MADE(mapped, clEnqueueMapBuffer(queue, whole, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 1024, sizeof data, 0, NULL, NULL, &e));
    for (int i = 0; i < 64; i++) EXPECT(mapped[i] == i);
    mapped[63] = 1000;
    CHECK(clEnqueueUnmapMemObject(queue, whole, mapped, 0, NULL, NULL));
    CHECK(clEnqueueMigrateMemObjects(queue, 1, &whole, CL_MIGRATE_MEM_OBJECT_HOST, 0, NULL, NULL));
    CHECK(clEnqueueMigrateMemObjects(queue, 1, &whole, 0, 0, NULL, NULL));
    // A box of 4 by 4 by 2 of a block of 8 by 8 by 4 bytes, to another place of another.
    unsigned char block[256], back[256] = {0};
    for (int i = 0; i < 256; i++) block[i] = (unsigned char)i;
    cl_mem boxes = zeros(256), others = zeros(256);
    const size_t box[] = {4, 4, 2}, from[] = {1, 2, 1}, to[] = {3, 1, 2}, none[] = {0, 0, 0};
    CHECK(clEnqueueWriteBufferRect(queue, boxes, CL_TRUE, from, from, box, 8, 64, 8, 64, block, 0, NULL, NULL));
    CHECK(clEnqueueCopyBufferRect(queue, boxes, others, from, to, box, 8, 64, 8, 64, 0, NULL, NULL));
    CHECK(clEnqueueReadBufferRect(queue, others, CL_TRUE, to, none, box, 8, 64, 8, 64, back, 0, NULL, NULL));
    for (size_t z = 0; z < 2; z++)
        for (size_t y = 0; y < 4; y++)
            for (size_t x = 0; x < 4; x++) EXPECT(back[64 * z + 8 * y + x] == block[64 * (z + 1) + 8 * (y + 2) + x + 1]);
    struct { cl_mem p; int n; } args = {part, 64};
    const void *places[] = {&args.p};
    CHECK(clEnqueueNativeKernel(queue, doubled, &args, sizeof args, 1, &part, places, 0, NULL, NULL));
    CHECK(clEnqueueReadBuffer(queue, whole, CL_TRUE, 1024, sizeof data, data, 0, NULL, NULL));
    for (int i = 0; i < 64; i++) EXPECT(data[i] == (i == 63 ? 2000 : 2 * i));
    for (size_t i = 1; i <= 3; i++) CHECK(clSetMemObjectDestructorCallback(part, gone, (void *)i));
    CHECK(clReleaseMemObject(part));
    CHECK(clFinish(queue));
    EXPECT(called == 3 && order[0] == 3 && order[1] == 2 && order[2] == 1);
    // Shared memory, and a pointer in it that a kernel follows.
    struct list { int *data; int n; } *list = clSVMAlloc(context, CL_MEM_READ_WRITE, sizeof *list, 0);
    int *shared = clSVMAlloc(context, CL_MEM_READ_WRITE, 4096, 0);
    EXPECT(list && shared);
    CHECK(clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_WRITE, list, sizeof *list, 0, NULL, NULL));
    *list = (struct list){shared, 3};
    CHECK(clEnqueueSVMUnmap(queue, list, 0, NULL, NULL));
    CHECK(clEnqueueSVMMigrateMem(queue, 1, (const void *[]){shared}, NULL, 0, 0, NULL, NULL));
    cl_kernel follow = kernel_of("follow");
    CHECK(clSetKernelArgSVMPointer(follow, 0, list));
    CHECK(clSetKernelExecInfo(follow, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof shared, &shared));
    CHECK(clEnqueueNDRangeKernel(queue, follow, 1, NULL, (size_t[]){128}, NULL, 0, NULL, NULL));
    CHECK(clEnqueueSVMMemcpy(queue, CL_TRUE, data, shared, sizeof data, 0, NULL, NULL));
    for (int i = 0; i < 64; i++) EXPECT(data[i] == 3 * i);
    CHECK(clEnqueueSVMMemFill(queue, shared, &(int){9}, 4, 256, 0, NULL, NULL));
    CHECK(clFinish(queue));
    EXPECT(shared[63] == 9 && shared[64] == 192);
    CHECK(clEnqueueSVMFree(queue, 1, (void *[]){shared}, NULL, NULL, 0, NULL, NULL));
    clSVMFree(context, list);
}

// Images of every format: bytes go in and come out by every way; a colour fills as its definition says.
static void images(void) {
    cl_image_format formats[256];
    cl_uint count;
    CHECK(clGetSupportedImageFormats(context, CL_MEM_READ_WRITE, CL_MEM_OBJECT_IMAGE2D, 256, formats, &count));
    EXPECT(count >= 40 && count <= 256);
    const size_t w = 13, h = 5, at[3] = {0}, all[] = {w, h, 1};
    for (cl_uint f = 0; f < count; f++) {
        cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = w, .image_height = h};
        cl_mem image, copy;
        MADE(image, clCreateImageWithProperties(context, NULL, CL_MEM_READ_WRITE, &formats[f], &desc, NULL, &e));
        MADE(copy, clCreateImage(context, CL_MEM_READ_WRITE, &formats[f], &desc, NULL, &e));
        size_t bytes, pitch;
        CHECK(clGetImageInfo(image, CL_IMAGE_ELEMENT_SIZE, sizeof bytes, &bytes, NULL));
        unsigned char in[16 * 65], out[16 * 65];
        for (size_t i = 0; i < w * h * bytes; i++) in[i] = (unsigned char)(i * 31 + f);
        CHECK(clEnqueueWriteImage(queue, image, CL_TRUE, at, all, 0, 0, in, 0, NULL, NULL));
        cl_mem buffer = zeros((w * h * bytes + 3) / 4 * 4);
        CHECK(clEnqueueCopyImageToBuffer(queue, image, buffer, at, all, 0, 0, NULL, NULL));
        CHECK(clEnqueueCopyBufferToImage(queue, buffer, copy, 0, at, all, 0, NULL, NULL));
        const size_t there[] = {1, 1, 0}, some[] = {w - 1, h - 1, 1};
        CHECK(clEnqueueCopyImage(queue, image, copy, at, there, some, 0, NULL, NULL));
        CHECK(clEnqueueReadImage(queue, copy, CL_TRUE, at, all, 0, 0, out, 0, NULL, NULL));
        unsigned char *mapped;
        MADE(mapped, clEnqueueMapImage(queue, copy, CL_TRUE, CL_MAP_READ, at, all, &pitch, NULL, 0, NULL, NULL, &e));
        for (size_t y = 0; y < h; y++)
            for (size_t x = 0; x < w * bytes; x++) {
                // Moved by one texel each way, but for the first row and column.
                int moved = y > 0 && x >= bytes;
                unsigned char want = moved ? in[(y - 1) * w * bytes + x - bytes] : in[y * w * bytes + x];
                EXPECT(out[y * w * bytes + x] == want && mapped[y * pitch + x] == want);
            }
        CHECK(clEnqueueUnmapMemObject(queue, copy, mapped, 0, NULL, NULL));
        if (formats[f].image_channel_order == CL_RGBA && formats[f].image_channel_data_type == CL_UNORM_INT8) {
            CHECK(clEnqueueFillImage(queue, image, (float[]){0, 1, 0.5f, 2}, there, some, 0, NULL, NULL));
            CHECK(clEnqueueReadImage(queue, image, CL_TRUE, at, all, 0, 0, out, 0, NULL, NULL));
            EXPECT(!memcmp(out, in, w * 4) && !memcmp(out + (w + 1) * 4, (unsigned char[]){0, 255, 128, 255}, 4));
        }
        CHECK(clReleaseMemObject(image));
        CHECK(clReleaseMemObject(copy));
        CHECK(clReleaseMemObject(buffer));
    }
    printf("note: %u formats of images\n", count);
}

// Kernels: what they say about themselves, and copies of them.
static void kernels(void) {
    cl_uint count;
    CHECK(clCreateKernelsInProgram(program, 0, NULL, &count));
    EXPECT(count == 3);
    cl_kernel all[3], add = kernel_of("add"), shaped = kernel_of("shaped"), clone;
    CHECK(clCreateKernelsInProgram(program, 3, all, NULL));
    const struct { const char *name, *type; cl_uint space, access; cl_ulong qualifiers; } want[] = {
        {"in", "float*", CL_KERNEL_ARG_ADDRESS_GLOBAL, CL_KERNEL_ARG_ACCESS_NONE, CL_KERNEL_ARG_TYPE_CONST | CL_KERNEL_ARG_TYPE_RESTRICT},
        {"out", "float*", CL_KERNEL_ARG_ADDRESS_GLOBAL, CL_KERNEL_ARG_ACCESS_NONE, CL_KERNEL_ARG_TYPE_VOLATILE},
        {"scratch", "float4*", CL_KERNEL_ARG_ADDRESS_LOCAL, CL_KERNEL_ARG_ACCESS_NONE, 0},
        {"picture", "image2d_t", CL_KERNEL_ARG_ADDRESS_GLOBAL, CL_KERNEL_ARG_ACCESS_READ_ONLY, 0},
        {"how", "sampler_t", CL_KERNEL_ARG_ADDRESS_PRIVATE, CL_KERNEL_ARG_ACCESS_NONE, 0},
        {"table", "int*", CL_KERNEL_ARG_ADDRESS_CONSTANT, CL_KERNEL_ARG_ACCESS_NONE, CL_KERNEL_ARG_TYPE_CONST},
    };
    for (cl_uint i = 0; i < 6; i++) {
        char name[64], type[64];
        cl_uint space, access;
        cl_ulong qualifiers;
        CHECK(clGetKernelArgInfo(shaped, i, CL_KERNEL_ARG_NAME, sizeof name, name, NULL));
        CHECK(clGetKernelArgInfo(shaped, i, CL_KERNEL_ARG_TYPE_NAME, sizeof type, type, NULL));
        CHECK(clGetKernelArgInfo(shaped, i, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof space, &space, NULL));
        CHECK(clGetKernelArgInfo(shaped, i, CL_KERNEL_ARG_ACCESS_QUALIFIER, sizeof access, &access, NULL));
        CHECK(clGetKernelArgInfo(shaped, i, CL_KERNEL_ARG_TYPE_QUALIFIER, sizeof qualifiers, &qualifiers, NULL));
        if (strcmp(name, want[i].name) || strcmp(type, want[i].type) || space != want[i].space || access != want[i].access ||
            qualifiers != want[i].qualifiers) {
            fprintf(stderr, "argument %u: %s %s %x %x %llx\n", i, name, type, space, access, (unsigned long long)qualifiers);
            exit(1);
        }
    }
    size_t sizes[3], groups, wave;
    CHECK(clGetKernelWorkGroupInfo(shaped, device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof sizes, sizes, NULL));
    EXPECT(sizes[0] == 8 && sizes[1] == 2 && sizes[2] == 1);
    CHECK(clGetKernelWorkGroupInfo(add, device, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, sizeof wave, &wave, NULL));
    CHECK(clGetKernelSubGroupInfo(add, device, CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE, sizeof sizes, (size_t[]){100, 1, 1}, sizeof groups, &groups, NULL));
    EXPECT(wave == 64 && groups == 2);
    // A copy has the arguments of its time.
    cl_mem mem = zeros(256);
    int data[64];
    CHECK(clSetKernelArg(add, 0, sizeof mem, &mem));
    CHECK(clSetKernelArg(add, 1, 4, &(int){7}));
    MADE(clone, clCloneKernel(add, &e));
    CHECK(clSetKernelArg(add, 1, 4, &(int){100}));
    CHECK(clEnqueueNDRangeKernel(queue, clone, 1, NULL, (size_t[]){64}, NULL, 0, NULL, NULL));
    CHECK(clEnqueueTask(queue, add, 0, NULL, NULL));
    read_back(mem, data, sizeof data);
    EXPECT(data[0] == 107 && data[1] == 7 && data[63] == 7);
    for (int i = 0; i < 3; i++) CHECK(clReleaseKernel(all[i]));
    for (cl_kernel *k = (cl_kernel[]){add, shaped, clone, NULL}; *k; k++) CHECK(clReleaseKernel(*k));
}

static void CL_CALLBACK noted(cl_event event, cl_int status, void *data) { (void)event, *(volatile int *)data = status == CL_COMPLETE ? 1 : status; }

// Events: orders that only they impose, times, failure.
static void events(void) {
    cl_command_queue free_queue;
    MADE(free_queue, clCreateCommandQueue(context, device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE, &e));
    cl_mem mem = zeros(4);
    CHECK(clFinish(queue));
    cl_event gate, first, second, marker, barrier;
    MADE(gate, clCreateUserEvent(context, &e));
    // The second write does not wait, the first one does.
    const int numbers[] = {1, 2};
    CHECK(clEnqueueWriteBuffer(free_queue, mem, CL_FALSE, 0, 4, &numbers[0], 1, &gate, &first));
    CHECK(clEnqueueWriteBuffer(free_queue, mem, CL_TRUE, 0, 4, &numbers[1], 0, NULL, &second));
    int value;
    CHECK(clEnqueueReadBuffer(free_queue, mem, CL_TRUE, 0, 4, &value, 0, NULL, NULL));
    EXPECT(value == 2);
    volatile int seen = 0;
    CHECK(clSetEventCallback(first, CL_COMPLETE, noted, (void *)&seen));
    CHECK(clEnqueueMarkerWithWaitList(free_queue, 1, &first, &marker));
    CHECK(clEnqueueBarrierWithWaitList(free_queue, 0, NULL, &barrier));
    cl_int status;
    CHECK(clGetEventInfo(first, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
    EXPECT(status > CL_COMPLETE);
    CHECK(clSetUserEventStatus(gate, CL_COMPLETE));
    CHECK(clWaitForEvents(2, (cl_event[]){marker, barrier}));
    CHECK(clEnqueueReadBuffer(free_queue, mem, CL_TRUE, 0, 4, &value, 0, NULL, NULL));
    EXPECT(value == 1);
    while (!seen) ;
    EXPECT(seen == 1);
    cl_ulong times[5];
    for (int i = 0; i < 5; i++) CHECK(clGetEventProfilingInfo(first, CL_PROFILING_COMMAND_QUEUED + (cl_uint)i, sizeof *times, &times[i], NULL));
    EXPECT(times[0] <= times[1] && times[1] <= times[2] && times[2] <= times[3] && times[3] <= times[4]);
    // What waits for a failure fails.
    cl_event failing, failed;
    MADE(failing, clCreateUserEvent(context, &e));
    CHECK(clEnqueueReadBuffer(free_queue, mem, CL_FALSE, 0, 4, &value, 1, &failing, &failed));
    CHECK(clSetUserEventStatus(failing, -5));
    EXPECT(clWaitForEvents(1, &failed) == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    CHECK(clGetEventInfo(failed, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
    EXPECT(status < 0);
    CHECK(clEnqueueWaitForEvents(queue, 1, &first));
    CHECK(clEnqueueBarrier(queue));
    CHECK(clFlush(queue));
    CHECK(clFinish(queue));
    CHECK(clReleaseCommandQueue(free_queue));
}

int main(void) {
    cl_platform_id platform;
    CHECK(clGetPlatformIDs(1, &platform, NULL));
    CHECK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, NULL));
    MADE(context, clCreateContext(NULL, 1, &device, NULL, NULL, &e));
    MADE(queue, clCreateCommandQueue(context, device, 0, &e));
    MADE(program, clCreateProgramWithSource(context, 1, &text, NULL, &e));
    CHECK(clBuildProgram(program, 1, &device, "-cl-kernel-arg-info", NULL, NULL));
    int gone_programs = 0, gone_contexts = 0;
    CHECK(clSetProgramReleaseCallback(program, program_gone, &gone_programs));
    CHECK(clSetContextDestructorCallback(context, context_gone, &gone_contexts));
    devices();
    memory();
    images();
    kernels();
    events();
    CHECK(clUnloadCompiler());
    CHECK(clUnloadPlatformCompiler(platform));
    CHECK(clReleaseProgram(program));
    puts("PASS");
    return 0;
}
