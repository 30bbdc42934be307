"""What a reference model answers, and the file that the engine's test reads it from."""

import struct
from pathlib import Path

import numpy as np
import torch


def prompts(vocab: int) -> list[tuple[list[int], list[int]]]:
    """(tokens, positions whose outputs are kept): short, one KV page and a bit, and more than one segment of 256."""
    random = np.random.default_rng(7)
    return [
        ([5], [0]),
        (list(map(int, random.integers(0, vocab, 9))), list(range(9))),
        (list(map(int, random.integers(0, vocab, 41))), [0, 15, 30, 31, 32, 33, 40]),
        (list(map(int, random.integers(0, vocab, 300))), [254, 255, 256, 257, 299]),
    ]


def run(model, tokens: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Hidden states after the final norm [n, n_embd] and logits [n, n_vocab], computed in float64."""
    exact = model.double()
    with torch.no_grad():
        hidden = exact.model(torch.tensor([tokens])).last_hidden_state[0]
        logits = exact.lm_head(hidden)
    return hidden.numpy().astype(np.float32), logits.numpy().astype(np.float32)


def write_golden(path: Path, model) -> None:
    """Little-endian: "TRGOLD1\\0", int32 n_vocab, n_embd, n_prompts; then per prompt int32 n_tokens, n_outputs,
    tokens[n_tokens], and per output int32 position, float hidden[n_embd], logits[n_vocab]."""
    vocab, n_embd = model.config.vocab_size, model.config.hidden_size
    with path.open("wb") as f:
        cases = prompts(vocab)
        f.write(b"TRGOLD1\0" + struct.pack("<3i", vocab, n_embd, len(cases)))
        for tokens, positions in cases:
            hidden, logits = run(model, tokens)
            spread = float(logits.std())
            if not 0.5 < spread < 20:
                raise SystemExit(f"{path.name}: logits have a standard deviation of {spread}; the test would say little")
            f.write(struct.pack("<2i", len(tokens), len(positions)) + struct.pack(f"<{len(tokens)}i", *tokens))
            for p in positions:
                f.write(struct.pack("<i", p) + hidden[p].tobytes() + logits[p].tobytes())
