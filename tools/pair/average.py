"""The mean of several models' weights: of models that were trained on from one start it is better than each (Wortsman et al.
2022, Model soups)."""

import hashlib
from pathlib import Path

import torch


def average(name: str, parts: list[str], work: Path) -> None:
    """Writes work/NAME.pt from work/PART.pt of all parts, which share their shape; the provenance counts what all were trained on."""
    saved = [torch.load(work / f"{part}.pt", weights_only=True) for part in parts]
    for part, s in zip(parts, saved):
        if s["shape"] != saved[0]["shape"]:
            raise SystemExit(f"{name} is to be the average of models of one shape; {parts[0]} has {saved[0]['shape']}, {part} {s['shape']}")
    provenance = [s["provenance"] for s in saved]
    torch.save(
        {
            "weights": {k: torch.stack([s["weights"][k] for s in saved]).mean(0) for k in saved[0]["weights"]},
            "shape": saved[0]["shape"],
            "provenance": {
                "seed": provenance[0]["seed"],
                "steps": sum(p["steps"] for p in provenance),
                "tokens": sum(p["tokens"] for p in provenance),
                "data_sha256": hashlib.sha256("".join(p["data_sha256"] for p in provenance).encode()).hexdigest(),
            },
        },
        work / f"{name}.pt",
    )
