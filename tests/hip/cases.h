// Programs made of cases, each with its own check: a case that fails does not keep the others from their turn. `main` is
// here; names as arguments run these cases only.
#pragma once
#include "common.h"
#include <cstring>

struct Case {
  const char *name;
  void (*run)();
};

inline std::vector<Case> &cases() {
  static std::vector<Case> all;
  return all;
}

struct Register {
  Register(const char *name, void (*run)()) { cases().push_back({name, run}); }
};

#define CASE(name)                                                                                         \
  static void case_##name();                                                                               \
  static Register register_##name(#name, case_##name);                                                     \
  static void case_##name()

int main(int argc, char **argv) {
  int wrong = 0;
  for (const Case &c : cases()) {
    bool wanted = argc < 2;
    for (int i = 1; i < argc; i++) wanted |= !std::strcmp(argv[i], c.name);
    if (!wanted) continue;
    in_case() = true;
    try {
      c.run();
      std::printf("case: %s\n", c.name);
    } catch (Failed) {
      std::printf("FAIL %s\n", c.name);
      wrong++;
    }
  }
  if (wrong) return 1;
  return pass();
}
