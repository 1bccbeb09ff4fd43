// link: -g
// exit: 3
// finds: mem:read-outside mem:use-after-free mem:write-outside
// Programs that do what they must not: HIP reports each, the report names the kernel and its line, and other processes
// live on.
//
// HIP ends a process whose queue fails with abort(), so each deed is done in a child of its own, whose standard error
// the parent reads. A child that catches SIGABRT lives on and says so.
#include "common.h"
#include <atomic>
#include <csignal>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

constexpr int OUTSIDE = __LINE__ + 1;
__global__ void outside(int *p, size_t far) { p[threadIdx.x + far] = 1; }
constexpr int READS = __LINE__ + 1;
__global__ void reads(const int *p, int *out) { out[0] = p[threadIdx.x] + 1; }
constexpr int TRAPS = __LINE__ + 2;
__global__ void traps(int *p) {
  if (threadIdx.x == 3) __builtin_trap();
  p[0] = 1;
}
__global__ void fine(int *p) { p[threadIdx.x] = threadIdx.x + 1; }

static void out_of_bounds() {
  Device<int> d(1000);
  outside<<<1, 64>>>(d.p, (size_t)1 << 38);
  (void)hipDeviceSynchronize();
}

static void just_past_the_end() {
  Device<int> d(1024);
  outside<<<1, 64>>>(d.p, 1024 * 1024);
  (void)hipDeviceSynchronize();
}

static void null_argument() {
  Device<int> d(64);
  reads<<<1, 64>>>(nullptr, d.p);
  (void)hipDeviceSynchronize();
}

static void freed_memory() {
  int *p;
  HIP(hipMalloc(&p, 32 << 20));
  Device<int> d(64);
  HIP(hipFree(p));
  reads<<<1, 64>>>(p, d.p);
  (void)hipDeviceSynchronize();
}

static void trap() {
  Device<int> d(64);
  traps<<<1, 64>>>(d.p);
  (void)hipDeviceSynchronize();
}

static std::atomic<bool> caught{false};

static void park(int) {
  caught = true;
  for (;;) pause();
}

// Keeps the thread in which HIP wanted to abort, and goes on with its own work.
static void lives_on() {
  std::signal(SIGABRT, park);
  Device<int> *d = new Device<int>(64);
  traps<<<1, 64>>>(d->p);
  for (int i = 0; i < 3000 && !caught; i++) usleep(10000);
  if (caught) std::fprintf(stderr, "lives on\n");
  std::fflush(stderr);
  _exit(caught ? 7 : 8);
}

static bool good() {
  Device<int> d(64);
  fine<<<1, 64>>>(d.p);
  auto v = d.get();
  for (int i = 0; i < 64; i++)
    if (v[i] != i + 1) return false;
  return true;
}

struct Outcome {
  int status;
  std::string text;
};

static Outcome child(void (*deed)()) {
  int fd[2];
  CHECK(pipe(fd) == 0, "pipe");
  std::fflush(stdout);
  pid_t pid = fork();
  if (pid == 0) {
    close(fd[0]);
    dup2(fd[1], 2);
    deed();
    // HIP's error, if it came as one.
    hipError_t error = hipGetLastError();
    std::fprintf(stderr, "HIP says %s\n", hipGetErrorName(error));
    std::fflush(stderr);
    _exit(error == hipSuccess ? 0 : 9);
  }
  close(fd[1]);
  Outcome outcome;
  char buffer[4096];
  for (ssize_t n; (n = read(fd[0], buffer, sizeof buffer)) > 0;) outcome.text.append(buffer, n);
  close(fd[0]);
  waitpid(pid, &outcome.status, 0);
  return outcome;
}

int main() {
  struct {
    void (*deed)();
    const char *name, *kernel;
    int line;
  } deeds[] = {
      {out_of_bounds, "far out of bounds", "outside", OUTSIDE}, {just_past_the_end, "out of bounds", "outside", OUTSIDE},
      {null_argument, "null pointer", "reads", READS},          {freed_memory, "freed memory", "reads", READS},
      {trap, "trap", "traps", TRAPS},
  };
  for (auto &d : deeds) {
    auto o = child(d.deed);
    bool aborted = WIFSIGNALED(o.status) && WTERMSIG(o.status) == SIGABRT, told = WIFEXITED(o.status) && WEXITSTATUS(o.status) == 9;
    CHECK(aborted || told, "%s: status %x: %s", d.name, o.status, o.text.c_str());
    CHECK(told || o.text.find("aborting with error") != std::string::npos, "%s: HIP is silent: %s", d.name, o.text.c_str());
    CHECK(o.text.find(d.kernel) != std::string::npos, "%s: the kernel is not named: %s", d.name, o.text.c_str());
    std::string line = "bad.cpp:" + std::to_string(d.line);
    CHECK(o.text.find(line) != std::string::npos, "%s: no %s: %s", d.name, line.c_str(), o.text.c_str());
  }
  auto o = child(lives_on);
  CHECK(WIFEXITED(o.status) && WEXITSTATUS(o.status) == 7, "lives on: status %x: %s", o.status, o.text.c_str());
  CHECK(o.text.find("lives on") != std::string::npos, "%s", o.text.c_str());
  // And this process's own GPU works.
  CHECK(good(), "a good kernel afterwards");
  return pass();
}
