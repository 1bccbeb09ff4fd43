// What every program here shares: calls that must succeed, checks against the host, and the closing line.
#pragma once
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

// What ends a case that has failed (cases.h), and a program that is not made of cases.
struct Failed {};
inline bool &in_case() {
  static bool is = false;
  return is;
}
[[noreturn]] inline void failed() {
  if (in_case()) throw Failed{};
  std::exit(1);
}

// A HIP call that must succeed.
#define HIP(call)                                                                                          \
  do {                                                                                                     \
    hipError_t error_ = (call);                                                                            \
    if (error_ != hipSuccess) {                                                                            \
      std::printf("FAIL %s:%d: %s: %s\n", __FILE__, __LINE__, #call, hipGetErrorString(error_));           \
      failed();                                                                                            \
    }                                                                                                      \
  } while (0)

// A condition that must hold; the rest of the arguments are printf's and say what was found.
#define CHECK(condition, ...)                                                                              \
  do {                                                                                                     \
    if (!(condition)) {                                                                                    \
      std::printf("FAIL %s:%d: %s: ", __FILE__, __LINE__, #condition);                                     \
      std::printf(__VA_ARGS__);                                                                            \
      std::printf("\n");                                                                                   \
      failed();                                                                                            \
    }                                                                                                      \
  } while (0)

// Device memory that goes when its owner does.
template <typename T> struct Device {
  T *p = nullptr;
  size_t n;
  explicit Device(size_t n) : n(n) { HIP(hipMalloc(&p, n * sizeof(T))); }
  explicit Device(const std::vector<T> &from) : Device(from.size()) { put(from); }
  Device(const Device &) = delete;
  ~Device() { (void)hipFree(p); }
  void put(const std::vector<T> &from) { HIP(hipMemcpy(p, from.data(), from.size() * sizeof(T), hipMemcpyHostToDevice)); }
  std::vector<T> get() const {
    std::vector<T> to(n);
    HIP(hipMemcpy(to.data(), p, n * sizeof(T), hipMemcpyDeviceToHost));
    return to;
  }
};

// Numbers that look random and are the same on every run (splitmix64's mixing).
inline unsigned long long mix(unsigned long long i) {
  unsigned long long z = i * 0x9e3779b97f4a7c15ull + 0x9e3779b97f4a7c15ull;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ z >> 27) * 0x94d049bb133111ebull;
  return z ^ z >> 31;
}

inline int pass() {
  std::printf("PASS\n");
  return 0;
}
