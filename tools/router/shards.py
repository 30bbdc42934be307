"""Reads what `tokenrouter collect` wrote, and safetensors files in general, with NumPy alone."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

DTYPES = {"F32": np.float32, "F16": np.float16, "I64": np.int64, "I32": np.int32, "I8": np.int8, "BF16": np.uint16}


def tensors(path: Path, names: set[str] | None = None) -> dict[str, np.ndarray]:
    """The arrays of a file, or those named; BF16 as float32."""
    with path.open("rb") as f:
        length = int.from_bytes(f.read(8), "little")
        header = json.loads(f.read(length))
        found = {}
        for name, t in header.items():
            if name == "__metadata__" or (names is not None and name not in names):
                continue
            if t["dtype"] not in DTYPES:
                raise ValueError(f"{path}: {name} is of type {t['dtype']}, expected one of {', '.join(DTYPES)}")
            begin, end = t["data_offsets"]
            f.seek(8 + length + begin)
            value = np.frombuffer(f.read(end - begin), DTYPES[t["dtype"]]).reshape(t["shape"])
            found[name] = (value.astype(np.uint32) << 16).view(np.float32) if t["dtype"] == "BF16" else value
        return found


@dataclass
class Positions:
    """All positions of a collection, one after the other."""

    hidden: np.ndarray  # [n, E]
    top_logits: np.ndarray  # [n, K]
    small: np.ndarray  # [n] the small model's token
    large: np.ndarray  # [n] the large model's token
    right: np.ndarray  # [n] 1 or 0: the result with the small model's token; -1: not known
    settings: dict
    sha256: str  # of the files

    @property
    def differs(self) -> np.ndarray:
        return self.small != self.large

    def labels(self, kind: str) -> tuple[np.ndarray, np.ndarray]:
        """Whether the large model should write (float32), and which positions count (bool)."""
        if kind == "choice":
            return self.differs.astype(np.float32), np.ones(len(self.small), bool)
        if self.settings["rollouts"] == "none":
            raise SystemExit("--label answer needs a collection with --rollouts")
        return (self.differs & (self.right == 0)).astype(np.float32), ~self.differs | (self.right >= 0)


def read(directory: Path) -> Positions:
    files = sorted(directory.glob("*.safetensors"))
    if not files:
        raise SystemExit(f"{directory} has no *.safetensors: run `tokenrouter collect` first")
    digest = hashlib.sha256()
    parts = []
    for file in files:
        digest.update(file.read_bytes())
        parts.append(tensors(file))
    joined = {k: np.concatenate([p[k] for p in parts]) for k in ("hidden", "top_logits", "small", "large", "right")}
    return Positions(**joined, settings=json.loads((directory / "settings.json").read_text()), sha256=digest.hexdigest())
