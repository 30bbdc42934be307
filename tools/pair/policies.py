"""Routing policies for decode.py. Each is made anew for a decode: some keep a state per prompt."""

import torch

from decode import Policy, Step


def alone(large: bool) -> Policy:
    return lambda step: torch.full_like(step.choice, large, dtype=torch.bool)


def r_stitch(threshold: float) -> Policy:
    """The small model hands over where its normalized entropy is above the threshold; the large one writes until its own
    entropy is at or below it (its token is kept, also the last one)."""
    active: list[torch.Tensor] = []

    def policy(step: Step) -> torch.Tensor:
        large = (step.entropy > threshold) | (active[0] if active else False)
        active[:] = [large & (step.large_entropy > threshold) & step.writing]
        return large

    return policy


def entropy_token(threshold: float) -> Policy:
    """One token of the large model wherever the small one's normalized entropy is above the threshold."""
    return lambda step: step.entropy > threshold


def oracle() -> Policy:
    """The large model's token wherever the two differ: what a perfect router would do."""
    return lambda step: step.choice != step.large_choice


def chance(share: float, seed: int) -> Policy:
    random = torch.Generator().manual_seed(seed)
    return lambda step: torch.rand(step.choice.shape, generator=random) < share
