#!/bin/sh
# unchecked: it runs no kernel itself
# The library that stands before AMD's compiler under `wavemill exec`: it says what AMD's says, whoever has asked before, and
# HIP programs that have started once compile nothing when they start again.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
# The tools that exec puts on the path are Wavemill by other names.
wavemill=$(readlink -f "$(command -v amdgpu-arch)")
ours=
IFS=:
for place in $LD_LIBRARY_PATH; do
  if [ -z "$ours" ] && [ -e "$place/libamd_comgr.so.2" ]; then ours=$place/libamd_comgr.so.2; fi
done
unset IFS
amds=/usr/lib/x86_64-linux-gnu/libamd_comgr.so.2
[ -n "$ours" ] && [ "$ours" != "$amds" ] || { echo "no library of ours in $LD_LIBRARY_PATH"; exit 1; }
export WAVEMILL_CACHE="$dir/cache"

# Calls of all kinds, with what comes of them.
cat > calls.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef uint64_t h;
static void *lib;
static void *find(const char *name) {
  char full[100];
  snprintf(full, sizeof full, "amd_comgr_%s", name);
  void *f = dlsym(lib, full);
  if (!f) printf("no %s\n", full), exit(1);
  return f;
}
#define F(name, ...) ((unsigned (*)(__VA_ARGS__))find(#name))
static h data(unsigned kind, const char *name, const char *bytes, size_t size) {
  h d = 0;
  unsigned s = F(create_data, unsigned, h *)(kind, &d);
  if (s) printf("create_data %u: %u\n", kind, s);
  if (bytes) F(set_data, h, size_t, const char *)(d, size, bytes);
  if (name) F(set_data_name, h, const char *)(d, name);
  return d;
}
static char *bytes(h d, size_t *size) {
  *size = 0;
  unsigned s = F(get_data, h, size_t *, char *)(d, size, NULL);
  if (s) { printf("get_data: %u\n", s); return calloc(1, 1); }
  char *b = calloc(1, *size + 1);
  F(get_data, h, size_t *, char *)(d, size, b);
  return b;
}
static void walk(h node, int depth);
static unsigned entry(h key, h value, void *depth) {
  walk(key, *(int *)depth + 1);
  walk(value, *(int *)depth + 2);
  return 0;
}
static void walk(h node, int depth) {
  unsigned kind = 9;
  unsigned s = F(get_metadata_kind, h, unsigned *)(node, &kind);
  size_t size = 0;
  printf("%*s%u %u", depth, "", s, kind);
  s = F(get_metadata_string, h, size_t *, char *)(node, &size, NULL);
  printf(" %u", s);
  if (kind == 1) {
    char text[4096] = "";
    F(get_metadata_string, h, size_t *, char *)(node, &size, text);
    printf(" %zu %s", size, text);
  }
  puts("");
  if (kind == 2) {
    F(get_metadata_map_size, h, size_t *)(node, &size);
    h v;
    printf("%*s%zu %u\n", depth, "", size, F(metadata_lookup, h, const char *, h *)(node, "nothing", &v));
    F(iterate_map_metadata, h, unsigned (*)(h, h, void *), void *)(node, entry, &depth);
  }
  if (kind == 3) {
    F(get_metadata_list_size, h, size_t *)(node, &size);
    for (size_t i = 0; i < size; i++) {
      h item;
      F(index_list_metadata, h, size_t, h *)(node, i, &item);
      walk(item, depth + 1);
      F(destroy_metadata, h)(item);
    }
    h item;
    printf("%*s%zu %u\n", depth, "", size, F(index_list_metadata, h, size_t, h *)(node, size, &item));
  }
}
static unsigned symbol(h s, void *count) {
  size_t length = 0;
  F(symbol_get_info, h, unsigned, void *)(s, 0, &length);
  char *name = calloc(1, length + 1);
  F(symbol_get_info, h, unsigned, void *)(s, 1, name);
  unsigned type = 0;
  F(symbol_get_info, h, unsigned, void *)(s, 2, &type);
  printf("symbol %s %u\n", name, type);
  free(name);
  ++*(int *)count;
  return 0;
}
static void object(h d) {
  char name[200] = "";
  size_t size = sizeof name;
  unsigned s = F(get_data_isa_name, h, size_t *, char *)(d, &size, NULL);
  printf("isa %u", s);
  if (!s) {
    F(get_data_isa_name, h, size_t *, char *)(d, &size, name);
    printf(" %zu %s", size, name);
  }
  h node = 0;
  s = F(get_data_metadata, h, h *)(d, &node);
  printf("\nmetadata %u\n", s);
  if (!s) {
    walk(node, 0);
    F(destroy_metadata, h)(node);
  }
  int count = 0;
  s = F(iterate_symbols, h, unsigned (*)(h, void *), void *)(d, symbol, &count);
  printf("symbols %u %d\n", s, count);
}
static void contents(h set) {
  for (unsigned kind = 1; kind <= 16; kind++) {
    size_t count = 0;
    unsigned s = F(action_data_count, h, unsigned, size_t *)(set, kind, &count);
    if (s || count) printf("kind %u: %u %zu\n", kind, s, count);
    for (size_t i = 0; i < count; i++) {
      h d;
      char name[200] = "";
      size_t size = sizeof name, length;
      F(action_data_get_data, h, unsigned, size_t, h *)(set, kind, i, &d);
      F(get_data_name, h, size_t *, char *)(d, &size, NULL);
      F(get_data_name, h, size_t *, char *)(d, &size, name);
      char *b = bytes(d, &length);
      // Names of temporary files are in bitcode and messages.
      bool names = kind == 5 || kind == 6;
      printf("  %s %zu %s\n", name, names ? length > 0 : length, kind == 5 && strstr(b, "undeclared") ? "undeclared" : "");
      free(b);
      F(release_data, h)(d);
    }
  }
}
static h info(unsigned language, const char *isa, const char **options, size_t count) {
  h i;
  F(create_action_info, h *)(&i);
  unsigned a = F(action_info_set_language, h, unsigned)(i, language);
  unsigned b = F(action_info_set_isa_name, h, const char *)(i, isa);
  unsigned c = F(action_info_set_option_list, h, const char **, size_t)(i, options, count);
  unsigned d = F(action_info_set_logging, h, bool)(i, true);
  printf("info %u %u %u %u\n", a, b, c, d);
  return i;
}
static h act(unsigned kind, h i, h set) {
  h result;
  F(create_data_set, h *)(&result);
  printf("action %u: %u\n", kind, F(do_action, unsigned, h, h, h)(kind, i, set, result));
  contents(result);
  return result;
}
static void build(const char *isa, const char *source, const char *header) {
  const char *options[] = {"-O3", "-mcode-object-version=4", "-mllvm", "-amdgpu-internalize-symbols"};
  const char *words[] = {"wavefrontsize64", "code_object_v4"};
  h set, i = info(1, isa, options, 2), d = data(1, "source.cl", source, strlen(source));
  F(create_data_set, h *)(&set);
  printf("add %u %u\n", F(data_set_add, h, h)(set, d), F(data_set_add, h, h)(set, d));
  if (header) F(data_set_add, h, h)(set, data(2, "a.h", header, strlen(header)));
  h headers = act(1, i, set), bc = act(2, i, headers);
  h words_info = info(1, isa, words, 2), libraries = act(3, words_info, bc), linked = act(4, words_info, libraries);
  h code = info(0, isa, options, 4), relocatable = act(6, code, linked);
  F(action_info_set_option_list, h, const char **, size_t)(code, NULL, 0);
  h executable = act(9, code, relocatable);
  for (int kind = 7; kind <= 8; kind++) {
    h found;
    if (!F(action_data_get_data, h, unsigned, size_t, h *)(kind == 7 ? relocatable : executable, kind, 0, &found)) object(found);
  }
  // A result set that has something in it already.
  printf("again %u\n", F(do_action, unsigned, h, h, h)(9, code, relocatable, headers));
  contents(headers);
  h sets[] = {set, headers, bc, libraries, linked, relocatable, executable};
  for (int s = 0; s < 7; s++) F(destroy_data_set, h)(sets[s]);
  printf("release %u\n", F(release_data, h)(d));
}
int main(int count, char **words) {
  lib = dlopen(words[1], RTLD_NOW);
  if (!lib) return puts(dlerror()), 1;
  if (count > 2 && !strcmp(words[2], "build")) {
    build("amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-", "kernel void k(global float *p) { p[get_global_id(0)] = native_sqrt(p[0]); }", NULL);
    goto end;
  }
  size_t major = 0, minor = 0, n = 0;
  ((void (*)(size_t *, size_t *))find("get_version"))(&major, &minor);
  printf("version %zu.%zu, isas %u %zu\n", major, minor, F(get_isa_count, size_t *)(&n), n);
  for (unsigned s = 0; s < 5; s++) {
    const char *text = "";
    unsigned got = F(status_string, unsigned, const char **)(s, &text);
    printf("status %u %u %s\n", s, got, text);
  }
  for (unsigned kind = 0; kind < 40; kind++) {
    h d = 0;
    unsigned s = F(create_data, unsigned, h *)(kind, &d), got = 7;
    printf("kind %u: %u %u", kind, s, F(create_data, unsigned, h *)(kind, NULL));
    if (!s) printf(" %u", F(get_data_kind, h, unsigned *)(d, &got));
    if (!s) printf(" %u %u", got, F(release_data, h)(d));
    puts("");
  }
  size_t size = 0;
  h d = data(1, NULL, NULL, 0), set;
  F(create_data_set, h *)(&set);
  printf("unnamed %u, empty %u %u\n", F(data_set_add, h, h)(set, d), F(get_data, h, size_t *, char *)(d, &size, NULL),
         F(set_data, h, size_t, const char *)(d, 0, "x"));
  F(set_data, h, size_t, const char *)(d, 5, "a\0b\0c");
  F(set_data_name, h, const char *)(d, "");
  printf("added %u\n", F(data_set_add, h, h)(set, d));
  contents(set);
  h out = 0;
  printf("get %u %u", F(action_data_get_data, h, unsigned, size_t, h *)(set, 1, 1, &out), F(action_data_count, h, unsigned, size_t *)(set, 0, &size));
  printf(" remove %u %u %u\n", F(data_set_remove, h, unsigned)(set, 0), F(data_set_remove, h, unsigned)(set, 2), F(data_set_remove, h, unsigned)(set, 1));
  contents(set);
  printf("nothing %u %u %u %u\n", F(release_data, h)(0), F(destroy_data_set, h)(0), F(destroy_action_info, h)(0), F(data_set_add, h, h)(0, d));
  h i;
  F(create_action_info, h *)(&i);
  for (unsigned language = 0; language < 5; language++) {
    unsigned got = 9;
    printf("language %u %u", language, F(action_info_set_language, h, unsigned)(i, language));
    printf(" %u %u\n", F(action_info_get_language, h, unsigned *)(i, &got), got);
  }
  const char *isas[] = {"amdgcn-amd-amdhsa--gfx90a", "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-", "amdgcn-amd-amdhsa--gfx906:xnack+",
                        "amdgcn-amd-amdhsa--gfx906:sramecc-:xnack+", "amdgcn-amd-amdhsa--gfx900", "amdgcn-amd-amdhsa--gfx803",
                        "amdgcn-amd-amdhsa--gfx1030", "amdgcn-amd-amdhsa--gfx90a:xnack-:sramecc+", "amdgcn-amd-amdhsa--gfx803:xnack+",
                        "amdgcn-amd-amdhsa--gfx90a+xnack", "gfx90a", "amdgcn-amd-amdhsa--gfx9999", "amdgcn-mesa-mesa3d--gfx900", ""};
  for (unsigned k = 0; k < sizeof isas / sizeof *isas; k++) {
    char name[200] = "";
    unsigned s = F(action_info_set_isa_name, h, const char *)(i, isas[k]);
    printf("isa `%s` %u", isas[k], s);
    if (!s && *isas[k]) {
      F(action_info_get_isa_name, h, size_t *, char *)(i, &size, NULL);
      F(action_info_get_isa_name, h, size_t *, char *)(i, &size, name);
      printf(" %zu %s", size, name);
    }
    h node;
    s = F(get_isa_metadata, const char *, h *)(isas[k], &node);
    printf(" metadata %u\n", s);
    if (!s) walk(node, 0), F(destroy_metadata, h)(node);
  }
  const char *list[] = {"-a", "", "-b c"};
  char text[100] = "";
  printf("flat %u", F(action_info_get_option_list_count, h, size_t *)(i, &size));
  printf(" %u", F(action_info_get_options, h, size_t *, char *)(i, &size, NULL));
  printf(" %zu %u", size, F(action_info_set_options, h, const char *)(i, "-x -y"));
  F(action_info_get_options, h, size_t *, char *)(i, &size, NULL);
  F(action_info_get_options, h, size_t *, char *)(i, &size, text);
  printf(" %zu %s\n", size, text);
  printf("list %u %u", F(action_info_set_option_list, h, const char **, size_t)(i, NULL, 1), F(action_info_set_option_list, h, const char **, size_t)(i, list, 3));
  printf(" %u %u %zu\n", F(action_info_get_options, h, size_t *, char *)(i, &size, NULL), F(action_info_get_option_list_count, h, size_t *)(i, &n), n);
  for (size_t k = 0; k < 4; k++) {
    memset(text, 0, sizeof text);
    unsigned s = F(action_info_get_option_list_item, h, size_t, size_t *, char *)(i, k, &size, NULL);
    if (!s) F(action_info_get_option_list_item, h, size_t, size_t *, char *)(i, k, &size, text);
    printf("item %u %zu %s\n", s, s ? 0 : size, text);
  }
  bool logging = true;
  printf("logging %u", F(action_info_get_logging, h, bool *)(i, &logging));
  printf(" %d", logging);
  printf(" path %u", F(action_info_set_working_directory_path, h, const char *)(i, "/tmp"));
  F(action_info_get_working_directory_path, h, size_t *, char *)(i, &size, NULL);
  printf(" %zu end %u\n", size, F(destroy_action_info, h)(i));
  h name = data(9, "name", "_Z3addIiEvPT_", 13), plain = 0;
  printf("demangle %u", F(demangle_symbol_name, h, h *)(name, &plain));
  printf(" %s\n", bytes(plain, &size));
  printf("release %u %u\n", F(release_data, h)(plain), F(release_data, h)(name));
  build("amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-", "kernel void k(global float *p) { p[get_global_id(0)] = native_sqrt(p[0]); }", NULL);
  build("amdgcn-amd-amdhsa--gfx906", "#include \"a.h\"\nkernel void k(global int *p) { p[0] = A; }", "#define A 1");
  build("amdgcn-amd-amdhsa--gfx906", "kernel void k(global int *p) { p[0] = undeclared; }", NULL);
  for (int k = 2; k < count; k++) {
    FILE *f = fopen(words[k], "rb");
    static char buffer[1 << 20];
    size_t length = fread(buffer, 1, sizeof buffer, f);
    printf("== %s %zu\n", words[k], length);
    h o = data(8, words[k], buffer, length);
    object(o);
    h s = 0;
    printf("lookup %u %u\n", F(symbol_lookup, h, const char *, h *)(o, "no", &s), F(symbol_lookup, h, const char *, h *)(o, "first", &s));
    printf("slice %u", F(set_data_from_file_slice, h, int, uint64_t, uint64_t)(o, fileno(f), 1, 3));
    char *b = bytes(o, &size);
    printf(" %zu %s\n", size, b);
    object(o);
    free(b);
    fclose(f);
    F(release_data, h)(o);
  }
end:
  printf("PASS\n");
  // Whether AMD's library was needed, for whoever asked.
  FILE *maps = fopen("/proc/self/maps", "r");
  char line[1000];
  bool compiler = false;
  while (fgets(line, sizeof line, maps)) compiler |= strstr(line, "libLLVM") != NULL;
  fprintf(stderr, "%s\n", compiler ? "loaded" : "not loaded");
}
C
gcc-12 -std=gnu11 -Wall -O1 calls.c -o calls
cat > two.cl <<'CL'
kernel void first(global int *p, int n, local float *l, read_only image2d_t i, double4 d) { p[n] = l[n] + d.x; }
kernel __attribute__((reqd_work_group_size(64, 1, 1))) void second(constant char *c, global int *p) { *p = *c; }
CL
objects=
for one in gfx90a:xnack+:sramecc- gfx90a gfx906 gfx803 gfx700 gfx1030; do
  for version in 3 4 5; do
    clang-15 -x cl -cl-std=CL2.0 -Xclang -finclude-default-header -target amdgcn-amd-amdhsa -nogpulib -O2 "-mcpu=$one" \
      "-mcode-object-version=$version" two.cl -o "$one-$version.co" 2> said || { cat said; exit 1; }
    objects="$objects $one-$version.co"
  done
done
clang-15 -x cl -cl-std=CL2.0 -Xclang -finclude-default-header -target amdgcn-amd-amdhsa -nogpulib -c -mcpu=gfx900 two.cl -o part.o
echo garbage > garbage.co
objects="$objects part.o garbage.co"

# case NAME FILE: a file that is AMD's answers to the letter.
same() {
  diff amds "$2" > differences || { echo "$1:"; head -50 differences; exit 1; }
  echo "case: $1"
}
./calls "$amds" $objects > amds 2> said
tail -n 1 amds | grep -q PASS
./calls "$ours" $objects > first 2> said
same first first
./calls "$ours" $objects > second 2> said
same second second
WAVEMILL_COMGR=0 ./calls "$ours" $objects > off 2> said
same off off
# Wherever somebody has written to it, it is as if it were not there.
for file in cache/comgr/*; do printf x | dd of="$file" bs=1 seek=100 conv=notrunc 2> said; done
./calls "$ours" $objects > damaged 2> said
same damaged damaged

# What was compiled is not compiled again, nor is the compiler loaded.
./calls "$amds" build > amds 2> said
for run in made kept; do ./calls "$ours" build > $run 2> "$run.said"; same $run $run; done
grep -q '^loaded' made.said

# HIP programs: the second start compiles nothing.
cat > p.hip <<'HIP'
#include <hip/hip_runtime.h>
#include <cstdio>
__global__ void add(int *p) { p[threadIdx.x] += threadIdx.x; }
int main() {
  int *p, got[64];
  if (hipMalloc(&p, sizeof got) != hipSuccess || hipMemset(p, 1, sizeof got) != hipSuccess) return 9;
  add<<<1, 64>>>(p);
  if (hipMemcpy(got, p, sizeof got, hipMemcpyDeviceToHost) != hipSuccess) return 10;
  for (int i = 0; i < 64; i++) std::printf("%d ", got[i]);
  FILE *maps = std::fopen("/proc/self/maps", "r");
  char line[1000];
  bool compiler = false;
  while (std::fgets(line, sizeof line, maps)) compiler |= __builtin_strstr(line, "libLLVM") != nullptr;
  std::fprintf(stderr, "%s\n", compiler ? "loaded" : "not loaded");
}
HIP
hipcc --offload-arch=gfx90a -O2 p.hip -o p
export WAVEMILL_CACHE="$dir/hip"
WAVEMILL_COMGR=0 "$wavemill" exec -- ./p > amds 2> said
grep -q '^loaded' said
"$wavemill" exec -- ./p > out 2> said
same hip-first out
grep -q '^loaded' said
"$wavemill" exec -- ./p > out 2> said
same hip-second out
grep -q '^not loaded' said
# So does another program, and many at once do not disturb each other.
cp p q
"$wavemill" exec -- ./q > out 2> said
grep -q '^not loaded' said
export WAVEMILL_CACHE="$dir/many"
for n in 1 2 3 4 5 6 7 8; do "$wavemill" exec -- ./p > "out$n" 2> "said$n" & done
wait
for n in 1 2 3 4 5 6 7 8; do diff amds "out$n"; done
"$wavemill" exec -- ./p > out 2> said
same hip-many out
grep -q '^not loaded' said
echo PASS
