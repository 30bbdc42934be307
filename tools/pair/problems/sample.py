"""Problems by seed, split and index: the same three give the same problem, whatever was made before."""

import hashlib
from random import Random

from .draft import Draft, Problem, Redraw
from .families import FAMILIES, WEIGHTS

SPLITS = ("train", "validation", "test")


def split_of(key: tuple) -> str:
    """The split that owns a key. Numbers and operations decide, so a problem in other words is in the same split."""
    slot = hashlib.sha256(repr(key).encode()).digest()[0] % 16
    return {0: "validation", 1: "test"}.get(slot, "train")


def problem(seed: int, split: str, index: int) -> Problem:
    if split not in SPLITS:
        raise ValueError(f"split is {split!r}, expected one of {', '.join(SPLITS)}")
    random = Random(f"problem {seed} {split} {index}")
    while True:
        p = draw(random)
        if p and split_of(p.key) == split:
            return p


def draw(random: Random) -> Problem | None:
    """A problem of any split, or None where the numbers drawn make none."""
    family = random.choices(FAMILIES, WEIGHTS)[0]
    draft = Draft(family.__name__, random)
    try:
        family(draft)
    except Redraw:
        return None
    return draft.finish()
