#!/usr/bin/env python3
"""Checks that an exported file holds the trained model: its metadata and tokenizer, and what it computes.

    verify.py NAME --work DIR --file models/pair/small.gguf
"""

import argparse
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer

from documents import encode
from forward import File
from measure import read
from problems.sample import problem
from tokenizer import CHAT_TEMPLATE, END

TOLERANCE = 2e-3  # of logits: float32 against float64


def verify(name: str, work: Path, path: Path) -> float:
    """The largest difference of logits; raises SystemExit where the file is not what it should be."""
    file, model = File(path), read(work / f"{name}.pt")
    tokenizer = Tokenizer.from_file(str(work / "tokenizer.json"))
    tokens = file.meta["tokenizer.ggml.tokens"]
    if any(tokenizer.token_to_id(t) != i for i, t in enumerate(tokens)) or len(tokens) != model.shape.vocabulary:
        raise SystemExit(f"{path}: its tokens are not those of {work}/tokenizer.json")
    if tokens[file.meta["tokenizer.ggml.eos_token_id"]] != END or file.meta["tokenizer.chat_template"] != CHAT_TEMPLATE:
        raise SystemExit(f"{path}: end token or chat template are not those of tokenizer.py")
    worst = 0.0
    for i in range(10):
        p = problem(1, "validation", i)
        ids = encode(tokenizer, [("user", p.question), ("assistant", p.response)]).tokens
        with torch.no_grad():
            ours = model.logits(model.hidden(torch.tensor([ids])))[0].numpy()
        worst = max(worst, float(np.abs(ours - file.logits(ids)).max()))
    if worst > TOLERANCE:
        raise SystemExit(f"{path}: logits differ by {worst:.2g} from the trained model's, at most {TOLERANCE} is rounding")
    return worst


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--file", type=Path, required=True)
    a = parser.parse_args()
    print(f"{a.file}: as trained; largest difference of logits {verify(a.name, a.work, a.file):.2g}")


if __name__ == "__main__":
    main()
