// kernels: kernels.s
// Memory and a signal that two processes share: the child's kernel counts in the parent's memory and wakes it.
#include "common.h"
#include <sys/wait.h>

struct message {
  hsa_amd_ipc_memory_t memory;
  hsa_amd_ipc_signal_t signal;
};

static int child(int from, const char *path) {
  struct message message;
  CHECK(read(from, &message, sizeof message) == sizeof message, "no message");
  start();
  uint32_t *counter;
  hsa_signal_t signal, done;
  HSA(hsa_amd_ipc_memory_attach(&message.memory, 8192, 1, &gpu, (void **)&counter));
  HSA(hsa_amd_ipc_signal_attach(&message.signal, &signal));
  CHECK(counter[0] == 1000, "the parent's number is %u", counter[0]);
  hsa_executable_t executable = load(path);
  hsa_queue_t *queue = queue_of(64);
  void **arguments = allocate(host_pool, 64);
  *arguments = counter;
  HSA(hsa_signal_create(1, 0, NULL, &done));
  dispatch(queue, kernel(executable, "count"), 64, 64, arguments, done);
  wait_for(done);
  hsa_signal_store_screlease(signal, 0);
  HSA(hsa_amd_ipc_memory_detach(counter));
  HSA(hsa_shut_down());
  return 0;
}

int main(int count, char **argument) {
  CHECK(count == 2, "usage: %s CODE-OBJECT", argument[0]);
  int fd[2];
  CHECK(pipe(fd) == 0, "pipe");
  pid_t pid = fork();
  if (pid == 0) _exit(child(fd[0], argument[1]));
  start();
  uint32_t *counter = allocate(device_pool, 8192);
  uint32_t number = 1000;
  HSA(hsa_memory_copy(counter, &number, sizeof number));
  hsa_signal_t signal;
  HSA(hsa_amd_signal_create(1, 0, NULL, HSA_AMD_SIGNAL_IPC, &signal));
  struct message message;
  HSA(hsa_amd_ipc_memory_create(counter, 8192, &message.memory));
  HSA(hsa_amd_ipc_signal_create(signal, &message.signal));
  CHECK(write(fd[1], &message, sizeof message) == sizeof message, "write");
  wait_for(signal);
  HSA(hsa_memory_copy(&number, counter, sizeof number));
  CHECK(number == 1064, "after the child's kernel it is %u", number);
  int status;
  waitpid(pid, &status, 0);
  CHECK(status == 0, "the child's status is %x", status);
  HSA(hsa_signal_destroy(signal));
  HSA(hsa_amd_memory_pool_free(counter));
  HSA(hsa_shut_down());
  printf("PASS\n");
  return 0;
}
