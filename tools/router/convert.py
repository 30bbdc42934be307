#!/usr/bin/env python3
"""Converts an official router to a head.

    convert.py r2r    default_router.pt   --out head.gguf [--threshold 0.5]
    convert.py citer  mlp_iter_0123.pth   --out head.gguf [--threshold 0.95]
    convert.py co-llm DIRECTORY           --out head.gguf [--threshold 0.5]

Pickles are loaded with weights_only: nothing in them is run. Sizes follow from the tensors. For Co-LLM, the head is the last
row of the output matrix, that of the deferral token; the directory's model is converted like any other.
"""

import argparse
import json
from pathlib import Path

import torch

import heads
import shards


def r2r(path: Path) -> tuple[dict, float]:
    saved = torch.load(path, map_location="cpu", weights_only=True)
    if "state_dict" not in saved:
        raise heads.Unsupported(f"{path} has no state_dict: it is no router of R2R")
    return saved["state_dict"], float(saved.get("common_args", {}).get("threshold", 0.5))


def citer(path: Path) -> tuple[dict, float]:
    return torch.load(path, map_location="cpu", weights_only=True), 0.95


def co_llm(path: Path) -> tuple[dict, float]:
    index = path / "model.safetensors.index.json"
    files = json.loads(index.read_text())["weight_map"] if index.exists() else {}
    for name in ("lm_head.weight", "model.embed_tokens.weight"):  # the second where both are one
        file = path / files.get(name, "model.safetensors")
        if file.exists() and (found := shards.tensors(file, {name})):
            return {"row.weight": found[name][-1:].astype("float32")}, 0.5
    raise heads.Unsupported(f"{path} has no lm_head.weight in *.safetensors")


READERS = {"r2r": r2r, "citer": citer, "co-llm": co_llm}


def convert(algorithm: str, source: Path, out: Path, threshold: float | None) -> None:
    weights, stated = READERS[algorithm](source)
    weights = {k: v.float().numpy() if isinstance(v, torch.Tensor) else v for k, v in weights.items()}
    heads.write(out, algorithm, weights, stated if threshold is None else threshold, f"{algorithm}, converted from {source.name}", {}, half=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("algorithm", choices=READERS)
    parser.add_argument("source", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--threshold", type=float)
    a = parser.parse_args()
    try:
        convert(a.algorithm, a.source, a.out, a.threshold)
    except heads.Unsupported as e:
        raise SystemExit(f"convert.py: {e}") from None


if __name__ == "__main__":
    main()
