#!/bin/sh
# unchecked: it runs kernels with `wavemill run`
# `wavemill run` on sources, with Debian's clang: OpenCL C, HIP and LLVM's IR, compiled for the GPU, once.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
# The tools that exec puts on the path are Wavemill by other names.
wavemill=$(readlink -f "$(command -v amdgpu-arch)")
export WAVEMILL_CACHE="$dir/cache"
unset WAVEMILL_GPU
cat > k.cl <<'CL'
kernel void scale(global const float *in, global float *out, float by) {
  size_t i = get_global_id(0);
  out[i] = in[i] * by;
}
CL
cat > k.hip <<'HIP'
#include <hip/hip_runtime.h>
template <class T> __device__ T twice(T x) { return x + x; }
__global__ void scale(const float *in, float *out, float by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = twice(in[i]) * by / 2;
}
HIP
cp k.hip k.cpp
cat > k.ll <<'IR'
target triple = "amdgcn-amd-amdhsa"
define amdgpu_kernel void @scale(ptr addrspace(1) %in, ptr addrspace(1) %out, float %by) {
  %i = call i32 @llvm.amdgcn.workitem.id.x()
  %from = getelementptr float, ptr addrspace(1) %in, i32 %i
  %to = getelementptr float, ptr addrspace(1) %out, i32 %i
  %x = load float, ptr addrspace(1) %from
  %y = fmul float %x, %by
  store float %y, ptr addrspace(1) %to
  ret void
}
declare i32 @llvm.amdgcn.workitem.id.x()
IR
fail() { echo "$1"; cat out said; exit 1; }
for source in k.cl k.hip k.cpp k.ll; do
  for gpu in mi210 vega10; do
    "$wavemill" run $source --gpu $gpu -v -q --grid 64 --block 64 --arg iota:f32:64 --arg zeros:f32:64 --arg f32:2.5 \
      --show 1:f32:5 > out 2> said || fail "$source on $gpu"
    [ "$(cat out)" = "0 2.5 5 7.5 10" ] || fail "$source on $gpu: results"
    # The command is shown, with the GPU's processor in it.
    case $gpu in mi210) grep -q 'clang.*gfx90a' said;; vega10) grep -q 'clang.*gfx900' said;; esac || fail "$source: -v"
  done
  echo "case: $source"
done
# Named arguments of OpenCL C, by their names in the source.
"$wavemill" run k.cl -q --grid 4 --arg by=3 --arg out=zeros:f32:4 --arg in=iota:f32:4 --show out:f32 > out 2> said || fail names
[ "$(cat out)" = "0 3 6 9" ] || fail names
echo "case: names"
# What was compiled is kept: the same again needs no compiler.
WAVEMILL_CLANG=$(command -v false) "$wavemill" run k.cl -q --grid 4 --arg iota:f32:4 --arg zeros:f32:4 --arg 3 > out 2> said && fail "another compiler is another matter"
before=$(find cache -type f | wc -l)
"$wavemill" run k.cl -q --grid 4 --arg iota:f32:4 --arg zeros:f32:4 --arg 3 > out 2> said || fail again
[ "$before" = "$(find cache -type f | wc -l)" ] || fail "compiled again"
echo "case: kept"
# What the compiler says is shown as it is, with its places.
echo 'kernel void bad(global int *p) { p[0] = nothing; }' > bad.cl
"$wavemill" run bad.cl > out 2> said && fail "a mistake"
grep -q "^bad.cl:1:41: error: use of undeclared identifier 'nothing'" said || fail messages
echo "case: messages"
# A fault in a source has its line.
"$wavemill" run k.cl --grid 64 --arg iota:f32:64 --arg zeros:f32:64 --arg 3 --arg 4 > out 2> said && fail "too many arguments"
got=0
"$wavemill" run k.cl --cflag=-g --grid 128 --arg iota:f32:64 --arg zeros:f32:128 --arg 3 > out 2> said || got=$?
[ $got = 3 ] && grep -q 'k.cl:3' said || fail "the line of a fault"
echo "case: lines"
# An empty pipe with room for six: as many of eight writes succeed, and no read does.
cat > pipe.cl <<'CL'
kernel void through(write_only pipe int to, read_only pipe int from, global int *got) {
  int value = (int)get_global_id(0);
  got[get_global_id(0)] = write_pipe(to, &value);
  got[8 + get_global_id(0)] = read_pipe(from, &value);
}
CL
"$wavemill" run pipe.cl --cflag=-cl-std=CL2.0 --gpu vega10 -q --grid 8 --arg pipe:6x4 --arg pipe:4x4 --arg zeros:i32:16 \
  --show 2:i32:16 > out 2> said || fail pipes
[ "$(cat out)" = "0 0 0 0 0 0 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1" ] || fail pipes
echo "case: pipes"
echo PASS
