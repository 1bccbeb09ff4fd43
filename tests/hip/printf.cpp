// printf on the device: what comes out of standard output, with every kind of argument.
#include "common.h"
#include <string>
#include <unistd.h>
#include <algorithm>

__global__ void hello() {
  int lane = threadIdx.x, lanes = blockDim.x;
  if (lane % 40 == 0) printf("lane %d of %d says %s\n", lane, lanes, lane ? "more" : "hello");
}

__global__ void kinds(double d, long long w, const void *p) {
  printf("%5d|%-5u|%x|%c|%%|%.3f|%g|%lld|%s|%p\n", -42, 42u, 0xbeef, 'w', d, d * 1e10, w, "text", p);
  printf("no arguments\n");
}

// Runs kernels with standard output in a file and gives what was written there.
template <typename F> std::string captured(F run) {
  std::fflush(stdout);
  FILE *file = std::tmpfile();
  int out = dup(1);
  dup2(fileno(file), 1);
  run();
  std::fflush(stdout);
  dup2(out, 1);
  close(out);
  std::string text;
  std::rewind(file);
  for (int c; (c = std::fgetc(file)) != EOF;) text += (char)c;
  std::fclose(file);
  return text;
}

int main() {
  std::string text = captured([] {
    hello<<<1, 128>>>();
    HIP(hipDeviceSynchronize());
  });
  for (auto line : {"lane 0 of 128 says hello\n", "lane 40 of 128 says more\n", "lane 80 of 128 says more\n", "lane 120 of 128 says more\n"})
    CHECK(text.find(line) != std::string::npos, "no `%s` in `%s`", line, text.c_str());
  CHECK(std::count(text.begin(), text.end(), '\n') == 4, "`%s`", text.c_str());

  text = captured([] {
    kinds<<<1, 1>>>(3.25, -12345678901234ll, (void *)0x1234);
    HIP(hipDeviceSynchronize());
  });
  char want[256];
  std::snprintf(want, sizeof want, "%5d|%-5u|%x|%c|%%|%.3f|%g|%lld|%s|%p\nno arguments\n", -42, 42u, 0xbeef, 'w', 3.25, 3.25e10,
                -12345678901234ll, "text", (void *)0x1234);
  CHECK(text == want, "`%s`, not `%s`", text.c_str(), want);

  // Many lines, from many work-groups.
  text = captured([] {
    hello<<<50, 64>>>();
    HIP(hipDeviceSynchronize());
  });
  CHECK(std::count(text.begin(), text.end(), '\n') == 100, "%zu lines", (size_t)std::count(text.begin(), text.end(), '\n'));
  return pass();
}
