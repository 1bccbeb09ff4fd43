// exit: 3
// assert on the device: the message with file, line and condition, and the end of the process that did it.
#include "common.h"
#include <cassert>
#include <csignal>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

__global__ void positive(const int *p) {
  int value = p[threadIdx.x];
  assert(value > 0);
}

static void run(int last) {
  std::vector<int> v(64, 1);
  v[63] = last;
  Device<int> d(v);
  positive<<<1, 64>>>(d.p);
  HIP(hipDeviceSynchronize());
}

int main() {
  int fd[2];
  CHECK(pipe(fd) == 0, "pipe");
  pid_t pid = fork();
  if (pid == 0) {
    dup2(fd[1], 1);
    dup2(fd[1], 2);
    close(fd[0]);
    run(-1);
    _exit(0);
  }
  close(fd[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t n; (n = read(fd[0], buffer, sizeof buffer)) > 0;) text.append(buffer, n);
  int status;
  waitpid(pid, &status, 0);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "status %x: %s", status, text.c_str());
  for (auto part : {"assert.cpp:", "positive", "value > 0"})
    CHECK(text.find(part) != std::string::npos, "no `%s` in `%s`", part, text.c_str());
  run(1);
  return pass();
}
