// kernels: kernels.s
// A plain C program against hsa.h: agents, memory, a code object from a file, a kernel, a copy, and the end.
#include "common.h"

int main(int count, char **argument) {
  CHECK(count == 2, "usage: %s CODE-OBJECT", argument[0]);
  start();
  char name[64], vendor[64];
  HSA(hsa_agent_get_info(gpu, HSA_AGENT_INFO_NAME, name));
  HSA(hsa_agent_get_info(gpu, HSA_AGENT_INFO_VENDOR_NAME, vendor));
  CHECK(strcmp(name, "gfx90a") == 0 && strcmp(vendor, "AMD") == 0, "%s by %s", name, vendor);

  const uint32_t n = 640;
  int *a = allocate(host_pool, n * sizeof(int)), *b = allocate(device_pool, n * sizeof(int)), *c = allocate(device_pool, n * sizeof(int));
  int *back = allocate(host_pool, n * sizeof(int));
  for (uint32_t i = 0; i < n; i++) a[i] = back[i] = (int)i * 3;
  HSA(hsa_memory_copy(b, back, n * sizeof(int)));
  struct {
    int *a, *b, *c;
  } *arguments = allocate(host_pool, sizeof *arguments);
  arguments->a = a, arguments->b = b, arguments->c = c;

  hsa_executable_t executable = load(argument[1]);
  hsa_queue_t *queue = queue_of(64);
  hsa_signal_t done, copied;
  HSA(hsa_signal_create(1, 0, NULL, &done));
  HSA(hsa_signal_create(1, 0, NULL, &copied));
  HSA(hsa_amd_profiling_set_profiler_enabled(queue, 1));
  dispatch(queue, kernel(executable, "add"), n, 64, arguments, done);
  // The copy waits for the kernel.
  HSA(hsa_amd_memory_async_copy(back, cpu, c, gpu, n * sizeof(int), 1, &done, copied));
  wait_for(copied);
  for (uint32_t i = 0; i < n; i++) CHECK(back[i] == (int)i * 6, "%u: %d", i, back[i]);
  hsa_amd_profiling_dispatch_time_t time;
  HSA(hsa_amd_profiling_get_dispatch_time(gpu, done, &time));
  CHECK(time.start > 0 && time.end >= time.start, "times %lu to %lu", time.start, time.end);

  HSA(hsa_signal_destroy(done));
  HSA(hsa_signal_destroy(copied));
  HSA(hsa_queue_destroy(queue));
  HSA(hsa_executable_destroy(executable));
  for (void **p = (void *[]){a, b, c, back, arguments, NULL}; *p; p++) HSA(hsa_amd_memory_pool_free(*p));
  HSA(hsa_shut_down());
  printf("PASS\n");
  return 0;
}
