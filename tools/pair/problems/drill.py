"""Dense arithmetic: the equations of training problems without their words."""

import re
from random import Random

from .sample import problem

EQUATION = re.compile(r"(\d+ [-+*/] \d+ =)( \d+)")
# Subtraction is learnt last, division by one digit first: how often an equation of each kind is kept.
KEPT = {"+": 0.7, "-": 1.0, "*": 0.7, "/": 0.4}


def drill(seed: int, index: int, count: int) -> list[tuple[str, str]]:
    """Drill number index: count pairs of ("x + y =", " z")."""
    random = Random(f"drill {seed} {index}")
    pairs: list[tuple[str, str]] = []
    while len(pairs) < count:
        for left, right in EQUATION.findall(problem(seed, "train", random.getrandbits(40)).response):
            if random.random() < KEPT[left.split()[1]]:
                pairs.append((left, right))
    pairs = pairs[:count]
    random.shuffle(pairs)
    return pairs
