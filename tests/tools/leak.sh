#!/bin/sh
# The guide's page about leaks: its bug is found, as the page says, and not when it is mended.
# input: ../../docs/guide/src/check-leak.md
set -e
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
# The tools that exec puts on the path are Wavemill by other names.
wavemill=$(readlink -f "$(command -v amdgpu-arch)")
# The indented lines behind a heading.
block() { sed -n "/^## $2\$/,/^## /s/^    //p" "$1"; }
block "$1" 'A bug' > "$dir/bug.hip"
block "$1" Mended > "$dir/mending"
sed "/hipMalloc/r $dir/mending" "$dir/bug.hip" > "$dir/mended.hip"
# Addresses differ.
plain() { sed 's/0x[0-9a-f]*/ADDRESS/g'; }
for program in bug mended; do
  hipcc --offload-arch=gfx90a "$dir/$program.hip" -o "$dir/$program" 2> "$dir/messages"
  "$wavemill" exec --check=leak -- "$dir/$program" 2>&1 | plain > "$dir/$program.told" || true
done
block "$1" 'Its report' | plain > "$dir/wanted"
while read -r line; do
  grep -qF "$line" "$dir/bug.told" || { echo "not told: $line"; cat "$dir/bug.told"; exit 1; }
done < "$dir/wanted"
bytes=$(sed -n 's/^leak: \([0-9]* bytes\).*/\1/p' "$dir/wanted")
if grep -qF "$bytes" "$dir/mended.told"; then echo "told of what is freed"; cat "$dir/mended.told"; exit 1; fi
echo PASS
