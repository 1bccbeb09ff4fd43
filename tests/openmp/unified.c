// exec: --xnack
// only: clang
// OpenMP's unified shared memory: no maps, the host's pointers in target regions, atomics that both sides see.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#pragma omp requires unified_shared_memory

typedef struct Node {
  struct Node *next;
  int value;
} Node;

static int global = 5;

int main(void) {
  const int n = 5000;
  int *a = malloc(n * sizeof *a), sum = 0, host = 1;
  for (int i = 0; i < n; i++) a[i] = i;
#pragma omp target map(from : host)
  host = omp_is_initial_device();
  if (host) return printf("FAIL the target region ran on the host\n"), 1;
#pragma omp target teams distribute parallel for
  for (int i = 0; i < n; i++) a[i] *= 2;
  for (int i = 0; i < n; i++)
    if (a[i] != 2 * i) return printf("FAIL a[%d] is %d\n", i, a[i]), 1;
  // A list with pointers of the host, nothing of which is mapped.
  Node *list = NULL;
  for (int i = 0; i < 100; i++) {
    Node *node = malloc(sizeof *node);
    node->next = list, node->value = i;
    list = node;
  }
#pragma omp target map(tofrom : sum)
  for (Node *node = list; node; node = node->next) sum += node->value++;
  if (sum != 4950 || list->value != 100) return printf("FAIL the sum is %d, the first %d\n", sum, list->value), 1;
  int *p = &global;
#pragma omp target is_device_ptr(p)
  *p += 1;
  if (global != 6) return printf("FAIL the variable is %d\n", global), 1;
  printf("PASS\n");
  fflush(stdout);
  // Not exit: LLVM 15's plugin for AMD GPUs uses its own state after that has been destroyed (llvm-project issue 56856).
  _Exit(0);
}
