// What the C programs here share: calls that must succeed, the GPU with its pools, kernels, and packets.
#pragma once
#define _GNU_SOURCE
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// An HSA call that must succeed.
#define HSA(call)                                                                                          \
  do {                                                                                                     \
    hsa_status_t status_ = (call);                                                                         \
    if (status_ != HSA_STATUS_SUCCESS) {                                                                   \
      printf("FAIL %s:%d: %s: status 0x%x\n", __FILE__, __LINE__, #call, status_);                         \
      exit(1);                                                                                             \
    }                                                                                                      \
  } while (0)

// A condition that must hold; the rest of the arguments are printf's.
#define CHECK(condition, ...)                                                                              \
  do {                                                                                                     \
    if (!(condition)) {                                                                                    \
      printf("FAIL %s:%d: %s: ", __FILE__, __LINE__, #condition);                                          \
      printf(__VA_ARGS__);                                                                                 \
      printf("\n");                                                                                        \
      exit(1);                                                                                             \
    }                                                                                                      \
  } while (0)

static hsa_agent_t gpu, cpu;
static hsa_amd_memory_pool_t device_pool, host_pool;

static hsa_status_t see_agent(hsa_agent_t agent, void *data) {
  (void)data;
  hsa_device_type_t type;
  HSA(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
  hsa_agent_t *slot = type == HSA_DEVICE_TYPE_GPU ? &gpu : &cpu;
  if (slot->handle == 0) *slot = agent;
  return HSA_STATUS_SUCCESS;
}

static hsa_status_t see_pool(hsa_amd_memory_pool_t pool, void *data) {
  hsa_amd_memory_pool_t *slot = data;
  hsa_amd_segment_t segment;
  HSA(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment));
  if (segment == HSA_AMD_SEGMENT_GLOBAL && slot->handle == 0) *slot = pool;
  return HSA_STATUS_SUCCESS;
}

// Starts the runtime and finds the first GPU, the first CPU, and a pool of each.
static inline void start(void) {
  HSA(hsa_init());
  HSA(hsa_iterate_agents(see_agent, NULL));
  CHECK(gpu.handle && cpu.handle, "agents");
  HSA(hsa_amd_agent_iterate_memory_pools(gpu, see_pool, &device_pool));
  HSA(hsa_amd_agent_iterate_memory_pools(cpu, see_pool, &host_pool));
  CHECK(device_pool.handle && host_pool.handle, "pools");
}

// Memory in a pool that the GPU may use.
static inline void *allocate(hsa_amd_memory_pool_t pool, size_t size) {
  void *p;
  HSA(hsa_amd_memory_pool_allocate(pool, size, 0, &p));
  if (pool.handle == host_pool.handle) HSA(hsa_amd_agents_allow_access(1, &gpu, NULL, p));
  return p;
}

// Loads a code object from a file.
static inline hsa_executable_t load(const char *path) {
  FILE *file = fopen(path, "rb");
  CHECK(file, "%s", path);
  hsa_code_object_reader_t reader;
  HSA(hsa_code_object_reader_create_from_file(fileno(file), &reader));
  hsa_executable_t executable;
  HSA(hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL, &executable));
  HSA(hsa_executable_load_agent_code_object(executable, gpu, reader, NULL, NULL));
  HSA(hsa_executable_freeze(executable, NULL));
  HSA(hsa_code_object_reader_destroy(reader));
  fclose(file);
  return executable;
}

// The handle of a kernel, for packets.
static inline uint64_t kernel(hsa_executable_t executable, const char *name) {
  char symbol_name[128];
  snprintf(symbol_name, sizeof symbol_name, "%s.kd", name);
  hsa_executable_symbol_t symbol;
  HSA(hsa_executable_get_symbol_by_name(executable, symbol_name, &gpu, &symbol));
  uint64_t object;
  HSA(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &object));
  return object;
}

// The header of a packet with its fences.
static inline uint32_t header_of(uint32_t type, uint32_t acquire, uint32_t release) {
  return type << HSA_PACKET_HEADER_TYPE | acquire << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE | release << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE;
}

// Writes a one-dimensional dispatch with LDS, private memory and a header, and rings the doorbell; waits for room in the queue first.
static inline void dispatch_as(hsa_queue_t *queue, uint32_t header, uint64_t object, uint32_t grid, uint16_t group, uint32_t lds,
                               uint32_t private_bytes, void *arguments, hsa_signal_t done) {
  uint64_t index = hsa_queue_add_write_index_screlease(queue, 1);
  while (index - hsa_queue_load_read_index_scacquire(queue) >= queue->size) sched_yield();
  hsa_kernel_dispatch_packet_t *packet = (hsa_kernel_dispatch_packet_t *)queue->base_address + (index & (queue->size - 1));
  memset((char *)packet + 4, 0, sizeof *packet - 4);
  packet->workgroup_size_x = group;
  packet->workgroup_size_y = packet->workgroup_size_z = 1;
  packet->grid_size_x = grid;
  packet->grid_size_y = packet->grid_size_z = 1;
  packet->group_segment_size = lds;
  packet->private_segment_size = private_bytes;
  packet->kernel_object = object;
  packet->kernarg_address = arguments;
  packet->completion_signal = done;
  __atomic_store_n((uint32_t *)packet, header | 1u << 16, __ATOMIC_RELEASE);
  hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
}

// The same with fences of system scope.
static inline void dispatch_with(hsa_queue_t *queue, uint64_t object, uint32_t grid, uint16_t group, uint32_t lds, uint32_t private_bytes,
                                 void *arguments, hsa_signal_t done) {
  uint32_t header = header_of(HSA_PACKET_TYPE_KERNEL_DISPATCH, HSA_FENCE_SCOPE_SYSTEM, HSA_FENCE_SCOPE_SYSTEM);
  dispatch_as(queue, header, object, grid, group, lds, private_bytes, arguments, done);
}

// The same without LDS and private memory.
static inline void dispatch(hsa_queue_t *queue, uint64_t object, uint32_t grid, uint16_t group, void *arguments, hsa_signal_t done) {
  dispatch_with(queue, object, grid, group, 0, 0, arguments, done);
}

static inline hsa_queue_t *queue_of(uint32_t size) {
  hsa_queue_t *queue;
  HSA(hsa_queue_create(gpu, size, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX, UINT32_MAX, &queue));
  return queue;
}

static inline void wait_for(hsa_signal_t signal) {
  while (hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) >= 1) {}
}

static inline double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Memory of this process in kilobytes, as the kernel counts it.
static inline long resident(void) {
  FILE *file = fopen("/proc/self/statm", "r");
  long total = 0, pages = 0;
  if (file && fscanf(file, "%ld %ld", &total, &pages) != 2) pages = 0;
  if (file) fclose(file);
  return pages * (sysconf(_SC_PAGESIZE) / 1024);
}
