#!/bin/sh
# unchecked: it looks at programs with and without checks itself
# What a HIP program's end says under `wavemill exec`, and what is said about it: exit statuses, kernels that never end,
# Ctrl-C, faults, findings, traces, and code for another GPU.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
cat > p.hip <<'HIP'
#include <hip/hip_runtime.h>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>
__global__ void fine(int *p) {
  p[threadIdx.x] = threadIdx.x;
}
__global__ void faulty(int *p) {
  p[threadIdx.x + (1 << 28)] = 1;
}
template <class T> __global__ void endless(volatile T *p) {
  if (threadIdx.x >= 64) __syncthreads();
  else while (p[0] == 0) {}
}
__global__ void racy(int *p) {
  __shared__ int s[128];
  s[threadIdx.x] = threadIdx.x;
  p[threadIdx.x] = s[127 - threadIdx.x];
}
int main(int count, char **words) {
  const char *what = count > 1 ? words[1] : "fine";
  // HIP ends a process whose kernel faults: a program ends well all the same if that was a child of its own.
  if (!std::strcmp(what, "child")) {
    pid_t child = fork();
    if (child) { waitpid(child, nullptr, 0); return 0; }
    what = "faulty";
  }
  int *p;
  if (hipMalloc(&p, 512) != hipSuccess || hipMemset(p, 0, 512) != hipSuccess) {
    std::printf("no memory\n");
    return 9;
  }
  if (!std::strcmp(what, "faulty")) faulty<<<1, 64>>>(p);
  else if (!std::strcmp(what, "racy")) racy<<<1, 128>>>(p);
  else if (!std::strcmp(what, "endless")) endless<int><<<2, 256>>>(p);
  else fine<<<1, 64>>>(p);
  hipError_t error = hipGetLastError();
  if (error == hipSuccess) error = hipDeviceSynchronize();
  if (error != hipSuccess) {
    std::printf("%s\n", hipGetErrorString(error));
    return 10;
  }
  return count > 2 ? std::atoi(words[2]) : 0;
}
HIP
hipcc --offload-arch=gfx90a -std=c++17 -O2 -g p.hip -o p
# The tools that exec puts on the path are Wavemill by other names.
wavemill=$(readlink -f "$(command -v amdgpu-arch)")

# case NAME STATUS COMMAND...: its status; what it says is in `out` and `said`.
case_() {
  name=$1 wanted=$2
  shift 2
  got=0
  "$@" > out 2> said || got=$?
  [ "$got" = "$wanted" ] || { echo "$name: status $got, not $wanted"; cat out said; exit 1; }
}
says() {
  grep -qF -e "$1" said || { echo "$name: no \`$1\` in"; cat said; exit 1; }
}
# Where in its loop a wave's turn ends is the engine's: lines of the loop are one answer.
says_loop() {
  grep -qE 'p\.hip:1[67]\b' said || { echo "$name: no line of the loop in"; cat said; exit 1; }
}
passed() { echo "case: $name"; }

case_ fine 0 "$wavemill" exec -- ./p
[ ! -s said ]
passed
case_ its-own 6 "$wavemill" exec -- ./p fine 6
passed

# A fault in a program that ends well, and in one that HIP ends: the queue that died is explained.
case_ fault 3 "$wavemill" exec -- ./p child
says 'GPU fault: write of 4 bytes at 0x'
says 'kernel      faulty(int*)'
says 'p.hip:12'
says ': 0 bytes into allocation '
passed
case_ died 134 "$wavemill" exec -- ./p faulty
says 'ended by signal 6 (SIGABRT): a kernel of its queue faulted, which is reported above, and HIP ends a program whose queue has failed'
passed

# Time runs out: where the waves are, by their line, and what they wait for; and how far it is meanwhile.
case_ time 4 env WAVEMILL_PROGRESS=1 "$wavemill" exec --timeout 8 -- ./p endless
says 'endless<int>'
says ': 0 of 2 work-groups (0%), 1 s'
says 'GPU fault: not done after '
says 'void endless<int>(int volatile*)'
says 'waves at the barrier at '
says 'for the others of the work-group'
says_loop
says 'ended by signal 6 (SIGABRT), after a kernel of its queue was stopped when the 8 s of --timeout were over'
passed

# Ctrl-C tells the same, and the program ends as it would. A shell's own children in the background ignore it (and this may be
# one of them), and one comes when the kernel is known to run.
cat > interrupt.py <<'PYTHON'
import signal, subprocess, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
child = subprocess.Popen(sys.argv[1:], stderr=subprocess.PIPE)
said = b""
while b"work-groups (0%)" not in said:
    said += child.stderr.read1()
child.send_signal(signal.SIGINT)
sys.stderr.buffer.write(said + child.stderr.read())
sys.exit(child.wait(timeout=60))
PYTHON
case_ interrupt 130 env WAVEMILL_PROGRESS=1 python3 interrupt.py "$wavemill" exec -- ./p endless
says 'GPU fault: interrupted (Ctrl-C)'
says 'waves at the barrier at '
says_loop
passed

# A finding of a check, in a program that ends well and in one that says otherwise.
case_ check 5 "$wavemill" exec --check -- ./p racy
says 'p.hip:21: race: a read and a write of another wave are not in order [lds-race]'
passed
case_ check-and-own 6 "$wavemill" exec --check -- ./p racy 6
passed

# A trace of what was asked for, with lines and results.
case_ trace 0 "$wavemill" exec --trace=kernel:fine,wave:0,lanes:0-3 -- ./p
says 'p.hip:9'
says 'global_store_dword'
says 'writes 4 bytes at '
passed

# The dispatches as one document, and the program's own text before it.
case_ json 0 "$wavemill" exec --json d.json -- ./p
python3 -c 'import json; d = json.load(open("d.json")); assert d["exit"] == 0 and any("fine" in x["kernel"] for x in d["dispatches"]), d'
passed

# Code for another GPU.
case_ code 134 "$wavemill" exec --gpu vega10 -- ./p
says 'it has code for gfx90a, and the GPU is gfx900: compile it with --offload-arch=gfx900, or `exec --gpu gfx90a`'
passed
echo PASS
