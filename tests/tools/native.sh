#!/bin/sh
# clang's --offload-arch=native asks amdgpu-arch for the GPU's architecture.
set -e
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
echo '__attribute__((global)) void k(int *p) { *p = 42; }' > k.hip
# The tools that exec puts on the path are Wavemill by other names.
wavemill=$(readlink -f "$(command -v amdgpu-arch)")
options='-x hip --offload-arch=native --cuda-device-only --no-gpu-bundle-output -nogpuinc -nogpulib -O1 -c'
clang-19 $options k.hip -o k.co
"$wavemill" inspect k.co | grep -q gfx90a
"$wavemill" run k.co --grid 1 --arg zeros:i32:1 --show 0:i32 | grep -qx 42
echo PASS
