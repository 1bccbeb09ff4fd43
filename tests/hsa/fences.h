// A dispatch whose packet acquires and releases for its GPU alone, between copies of the host: with barrier packets around it
// that do so for the system (FENCED), all is well.
#include "common.h"

// A barrier packet that waits for what comes before it, with fences, and signals.
static void barrier(hsa_queue_t *queue, uint32_t acquire, uint32_t release, hsa_signal_t done) {
  uint64_t index = hsa_queue_add_write_index_screlease(queue, 1);
  hsa_barrier_and_packet_t *packet = (hsa_barrier_and_packet_t *)queue->base_address + (index & (queue->size - 1));
  memset((char *)packet + 4, 0, sizeof *packet - 4);
  packet->completion_signal = done;
  uint32_t header = header_of(HSA_PACKET_TYPE_BARRIER_AND, acquire, release) | 1u << HSA_PACKET_HEADER_BARRIER;
  __atomic_store_n((uint32_t *)packet, header, __ATOMIC_RELEASE);
  hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
}

int main(int count, char **argument) {
  CHECK(count == 2, "usage: %s CODE-OBJECT", argument[0]);
  start();
  enum { N = 128 };
  int *a = allocate(device_pool, N * sizeof(int)), *b = allocate(device_pool, N * sizeof(int)), *c = allocate(device_pool, N * sizeof(int));
  int *back = allocate(host_pool, N * sizeof(int));
  struct arguments {
    int *a, *b, *c;
  } *arguments = allocate(host_pool, sizeof *arguments);
  arguments->a = a, arguments->b = b, arguments->c = c;
  hsa_executable_t executable = load(argument[1]);
  hsa_queue_t *queue = queue_of(64);
  hsa_signal_t none = {0}, done;
  HSA(hsa_signal_create(1, 0, NULL, &done));

  for (int i = 0; i < N; i++) back[i] = i;
  HSA(hsa_amd_memory_fill(a, 1000, N));
  HSA(hsa_memory_copy(b, back, N * sizeof(int)));
  if (FENCED) barrier(queue, HSA_FENCE_SCOPE_SYSTEM, HSA_FENCE_SCOPE_NONE, none);
  uint32_t header = header_of(HSA_PACKET_TYPE_KERNEL_DISPATCH, HSA_FENCE_SCOPE_AGENT, HSA_FENCE_SCOPE_AGENT);
  uint64_t add = kernel(executable, "add");
  // c = a + b, and then c = c + b: what one dispatch leaves for the next is a matter of the GPU.
  dispatch_as(queue, header | 1u << HSA_PACKET_HEADER_BARRIER, add, N, 64, 0, 0, arguments, none);
  struct arguments *more = allocate(host_pool, sizeof *more);
  more->a = c, more->b = b, more->c = c;
  dispatch_as(queue, header | 1u << HSA_PACKET_HEADER_BARRIER, add, N, 64, 0, 0, more, FENCED ? none : done);
  if (FENCED) barrier(queue, HSA_FENCE_SCOPE_NONE, HSA_FENCE_SCOPE_SYSTEM, done);
  wait_for(done);
  HSA(hsa_memory_copy(back, c, N * sizeof(int)));
  for (int i = 0; i < N; i++) CHECK(back[i] == 1000 + 2 * i, "%d: %d", i, back[i]);

  HSA(hsa_signal_destroy(done));
  HSA(hsa_queue_destroy(queue));
  HSA(hsa_executable_destroy(executable));
  for (void **p = (void *[]){a, b, c, back, arguments, more, NULL}; *p; p++) HSA(hsa_amd_memory_pool_free(*p));
  HSA(hsa_shut_down());
  printf("PASS\n");
  return 0;
}
