#!/usr/bin/env python3
"""Writes blocks.txt: compressed blocks with the texels that other decoders make of them.

    pip install imagecodecs numpy pillow texture2ddecoder
    ./make.py > blocks.txt

A line has the format, the block's bytes, and its sixteen texels, in hexadecimal: components of BC7 are bytes, those of
BC6H halves, most significant digit first. The texels are those of imagecodecs (bcdec); of BC7, Pillow and
texture2ddecoder must say the same.
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
