#!/usr/bin/env python3
"""Compiles the kernels here for gfx90a with Triton (PyPI: triton), which needs no GPU for it: NAME.hsaco, whose arguments,
waves and LDS the tests know. With arguments, only those kernels."""

import subprocess
import sys
from pathlib import Path

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    """out[i] = x[i] + y[i] for i < n."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


@triton.jit
def rows(x, out, n, BLOCK: tl.constexpr):
    """The sum, the largest and where it is, of each row of n integers."""
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    v = tl.load(x + row * n + at, mask=at < n, other=-(2**31))
    tl.store(out + 3 * row, tl.sum(tl.where(at < n, v, 0), axis=0))
    tl.store(out + 3 * row + 1, tl.max(v, axis=0))
    tl.store(out + 3 * row + 2, tl.argmax(v, axis=0))


@triton.jit
def matmul(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """C = A * B of f16, summed in f32: matrix instructions."""
    i = tl.arange(0, M)[:, None]
    j = tl.arange(0, N)[None, :]
    k = tl.arange(0, K)
    left = tl.load(a + i * K + k[None, :])
    right = tl.load(b + k[:, None] * N + j)
    tl.store(c + i * N + j, tl.dot(left, right))


@triton.jit
def histogram(x, out, n, BLOCK: tl.constexpr):
    """Counts of numbers below 16."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n, other=0)
    tl.atomic_add(out + v, 1, mask=at < n)


KERNELS = {
    "add": (add, {"x": "*fp32", "y": "*fp32", "out": "*fp32", "n": "i32"}, {"BLOCK": 256}),
    "rows": (rows, {"x": "*i32", "out": "*i32", "n": "i32"}, {"BLOCK": 128}),
    "matmul": (matmul, {"a": "*fp16", "b": "*fp16", "c": "*fp32"}, {"M": 32, "N": 32, "K": 64}),
    "histogram": (histogram, {"x": "*i32", "out": "*i32", "n": "i32"}, {"BLOCK": 256}),
}


def main():
    for name in sys.argv[1:] or KERNELS:
        function, types, constants = KERNELS[name]
        signature = {**types, **{c: "constexpr" for c in constants}}
        names = list(signature)
        source = ASTSource(function, signature, constexprs={(names.index(c),): v for c, v in constants.items()})
        made = triton.compile(source, target=GPUTarget("hip", "gfx90a", 64), options={"num_warps": 4})
        file = Path(__file__).with_name(f"{name}.hsaco")
        file.write_bytes(made.asm["hsaco"])
        subprocess.run(["llvm-objcopy-19", "--strip-debug", file], check=True)
        print(name, made.metadata.num_warps, "waves,", made.metadata.shared, "bytes of LDS")


main()
