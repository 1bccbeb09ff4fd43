// What the calls of printf.inc print on the host: the expectation for the kernels of printf.cl and printf.hip.

#include <math.h>
#include <stdio.h>

#define inf ((double)INFINITY)
#define nan ((double)NAN)

static const char *const names[] = {"even", "odd"};

int main(void) {
  int i = -42, zero = 0;
  unsigned u = 3000000001u;
  long l = -1234567890123;
  float f = 3.14159274f, zerof = 0;
  double d = -12345.678901234567;
  void *pointer = (void *)0x12345678UL;
#include "printf.inc"
}
