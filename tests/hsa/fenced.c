// kernels: kernels.s
// The same packets, with barrier packets around them whose fences are wide enough.
#define FENCED 1
#include "fences.h"
