// What the programs share.
#include <stdio.h>
#include <stdlib.h>

// A call that returns an error.
#define CHECK(e)                                                       \
    do {                                                               \
        cl_int code_ = (e);                                            \
        if (code_ != CL_SUCCESS) {                                     \
            fprintf(stderr, "%s:%d: %d\n", __FILE__, __LINE__, code_); \
            exit(1);                                                   \
        }                                                              \
    } while (0)
// What must be so.
#define EXPECT(e)                                                       \
    do {                                                                \
        if (!(e)) {                                                     \
            fprintf(stderr, "%s:%d: not %s\n", __FILE__, __LINE__, #e); \
            exit(1);                                                    \
        }                                                               \
    } while (0)
