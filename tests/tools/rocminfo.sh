#!/bin/sh
# AMD's own rocminfo, not Wavemill's: it asks lsmod for the driver, opens the driver's device, then lists agents.
set -e
out=$(/usr/bin/rocminfo)
has() {
    echo "$out" | grep -q "$1" || { echo "no line like: $1"; echo "$out"; exit 1; }
}
has 'ROCk module is loaded'
has '^  Name: *gfx90a *$'
has '^  Marketing Name: *AMD Instinct MI210 *$'
has '^  Compute Unit: *104 *$'
has 'Name: *amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-'
has '^\*\*\* Done \*\*\*'
lsmod | grep -q '^amdgpu '
echo PASS
