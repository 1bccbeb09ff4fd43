#!/bin/sh
# clinfo, as Debian has it: a platform with a device of OpenCL 3.0; images where the GPU has them; with libclc less is there, and
# said to be.
set -e
# The tools that exec puts on the path are Wavemill by other names.
wavemill=$(readlink -f "$(command -v amdgpu-arch)")
says() { printf '%s\n' "$text" | grep -Eq "$1" || { printf '%s\nnothing about %s\n' "$text" "$1"; exit 1; }; }
text=$(clinfo)
says '^Number of platforms +1$'
says 'Platform Name +Wavemill$'
says 'Device Version +OpenCL 3.0 '
says 'Image support +No$'
says 'Device Extensions .*cl_khr_fp64'
says 'Sub-group sizes|Max sub-groups per work group +16'
text=$("$wavemill" exec --gpu vega10 -- clinfo)
says 'Device Name +AMD Radeon RX Vega 64$'
says 'Image support +Yes$'
says 'Max 2D image size +16384x16384 pixels'
says 'Generic address space support +Yes'
says 'Device enqueue capabilities .*'
text=$(WAVEMILL_LIBCLC=/usr/lib/clc/amdgcn--amdhsa.bc "$wavemill" exec --gpu vega10 -- clinfo)
says 'Generic address space support +No'
says 'IL version +(\(n/a\))?$'

# Kernels get libclc's functions where they are to.
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cat > "$dir/k.cl" <<'CL'
kernel void k(global float *p) { size_t i = get_global_id(0); p[i] = sqrt(p[i]) + mad(2.0f, p[i], 1.0f) + clamp(p[i], 2.0f, 5.0f); }
CL
WAVEMILL_LIBCLC=/usr/lib/clc/amdgcn--amdhsa.bc "$wavemill" run "$dir/k.cl" --gpu vega10 --grid 17 --arg iota:f32:17 --show 0:f32:17 \
    --dump "0:$dir/out" 2>/dev/null > "$dir/shown"
# 4: 2 + 9 + 4; 9: 3 + 19 + 5; 16: 4 + 33 + 5.
python3 -c 'import struct, sys; n = struct.unpack("<17f", open(sys.argv[1], "rb").read()); assert (n[4], n[9], n[16]) == (15, 27, 42), n' "$dir/out"
# What it lacks is said, with what has it.
echo 'kernel void k(read_only image2d_t i, global float4 *o) { *o = read_imagef(i, (int2)(0)); }' > "$dir/i.cl"
text=$(WAVEMILL_LIBCLC=/usr/lib/clc/amdgcn--amdhsa.bc "$wavemill" run "$dir/i.cl" --gpu vega10 --grid 1 2>&1) && exit 1
says 'undefined.*read_imagef'
says "libclc.* has no functions for images.*rocm-device-libs"
echo PASS
