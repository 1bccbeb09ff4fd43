#!/usr/bin/env python3
"""Writes blocks.txt: compressed blocks with the texels that other decoders make of them.

    pip install imagecodecs numpy pillow texture2ddecoder
    ./make.py > blocks.txt

A line has the format, the block's bytes, and its sixteen texels, in hexadecimal: components are bytes, those of BC6H
halves, most significant digit first. Texels of BC6H and BC7 are those of imagecodecs (bcdec); of BC7, Pillow and
texture2ddecoder must say the same. Texels of ETC2 are texture2ddecoder's, which
keeps eight of EAC's eleven bits: v / 8 of v from 0 to 2047, (v + 1023) / 8 of v from -1023 to 1023.
"""

import io
import random
import struct

import imagecodecs
import numpy
import texture2ddecoder
from PIL import Image

random.seed(6)


def block(*fields):
    """128 bits: (width, value) from the lowest up, then random ones."""
    value, at = 0, 0
    for width, bits in fields:
        value |= bits << at
        at += width
    return (value | random.getrandbits(128 - at) << at).to_bytes(16, "little")


def pillow_bc7(data):
    header = struct.pack("<4s7I44x", b"DDS ", 124, 0x1007, 4, 4, 16, 0, 0)
    header += struct.pack("<2I4s5I", 32, 4, b"DX10", 0, 0, 0, 0, 0) + struct.pack("<5I", 0x1000, 0, 0, 0, 0)
    header += struct.pack("<5I", 98, 3, 0, 1, 0)
    return numpy.array(Image.open(io.BytesIO(header + data)).convert("RGBA"))


def bc7(data):
    texels = imagecodecs.bcn_decode(data, 7, shape=(4, 4, 4))
    other = numpy.frombuffer(texture2ddecoder.decode_bc7(data, 4, 4), numpy.uint8).reshape(4, 4, 4)
    reserved = data[0] == 0  # of which texture2ddecoder makes nothing
    assert reserved or (texels == other[:, :, [2, 1, 0, 3]]).all()
    assert reserved or (texels == pillow_bc7(data)).all()
    return texels.tobytes().hex()


def bc6h(data, kind):
    texels = imagecodecs.bcn_decode(data, kind, shape=(4, 4, 3))
    return texels.view(numpy.uint16).astype(">u2").tobytes().hex()


blocks = []
# Modes with subsets: all partitions of mode 0, of those with two subsets, and of those with three.
for mode, partition_bits, count in [(0, 4, 16), (1, 6, 64), (2, 6, 64), (3, 6, 8), (7, 6, 8)]:
    for i in range(count):
        partition = i if count == 1 << partition_bits else random.getrandbits(partition_bits)
        blocks.append(block((mode + 1, 1 << mode), (partition_bits, partition)))
# Mode 4: all rotations and index selectors; mode 5: all rotations.
blocks += [block((5, 1 << 4), (3, i % 8)) for i in range(16)]
blocks += [block((6, 1 << 5), (2, i % 4)) for i in range(8)]
blocks += [block((7, 1 << 6)) for i in range(8)]
blocks += [block((8, 0)) for i in range(2)]
for data in blocks:
    print("bc7", data.hex(), bc7(data))

blocks = []
for width, mode in [(2, 0), (2, 1)] + [(5, m) for m in (2, 6, 10, 14, 18, 22, 26, 30, 3, 7, 11, 15)]:
    blocks += [block((width, mode)) for i in range(5)]
    # Ends at their limits: all ones, and all zeros.
    blocks += [(mode | ~31 & (1 << 128) - 1).to_bytes(16, "little"), mode.to_bytes(16, "little")]
blocks += [block((5, mode)) for mode in (19, 23, 27, 31)]
for data in blocks:
    print("bc6h", data.hex(), bc6h(data, 6))
    print("bc6h-signed", data.hex(), bc6h(data, -6))


def etc(decode, data, components=4):
    texels = numpy.frombuffer(decode(data, 4, 4), numpy.uint8).reshape(4, 4, 4)[:, :, [2, 1, 0, 3]]
    if decode is texture2ddecoder.decode_etc2a1:
        # Khronos: where alpha is zero the other components are zero, too. The decoder leaves them.
        texels[texels[:, :, 3] == 0] = 0
    return texels[:, :, :components].tobytes().hex()


def color_block(mode, flag):
    """A random color block of a mode: in bit 33 the flag, in the higher ones sums of five and three bits."""
    while True:
        value = random.getrandbits(64) & ~(1 << 33) | flag << 33
        sums = [(value >> at + 3 & 31) + ((value >> at & 7) ^ 4) - 4 for at in (56, 48, 40)]
        fits = [0 <= s <= 31 for s in sums]
        if [fits[0], fits[0] and fits[1], all(fits)] == mode:
            return value.to_bytes(8, "big")


DIFFERENTIAL, T, H, PLANAR = [True] * 3, [False] * 3, [True, False, False], [True, True, False]
colors = [color_block(mode, 1) for mode in (DIFFERENTIAL, T, H, PLANAR) for i in range(12)]
individual = [random.getrandbits(64) & ~(1 << 33) for i in range(12)]
for data in colors + [value.to_bytes(8, "big") for value in individual]:
    print("etc2-rgb", data.hex(), etc(texture2ddecoder.decode_etc2, data, 3))
    alpha = random.randbytes(8)
    print("etc2-rgba", (alpha + data).hex(), etc(texture2ddecoder.decode_etc2a8, alpha + data))
for data in colors + [color_block(mode, 0) for mode in (DIFFERENTIAL, T, H, PLANAR) for i in range(8)]:
    print("etc2-rgba1", data.hex(), etc(texture2ddecoder.decode_etc2a1, data))
for i in range(32):
    one = random.randbytes(1) + bytes([random.getrandbits(4) << 4 | i % 16 if i % 8 else i % 16]) + random.randbytes(6)
    two = one + random.randbytes(8)
    print("eac-r", one.hex(), etc(texture2ddecoder.decode_eacr, one, 1))
    print("eac-r-signed", one.hex(), etc(texture2ddecoder.decode_eacr_signed, one, 1))
    print("eac-rg", two.hex(), etc(texture2ddecoder.decode_eacrg, two, 2))
    print("eac-rg-signed", two.hex(), etc(texture2ddecoder.decode_eacrg_signed, two, 2))
