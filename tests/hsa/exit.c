// finds: sync:never-ends
// kernels: kernels.s
// The process ends while kernels run that never would: by return, by exit in another thread, by hsa_shut_down, and by
// a signal; each in a child, which must be gone soon with its own status.
#include "common.h"
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

static const char *path;

static void busy(void) {
  start();
  hsa_executable_t executable = load(path);
  uint64_t forever = kernel(executable, "forever");
  hsa_signal_t none = {0};
  for (int k = 0; k < 4; k++) {
    hsa_queue_t *queue = queue_of(64);
    for (int i = 0; i < 3; i++) dispatch(queue, forever, 64 * 300, 64, NULL, none);
  }
  usleep(20000);
}

static void *leave(void *data) {
  exit((int)(long)data);
  return NULL;
}

static void by_exit(void) {
  busy();
  exit(11);
}

static void by_thread(void) {
  busy();
  pthread_t thread;
  pthread_create(&thread, NULL, leave, (void *)12L);
  for (;;) pause();
}

static void by_shut_down(void) {
  busy();
  HSA(hsa_shut_down());
  exit(13);
}

static void by_signal(void) {
  busy();
  raise(SIGTERM);
}

static void by_inactivation(void) {
  start();
  hsa_executable_t executable = load(path);
  hsa_queue_t *queue = queue_of(64);
  hsa_signal_t none = {0};
  dispatch(queue, kernel(executable, "forever"), 64, 64, NULL, none);
  usleep(20000);
  HSA(hsa_queue_inactivate(queue));
  HSA(hsa_queue_destroy(queue));
  HSA(hsa_executable_destroy(executable));
  HSA(hsa_shut_down());
  exit(14);
}

int main(int count, char **argument) {
  CHECK(count == 2, "usage: %s CODE-OBJECT", argument[0]);
  path = argument[1];
  struct {
    void (*way)(void);
    const char *name;
    int status;
  } ways[] = {
      {by_exit, "exit", 11 << 8}, {by_thread, "exit in a thread", 12 << 8}, {by_shut_down, "hsa_shut_down", 13 << 8},
      {by_inactivation, "hsa_queue_inactivate", 14 << 8}, {by_signal, "a signal", SIGTERM},
  };
  for (unsigned i = 0; i < sizeof ways / sizeof *ways; i++) {
    double t = seconds();
    pid_t pid = fork();
    if (pid == 0) {
      alarm(20);
      ways[i].way();
      _exit(99);
    }
    int status;
    waitpid(pid, &status, 0);
    t = seconds() - t;
    CHECK(status == ways[i].status, "%s: status %x", ways[i].name, status);
    CHECK(t < 5, "%s took %.1f s", ways[i].name, t);
  }
  printf("PASS\n");
  return 0;
}
