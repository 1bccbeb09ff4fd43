// finds: mem:double-free mem:wrong-free
// Memory that is freed twice, and in its middle: the runtime refuses both, and lives on.
#include "common.h"

int main(void) {
  start();
  char *p = allocate(host_pool, 4096), *q = allocate(host_pool, 64);
  HSA(hsa_amd_memory_pool_free(q));
  hsa_status_t again = hsa_amd_memory_pool_free(q);
  CHECK(again == HSA_STATUS_ERROR_INVALID_ALLOCATION, "freed again: 0x%x", again);
  hsa_status_t inside = hsa_amd_memory_pool_free(p + 256);
  CHECK(inside == HSA_STATUS_ERROR_INVALID_ALLOCATION, "freed in its middle: 0x%x", inside);
  HSA(hsa_amd_memory_pool_free(p));
  HSA(hsa_shut_down());
  printf("PASS\n");
  return 0;
}
