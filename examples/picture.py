#!/usr/bin/env python3
"""Makes picture.png: a ball over a chequered floor under a sky of 160 by 120 pixels, in whole numbers."""
import struct
import zlib

WIDTH, HEIGHT = 160, 120


def pixel(x, y):
    away = (x - 96) ** 2 + (y - 56) ** 2
    if away < 1600:
        # Lighter towards the upper left, where the light comes from.
        light = 255 - ((x - 80) ** 2 + (y - 40) ** 2) * 200 // 4096
        return max(light, 30), max(light - 90, 20), 40
    if y < 72:
        return 60 + y, 110 + y, 230 - y // 2
    depth = 4096 // (y - 68)
    square = ((x - 80) * depth // 2048 + depth // 48) % 2
    return (225, 220, 205) if square else (70, 60, 55)


rows = b"".join(b"\0" + bytes(c for x in range(WIDTH) for c in pixel(x, y)) for y in range(HEIGHT))


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0)
with open("picture.png", "wb") as file:
    file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b""))
