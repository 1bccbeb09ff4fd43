// Debian's CLBlast: products of matrices and vectors, compared with the host.
// link: -lclblast -lOpenCL
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <clblast_c.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(e)                                             \
    do {                                                     \
        int code = (int)(e);                                 \
        if (code) {                                          \
            printf("%s:%d: %d\n", __FILE__, __LINE__, code); \
            exit(1);                                         \
        }                                                    \
    } while (0)

enum { M = 33, N = 48, K = 65 };

static cl_context context;
static cl_command_queue queue;

static cl_mem upload(const float *from, size_t count) {
    cl_int code;
    cl_mem made = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, count * sizeof *from, (void *)from, &code);
    CHECK(code);
    return made;
}

int main(void) {
    cl_platform_id platform;
    cl_device_id device;
    cl_int code;
    CHECK(clGetPlatformIDs(1, &platform, NULL));
    CHECK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    CHECK(code);
    queue = clCreateCommandQueue(context, device, 0, &code);
    CHECK(code);
    static float a[M * K], b[K * N], c[M * N], x[N], y[M];
    for (int i = 0; i < M * K; i++) a[i] = (float)(i % 13) - 6;
    for (int i = 0; i < K * N; i++) b[i] = (float)(i % 7) - 3;
    for (int i = 0; i < M * N; i++) c[i] = (float)(i % 5);
    for (int i = 0; i < N; i++) x[i] = (float)(i % 3);
    cl_mem da = upload(a, M * K), db = upload(b, K * N), dc = upload(c, M * N), dx = upload(x, N), dy = upload(y, M);
    // C = 2 A B + 0.5 C, then y = C x, both in whole numbers and halves, so that there is nothing to round.
    CHECK(CLBlastSgemm(CLBlastLayoutRowMajor, CLBlastTransposeNo, CLBlastTransposeNo, M, N, K, 2, da, 0, K, db, 0, N, 0.5f, dc, 0, N, &queue, NULL));
    CHECK(CLBlastSgemv(CLBlastLayoutRowMajor, CLBlastTransposeNo, M, N, 1, dc, 0, N, dx, 0, 1, 0, dy, 0, 1, &queue, NULL));
    static float got[M * N], sums[M];
    CHECK(clEnqueueReadBuffer(queue, dc, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL));
    CHECK(clEnqueueReadBuffer(queue, dy, CL_TRUE, 0, sizeof sums, sums, 0, NULL, NULL));
    int wrong = 0;
    for (int i = 0; i < M; i++) {
        float row = 0;
        for (int j = 0; j < N; j++) {
            float sum = 0;
            for (int k = 0; k < K; k++) sum += a[i * K + k] * b[k * N + j];
            float want = 2 * sum + 0.5f * c[i * N + j];
            wrong += got[i * N + j] != want;
            row += want * x[j];
        }
        wrong += sums[i] != row;
    }
    printf("note: %d of %d wrong\n", wrong, M * N + M);
    puts(wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
