// exec: --gpu fiji
// kernels: legacy.s
// A GPU before GFX9: its queues' doorbells are of the legacy kind, for the host and for kernels that enqueue kernels.
#include "common.h"
#include <hsa/amd_hsa_queue.h>
#include <hsa/amd_hsa_signal.h>

int main(int count, char **argument) {
  CHECK(count == 2, "usage: %s CODE-OBJECT", argument[0]);
  start();
  char name[64];
  HSA(hsa_agent_get_info(gpu, HSA_AGENT_INFO_NAME, name));
  CHECK(strcmp(name, "gfx803") == 0, "%s", name);
  hsa_executable_t executable = load(argument[1]);
  hsa_queue_t *queue = queue_of(64);
  amd_signal_t *bell = (amd_signal_t *)queue->doorbell_signal.handle;
  CHECK(bell->kind == AMD_SIGNAL_KIND_LEGACY_DOORBELL, "the doorbell's kind is %ld", bell->kind);

  uint32_t *counter = allocate(host_pool, 64);
  *counter = 0;
  void **counting = allocate(host_pool, 64);
  *counting = counter;
  // From the host.
  hsa_signal_t done;
  HSA(hsa_signal_create(200, 0, NULL, &done));
  for (int i = 0; i < 200; i++) dispatch(queue, kernel(executable, "count"), 64, 64, counting, done);
  wait_for(done);
  CHECK(*counter == 200 * 64, "the host's dispatches counted %u", *counter);

  // From kernels: forty work-groups, of which each enqueues one dispatch to another queue.
  hsa_queue_t *other = queue_of(64);
  hsa_signal_store_relaxed(done, 40);
  hsa_kernel_dispatch_packet_t *packet = allocate(host_pool, sizeof *packet);
  memset(packet, 0, sizeof *packet);
  packet->header = HSA_PACKET_TYPE_KERNEL_DISPATCH;
  packet->setup = 1;
  packet->workgroup_size_x = 64, packet->workgroup_size_y = packet->workgroup_size_z = 1;
  packet->grid_size_x = 64, packet->grid_size_y = packet->grid_size_z = 1;
  packet->kernel_object = kernel(executable, "count");
  packet->kernarg_address = counting;
  packet->completion_signal = done;
  void **arguments = allocate(host_pool, 64);
  arguments[0] = other, arguments[1] = packet;
  hsa_signal_t none = {0};
  dispatch(queue, kernel(executable, "enqueue"), 40, 1, arguments, none);
  wait_for(done);
  CHECK(*counter == 240 * 64, "with the kernels' it is %u", *counter);
  HSA(hsa_queue_destroy(queue));
  HSA(hsa_queue_destroy(other));
  HSA(hsa_shut_down());
  printf("PASS\n");
  return 0;
}
