// OpenCL 2.0 binaries of AMD's Catalyst driver, through clCreateProgramWithBinary and by `wavemill run`: every set of features, with pointers of 32 and of 64
// bits, on gfx701, gfx803 and gfx900. What each kernel leaves behind is said in its source (tests/catalyst/features.s).
// link: -lOpenCL
// input: ../catalyst/features.s
// finds: race:memory-race
#define _GNU_SOURCE
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPECT(e)                                                                       \
    do {                                                                                \
        if (!(e)) {                                                                     \
            fprintf(stderr, "%s:%d: %s, %s bits\n", __FILE__, __LINE__, #e, bits);      \
            exit(1);                                                                    \
        }                                                                               \
    } while (0)
#define CHECK(e)                                                                                \
    do {                                                                                        \
        cl_int code_ = (e);                                                                     \
        if (code_ != CL_SUCCESS) {                                                              \
            fprintf(stderr, "%s:%d: %d, %s bits\n", __FILE__, __LINE__, code_, bits);           \
            exit(1);                                                                            \
        }                                                                                       \
    } while (0)

static const char *bits = "no";
static char *wavemill;
static cl_context context;
static cl_device_id device;
static cl_command_queue queue;
static cl_mem out;
static char place[] = "/tmp/catalyst-XXXXXX";

// Assembles the source for a GPU of Catalyst's.
static unsigned char *container(const char *gpu, const char *source, size_t *size) {
    char command[16384];
    snprintf(command, sizeof command,
             "(printf '.amdcl2\\n.gpu %s\\n.%sbit\\n'; cat '%s') > %s/k.s && '%s' asm %s/k.s -o %s/k.bin", gpu, bits, source,
             place, wavemill, place, place);
    EXPECT(system(command) == 0);
    snprintf(command, sizeof command, "%s/k.bin", place);
    FILE *file = fopen(command, "rb");
    EXPECT(file && !fseek(file, 0, SEEK_END));
    *size = (size_t)ftell(file);
    rewind(file);
    unsigned char *bytes = malloc(*size);
    EXPECT(bytes && fread(bytes, 1, *size, file) == *size && !fclose(file));
    return bytes;
}

// What a kernel of the container leaves in its buffer under `wavemill run`.
static void by_run(const char *name, const char *options, cl_uint *to, size_t words) {
    char command[16384];
    snprintf(command, sizeof command,
             "'%s' run %s/k.bin --kernel %s --arg zeros:u32:1024 --dump 0:%s/out %s > %s/messages 2>&1 || { cat %s/messages >&2; false; }",
             wavemill, place, name, place, options, place, place);
    EXPECT(system(command) == 0);
    snprintf(command, sizeof command, "%s/out", place);
    FILE *file = fopen(command, "rb");
    EXPECT(file && fread(to, sizeof *to, words, file) == words && !fclose(file));
}

// Other commands take the container, too: what disasm writes gives the same bytes again.
static void looked_at(void) {
    char command[32768];
    snprintf(command, sizeof command,
             "cd %s && w='%s' && \"$w\" inspect k.bin | grep -q 'binary of AMD.s Catalyst for .*, %s-bit pointers' && "
             "\"$w\" disasm k.bin | grep -q '<generic>:' && \"$w\" disasm --clrx k.bin > again.s && \"$w\" asm again.s -o again.bin && "
             "cmp k.bin again.bin && \"$w\" unbundle k.bin -o . > /dev/null && \"$w\" inspect k-gfx*.co | grep -q '^generic '",
             place, wavemill, bits);
    EXPECT(system(command) == 0);
}

static cl_kernel kernel_of(cl_program program, const char *name) {
    cl_int code;
    cl_kernel kernel = clCreateKernel(program, name, &code);
    CHECK(code);
    return kernel;
}

// Runs a kernel whose only argument is the buffer, if it has one, and fetches what it left there.
static void run(cl_program program, const char *name, const size_t *offset, cl_uint dims, const size_t *global,
                const size_t *local, cl_uint *to, size_t words) {
    cl_kernel kernel = kernel_of(program, name);
    if (to) CHECK(clSetKernelArg(kernel, 0, sizeof out, &out));
    CHECK(clEnqueueNDRangeKernel(queue, kernel, dims, offset, global, local, 0, NULL, NULL));
    CHECK(clFinish(queue));
    if (to) CHECK(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, words * sizeof *to, to, 0, NULL, NULL));
    CHECK(clReleaseKernel(kernel));
}

static void all(const char *gpu, const char *source) {
    static cl_uint got[1024];
    size_t size;
    cl_int code, status;
    unsigned char *binary = container(gpu, source, &size);
    const unsigned char *given = binary;
    cl_program program = clCreateProgramWithBinary(context, 1, &device, &size, &given, &status, &code);
    CHECK(code);
    CHECK(status);
    CHECK(clBuildProgram(program, 1, &device, "", NULL, NULL));
    // A part of it is none.
    for (size_t part = size / 4; part < size; part += size / 4) {
        cl_program broken = clCreateProgramWithBinary(context, 1, &device, &part, &given, &status, &code);
        EXPECT(!broken || clBuildProgram(broken, 1, &device, "", NULL, NULL) != CL_SUCCESS);
    }

    run(program, "none", NULL, 1, (size_t[]){256}, (size_t[]){64}, NULL, 0);
    run(program, "fetch", NULL, 1, (size_t[]){256}, (size_t[]){64}, got, 256);
    for (cl_uint i = 0; i < 256; i++) EXPECT(got[i] == i / 64 * 1000 + i % 64);

    run(program, "setup", (size_t[]){7, 0}, 2, (size_t[]){32, 4}, (size_t[]){16, 2}, got, 16 + 128);
    EXPECT(got[0] >> 16 == 2 && got[1] == (2 << 16 | 16) && got[2] == 1 && got[3] == 32 && got[4] == 4 && got[5] == 1);
    for (cl_uint i = 0; i < 128; i++) EXPECT(got[16 + i] == 100 * (i % 32 + 7));

    run(program, "enqueue", NULL, 1, (size_t[]){512}, (size_t[]){64}, got, 512);
    for (cl_uint i = 0; i < 512; i++) EXPECT(got[i] == 12 * i);

    run(program, "generic", NULL, 1, (size_t[]){128}, (size_t[]){64}, got, 128);
    for (cl_uint i = 0; i < 128; i++) EXPECT(got[i] == i % 64 * 1005);

    cl_kernel args = kernel_of(program, "args");
    cl_uint pair[] = {11, 22, 33}, vector[] = {5, 6, 7, 0};
    CHECK(clSetKernelArg(args, 0, 1, "\xfe"));
    CHECK(clSetKernelArg(args, 1, 2, "\x34\x12"));
    CHECK(clSetKernelArg(args, 2, sizeof vector, vector));
    CHECK(clSetKernelArg(args, 3, sizeof pair, pair));
    CHECK(clSetKernelArg(args, 4, 64, NULL));
    CHECK(clSetKernelArg(args, 5, sizeof out, &out));
    CHECK(clSetKernelArg(args, 6, 1, "\x09"));
    CHECK(clEnqueueNDRangeKernel(queue, args, 1, NULL, (size_t[]){64}, (size_t[]){64}, 0, NULL, NULL));
    CHECK(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, 9 * sizeof *got, got, 0, NULL, NULL));
    const cl_uint wanted[] = {5, 6, 7, 11, 22, 33, 16, 9};
    EXPECT((got[0] & 0xffff00ff) == 0x123400fe && !memcmp(got + 1, wanted, sizeof wanted));
    EXPECT(clSetKernelArg(args, 3, 8, pair) == CL_INVALID_ARG_SIZE);

    looked_at();
    // The same without a program.
    by_run("setup", "--grid 32,4 --block 16,2 --offset 7", got, 16 + 128);
    EXPECT(got[0] >> 16 == 2 && got[1] == (2 << 16 | 16) && got[2] == 1 && got[3] == 32 && got[4] == 4 && got[5] == 1);
    for (cl_uint i = 0; i < 128; i++) EXPECT(got[16 + i] == 100 * (i % 32 + 7));
    by_run("enqueue", "--grid 512 --block 64", got, 512);
    for (cl_uint i = 0; i < 512; i++) EXPECT(got[i] == 12 * i);
    by_run("generic", "--grid 128 --block 64", got, 128);
    for (cl_uint i = 0; i < 128; i++) EXPECT(got[i] == i % 64 * 1005);
    by_run("parent", "--grid 1", got, 130);
    for (cl_uint i = 0; i < 130; i++) EXPECT(got[i] == (i < 128 ? 3 * (i + 5) : 0));
    // What none has set is zero.
    by_run("fetch", "--grid 256 --block 64", got, 256);
    for (cl_uint i = 0; i < 256; i++) EXPECT(got[i] == 0);

    // It enqueues the next one.
    memset(got, 0, sizeof got);
    CHECK(clEnqueueWriteBuffer(queue, out, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL));
    run(program, "parent", NULL, 1, (size_t[]){1}, (size_t[]){1}, got, 130);
    for (cl_uint i = 0; i < 130; i++) EXPECT(got[i] == (i < 128 ? 3 * (i + 5) : 0));
    free(binary);
}

int main(int argc, char **argv) {
    // The tools that exec puts on the path are Wavemill by other names.
    char path[4096] = "";
    FILE *which = popen("readlink -f \"$(command -v amdgpu-arch)\"", "r");
    EXPECT(which && fgets(path, sizeof path, which) && !pclose(which));
    path[strcspn(path, "\n")] = 0;
    wavemill = path;
    if (argc == 2) {
        const char *gpus[][2] = {{"gfx701", "Hawaii"}, {"gfx803", "Fiji"}, {"gfx900", "GFX900"}};
        for (int i = 0; i < 3; i++) {
            char command[10000];
            snprintf(command, sizeof command, "'%s' exec --gpu %s -- '%s' '%s' %s", wavemill, gpus[i][0], argv[0], argv[1], gpus[i][1]);
            EXPECT(system(command) == 0);
        }
        puts("PASS");
        return 0;
    }
    cl_platform_id platform;
    cl_int code;
    CHECK(clGetPlatformIDs(1, &platform, NULL));
    CHECK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, NULL));
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    CHECK(code);
    queue = clCreateCommandQueueWithProperties(context, device, NULL, &code);
    CHECK(code);
    // Where kernels enqueue others.
    cl_queue_properties list[] = {
        CL_QUEUE_PROPERTIES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT, 0};
    clCreateCommandQueueWithProperties(context, device, list, &code);
    CHECK(code);
    out = clCreateBuffer(context, CL_MEM_READ_WRITE, 4096, NULL, &code);
    CHECK(code);
    EXPECT(mkdtemp(place));
    for (int i = 0; i < 2; i++) {
        bits = i ? "64" : "32";
        all(argv[2], argv[1]);
        printf("case: %s, %s bits\n", argv[2], bits);
        fflush(stdout);
    }
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", place);
    EXPECT(system(command) == 0);
    return 0;
}
