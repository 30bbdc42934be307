#!/usr/bin/env python3
"""Makes native/tests/data/blocks.bin and quantized.bin with the Python package `gguf` (no torch needed).

    blocks.bin     random blocks of every format that the native library reads, with the floats they stand for
    quantized.bin  random floats, with the blocks that rounding to nearest makes of them

Both are sequences of records, little-endian: u32 type id, u32 weights, u32 bytes, the blocks, the weights as float32.
Besides random blocks there are the extremes: all code bits set or none, scales from the smallest half float to the largest.

    python tools/reference/make_blocks.py        (requirements.txt has the package's version)
"""

import struct
from pathlib import Path

import gguf
import numpy as np
from gguf import GGMLQuantizationType as T
from gguf import quants

# Offsets of the half floats that scale a block.
SCALES = {
    T.Q4_0: [0], T.Q4_1: [0, 2], T.Q5_0: [0], T.Q5_1: [0, 2], T.Q8_0: [0], T.IQ4_NL: [0], T.MXFP4: [],
    T.Q2_K: [80, 82], T.Q3_K: [108], T.Q4_K: [0, 2], T.Q5_K: [0, 2], T.Q6_K: [208], T.IQ4_XS: [0],
    T.F16: [0], T.BF16: [],
}  # fmt: skip
EXTREMES = [0x0000, 0x8000, 0x0001, 0x83FF, 0x0400, 0x7BFF, 0xFBFF, 0x3C00]
ROUNDED = [T.F16, T.BF16, T.Q4_0, T.Q4_1, T.Q5_0, T.Q5_1, T.Q8_0]


def random_blocks(rng, kind):
    size, width = gguf.GGML_QUANT_SIZES[kind]
    count = 4 if size == 256 else 12 if size == 32 else 64
    blocks = rng.integers(0, 256, (count, width), dtype=np.uint8)
    edges = [np.zeros(width, np.uint8), np.full(width, 255, np.uint8)]
    if size > 1:
        edges += list(rng.integers(0, 256, (4, width), dtype=np.uint8))
    blocks = np.concatenate([blocks, np.stack(edges)])
    for row, block in enumerate(blocks):
        for at in SCALES[kind]:
            if size > 1 and row < count:
                bits = np.float16(rng.normal() * 0.01).view(np.uint16)
            elif size > 1 or block[1] & 0x7C == 0x7C:  # the edges; and floats of 16 bits that are not numbers
                bits = EXTREMES[int(rng.integers(len(EXTREMES)))]
            else:
                continue
            block[at : at + 2] = np.frombuffer(struct.pack("<H", int(bits)), np.uint8)
        if kind == T.BF16 and (block[1] & 0x7F == 0x7F and block[0] & 0x80):
            block[1] = 0x3F
    if kind == T.MXFP4:
        blocks[:, 0] = rng.integers(110, 135, len(blocks))
        blocks[-6:, 0] = [0, 1, 2, 252, 3, 253]
    return blocks


def record(kind, blocks, floats):
    blocks, floats = np.ascontiguousarray(blocks).tobytes(), np.ascontiguousarray(floats, "<f4")
    return struct.pack("<III", int(kind), floats.size, len(blocks)) + blocks + floats.tobytes()


def weights(rng):
    x = rng.normal(size=(24, 32)).astype(np.float32)
    x[1] = 0
    x[2] = 1
    x[3] = -3
    x[4] *= np.float32(1e-6)  # scales that are subnormal halves
    x[5] *= 1000
    x[6] = np.arange(32) - 16  # ties in rounding
    x[7] = np.abs(x[7])
    x[8, 1:] = 0
    x[9] = np.arange(32) / 2
    return x


def main():
    data = Path(__file__).resolve().parents[2] / "native" / "tests" / "data"
    rng = np.random.default_rng(20260511)
    out = b""
    for kind in SCALES:
        blocks = random_blocks(rng, kind)
        with np.errstate(all="ignore"):
            floats = quants.dequantize(blocks.reshape(-1), kind)
        out += record(kind, blocks, floats)
    (data / "blocks.bin").write_bytes(out)

    out = b""
    x = weights(rng)
    for kind in ROUNDED:
        out += record(kind, quants.quantize(x, kind), x)
    (data / "quantized.bin").write_bytes(out)


if __name__ == "__main__":
    main()
