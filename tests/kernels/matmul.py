#!/usr/bin/env python3
"""Compiles a matrix product with Triton for gfx90a into fixtures/matmul.gfx90a.triton.TYPE.hsaco. No GPU is needed.

usage: matmul.py          (PyPI: triton 3.1; Debian: lld-15, named by TRITON_HIP_LLD_PATH if it is not ld.lld)

The products are done by MFMA instructions; the block sizes and shapes are chosen so that several of them appear. How many
bytes of LDS a launch needs is printed: the test has the number beside the file's name.
"""
import os
import pathlib

os.environ["TRITON_DISABLE_LINE_INFO"] = "1"  # where it was compiled is nobody's business
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, AttrsDescriptor


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SUM: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    along = tl.arange(0, BK)
    total = tl.zeros((BM, BN), dtype=SUM)
    for k in range(0, K, BK):
        at = k + along
        left = tl.load(a + rows[:, None] * K + at[None, :], mask=(rows[:, None] < M) & (at[None, :] < K), other=0)
        right = tl.load(b + at[:, None] * N + columns[None, :], mask=(at[:, None] < K) & (columns[None, :] < N), other=0)
        total = tl.dot(left, right, total)
    tl.store(c + rows[:, None] * N + columns[None, :], total, mask=(rows[:, None] < M) & (columns[None, :] < N))


# Type of the matrices, of the sum, the rows of one matrix instruction, and whether all arguments are multiples of 16, which
# Triton finds out at a launch, and compiles for: accesses are wide then.
CASES = {
    "f16": ("fp16", "fp32", 16, False),
    "f16-wide": ("fp16", "fp32", 16, True),
    "bf16": ("bf16", "fp32", 32, False),
    "f32": ("fp32", "fp32", 32, False),
    "i8": ("i8", "i32", 16, False),
}
SUMS = {"fp32": tl.float32, "i32": tl.int32}

for name, (element, total, shape, wide) in CASES.items():
    signature = {"a": f"*{element}", "b": f"*{element}", "c": f"*{total}", "M": "i32", "N": "i32", "K": "i32"}
    constants = {"BM": 64, "BN": 64, "BK": 32, "SUM": SUMS[total]}
    attributes = AttrsDescriptor(divisible_by_16=tuple(range(6)) if wide else ())
    source = ASTSource(fn=matmul, signature=signature, constants=constants, attrs=attributes)
    options = {"num_warps": 4, "num_stages": 2, "matrix_instr_nonkdim": shape}
    kernel = triton.compile(source, target=GPUTarget("hip", "gfx90a", 64), options=options)
    out = pathlib.Path(__file__).parent / "fixtures" / f"matmul.gfx90a.triton.{name}.hsaco"
    out.write_bytes(kernel.asm["hsaco"])
    used = sorted({line.split()[0] for line in kernel.asm["amdgcn"].splitlines() if "v_mfma" in line})
    print(f"{out.name}: {kernel.metadata.shared} bytes of LDS, {', '.join(used)}")
