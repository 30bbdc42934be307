#!/usr/bin/env python3
"""Writes a GGUF file in the shape of a Qwen3 model with random weights, for measurements where no model can be downloaded. Needs Python alone.

random_model.py SHAPE TYPE OUT.gguf, SHAPE: tiny, tiny-large, small (0.6B), middle (1.7B) or large (8B); TYPE: q4_k_m or q8_0. Weights repeat after some
megabytes, which costs a device the same time as any others: they lie in different places. Block formats: the GGUF specification, and docs/kernels.md.
"""
import math
import os
import struct
import sys

# layers, embedding, feed-forward, heads, key-value heads, dimensions of a head, vocabulary, whether the output matrix is the embedding
SHAPES = {
    "tiny": (2, 256, 512, 4, 2, 64, 512, True),
    "tiny-large": (3, 512, 1024, 8, 2, 64, 512, False),
    "small": (28, 1024, 3072, 16, 8, 128, 151936, True),
    "middle": (28, 2048, 6144, 16, 8, 128, 151936, True),
    "large": (36, 4096, 12288, 32, 8, 128, 151936, False),
}
CONTEXT = 4096
ALIGNMENT = 32

# Number in GGUF, weights and bytes of a block.
Q4_K = (12, 256, 144)
Q6_K = (14, 256, 210)
Q8_0 = (8, 32, 34)
F32 = (0, 1, 4)


def scales(kind, deviation):
    """The 16-bit floats of a block, by offset, for weights of that deviation and mean 0 when all other bytes are random."""
    if kind == Q8_0:  # d * q, q of 8 bits
        return {0: deviation / 73.9}
    if kind == Q6_K:  # d * s * q, s of 8 bits, q from -32 to 31
        return {208: deviation / 1366}
    d = deviation / 255  # d * s * q - m * t, s and t from 0 to 63, q from 0 to 15
    return {0: d, 2: 7.5 * d}


def chunk(kind, deviation, blocks):
    data = bytearray(os.urandom(blocks * kind[2]))
    for offset, value in scales(kind, deviation).items():
        low, high = struct.pack("<e", value)
        data[offset :: kind[2]] = bytes([low]) * blocks
        data[offset + 1 :: kind[2]] = bytes([high]) * blocks
    return bytes(data)


def tensors(shape, quantization):
    """Name, kind, dimensions (fastest first), and deviation of the weights; None: a vector of ones."""
    layers, embd, ffn, heads, kv, head, vocab, tied = shape
    plain, fine = (Q8_0, Q8_0) if quantization == "q8_0" else (Q4_K, Q6_K)
    fan = lambda n: 1 / math.sqrt(n)
    yield "token_embd.weight", fine, (embd, vocab), 1.0
    for i in range(layers):
        b = f"blk.{i}."
        better = fine if i < layers // 8 or i >= 7 * layers // 8 or i % 3 == 2 else plain  # as the mixed files do
        yield b + "attn_norm.weight", F32, (embd,), None
        yield b + "attn_q.weight", plain, (embd, heads * head), fan(embd)
        yield b + "attn_k.weight", plain, (embd, kv * head), fan(embd)
        yield b + "attn_v.weight", better, (embd, kv * head), fan(embd)
        yield b + "attn_output.weight", plain, (heads * head, embd), fan(heads * head)
        yield b + "attn_q_norm.weight", F32, (head,), None
        yield b + "attn_k_norm.weight", F32, (head,), None
        yield b + "ffn_norm.weight", F32, (embd,), None
        yield b + "ffn_gate.weight", plain, (embd, ffn), fan(embd)
        yield b + "ffn_up.weight", plain, (embd, ffn), fan(embd)
        yield b + "ffn_down.weight", better, (ffn, embd), fan(ffn)
    yield "output_norm.weight", F32, (embd,), None
    if not tied:
        yield "output.weight", fine, (embd, vocab), 2 * fan(embd)


def text(s):
    data = s.encode()
    return struct.pack("<Q", len(data)) + data


def value(v):
    if isinstance(v, bool):
        return struct.pack("<IB", 7, v)
    if isinstance(v, int):
        return struct.pack("<II", 4, v)
    if isinstance(v, float):
        return struct.pack("<If", 6, v)
    if isinstance(v, str):
        return struct.pack("<I", 8) + text(v)
    if v and isinstance(v[0], str):
        return struct.pack("<IIQ", 9, 8, len(v)) + b"".join(map(text, v))
    return struct.pack("<IIQ", 9, 5, len(v)) + struct.pack(f"<{len(v)}i", *v)


def vocabulary(n):
    """A byte-level vocabulary: 256 bytes, one merge, two control tokens, and what nobody uses."""
    alphabet, extra = [], 0x100
    for b in range(256):
        printable = 0x21 <= b <= 0x7E or 0xA1 <= b <= 0xAC or b >= 0xAE
        alphabet.append(chr(b) if printable else chr(extra))
        extra += not printable
    tokens = alphabet + ["he", "<|endoftext|>", "<|im_end|>"]
    tokens += [f"[PAD{i}]" for i in range(n - len(tokens))]
    return {
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "qwen2",
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": [1] * 257 + [3] * 2 + [5] * (n - 259),
        "tokenizer.ggml.merges": ["h e"],
        "tokenizer.ggml.bos_token_id": 257,
        "tokenizer.ggml.eos_token_id": 258,
        "tokenizer.ggml.padding_token_id": 257,
        "tokenizer.ggml.add_bos_token": False,
    }


def size(kind, dims):
    return math.prod(dims) // kind[1] * kind[2]


def padded(n):
    return -(-n // ALIGNMENT) * ALIGNMENT


def header(name, quantization):
    """All that comes before the weights."""
    shape = SHAPES[name]
    layers, embd, ffn, heads, kv, head, vocab, _ = shape
    metadata = {
        "general.architecture": "qwen3",
        "general.name": f"random {name} {quantization}",
        "general.alignment": ALIGNMENT,
        "qwen3.block_count": layers,
        "qwen3.context_length": CONTEXT,
        "qwen3.embedding_length": embd,
        "qwen3.feed_forward_length": ffn,
        "qwen3.attention.head_count": heads,
        "qwen3.attention.head_count_kv": kv,
        "qwen3.attention.key_length": head,
        "qwen3.attention.value_length": head,
        "qwen3.attention.layer_norm_rms_epsilon": 1e-6,
        "qwen3.rope.freq_base": 1e6,
    } | vocabulary(vocab)
    all_tensors = list(tensors(shape, quantization))
    data = struct.pack("<4sIQQ", b"GGUF", 3, len(all_tensors), len(metadata))
    data += b"".join(text(k) + value(v) for k, v in metadata.items())
    offset = 0
    for tensor, kind, dims, _ in all_tensors:
        data += text(tensor) + struct.pack(f"<I{len(dims)}QIQ", len(dims), *dims, kind[0], offset)
        offset += padded(size(kind, dims))
    return data + bytes(-len(data) % ALIGNMENT)


def file_bytes(name, quantization):
    return len(header(name, quantization)) + sum(padded(size(kind, dims)) for _, kind, dims, _ in tensors(SHAPES[name], quantization))


def write(path, name, quantization):
    """Under its name it is only when it is whole."""
    chunks = {}
    unfinished = f"{path}.part"
    with open(unfinished, "wb") as f:
        f.write(header(name, quantization))
        for _, kind, dims, deviation in tensors(SHAPES[name], quantization):
            left = size(kind, dims)
            if deviation is None:
                data = struct.pack("<f", 1.0) * dims[0]
            else:
                key = (kind, deviation)
                if key not in chunks:
                    chunks[key] = chunk(kind, deviation, min(left // kind[2], (8 << 20) // kind[2]))
                data = chunks[key]
            padding = -left % ALIGNMENT
            while left > 0:
                part = data if left >= len(data) else data[:left]
                f.write(part)
                left -= len(part)
            f.write(bytes(padding))
    os.replace(unfinished, path)


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] not in SHAPES or sys.argv[2] not in ("q4_k_m", "q8_0"):
        sys.exit(f"usage: {sys.argv[0]} {'|'.join(SHAPES)} q4_k_m|q8_0 OUT.gguf")
    write(sys.argv[3], sys.argv[1], sys.argv[2])
