#!/bin/sh
# CMake's HIP language: it asks for the GPU's architecture, compiles for it, and what it has built runs.
set -e
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
cat > CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.21)
project(answer LANGUAGES CXX HIP)
add_executable(answer answer.hip)
CMAKE
cat > answer.hip <<'HIP'
#include <hip/hip_runtime.h>
#include <cstdio>
__global__ void answer(int *out) { out[threadIdx.x] = 6 * threadIdx.x; }
int main() {
  int *out, host[64];
  if (hipMalloc(&out, sizeof host) != hipSuccess) return 1;
  answer<<<1, 64>>>(out);
  if (hipMemcpy(host, out, sizeof host, hipMemcpyDeviceToHost) != hipSuccess) return 1;
  std::printf("%d\n", host[7]);
}
HIP
# Debian's HIP is in directories where CMake does not look for ROCm's.
libraries=/usr/lib/x86_64-linux-gnu
mkdir -p rocm/lib
ln -s /usr/include rocm/include
ln -s "$libraries/cmake" rocm/lib/cmake
export CMAKE_PREFIX_PATH="$libraries/cmake:$libraries" amd_comgr_DIR="$libraries/cmake/amd_comgr"
export HIPFLAGS="--rocm-path=/usr --rocm-device-lib-path=$libraries/amdgcn/bitcode"
cmake -B build -DCMAKE_HIP_COMPILER=/usr/bin/clang++-15 -DCMAKE_HIP_COMPILER_ROCM_ROOT="$dir/rocm" > configured 2>&1 || { cat configured; exit 1; }
grep -q '^CMAKE_HIP_ARCHITECTURES:STRING=gfx90a$' build/CMakeCache.txt
cmake --build build > built 2>&1 || { cat built; exit 1; }
[ "$(build/answer)" = 42 ]
echo PASS
