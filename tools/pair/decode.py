"""Two models write one response together, greedily: what the server does, in a plain loop over many prompts at once.

Both models compute every position, so a policy costs nothing here; shares are counted, time is not.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch

from model import CONTEXT, Model


@dataclass
class Step:
    """What a policy sees of one position of all prompts: [prompts, ...]."""

    writing: torch.Tensor  # False within a prompt and after an end: what the policy says there is ignored
    entropy: torch.Tensor  # of the small model, divided by ln(vocabulary)
    large_entropy: torch.Tensor
    choice: torch.Tensor  # the small model's most likely token
    large_choice: torch.Tensor
    hidden: torch.Tensor  # of the small model, after its last norm
    logits: torch.Tensor


@dataclass
class Written:
    tokens: list[int]
    by_large: int


Policy = Callable[[Step], torch.Tensor]  # True where the large model's token is taken


def entropy(logits: torch.Tensor) -> torch.Tensor:
    log = logits.log_softmax(-1)
    return -(log.exp() * log).sum(-1) / torch.tensor(float(logits.shape[-1])).log()


@torch.no_grad()
def decode(small: Model, large: Model, prompts: list[list[int]], end: int, policy: Policy, limit: int = 160) -> list[Written]:
    """One response per prompt; the end token is counted, and is the last one unless the limit (tokens of a
    response) came first. The policy
    sees the prompts in order of length, always the same order for the same prompts."""
    order = sorted(range(len(prompts)), key=lambda i: len(prompts[i]))
    lengths = torch.tensor([len(prompts[i]) for i in order])
    first, total = int(lengths.min()), min(int(lengths.max()) + limit, CONTEXT)
    tokens = torch.zeros(len(order), total, dtype=torch.long)
    for row, i in enumerate(order):
        tokens[row, : len(prompts[i])] = torch.tensor(prompts[i])
    models = (small, large)
    caches = [m.cache(len(order), total) for m in models]
    hidden = [m.hidden(tokens[:, :first], c)[:, -1] for m, c in zip(models, caches)]
    by_large, count, done = (torch.zeros(len(order), dtype=t) for t in (torch.long, torch.long, torch.bool))
    for position in range(first, total):
        logits = [m.logits(h) for m, h in zip(models, hidden)]
        writing = (position >= lengths) & (count < limit) & ~done
        step = Step(writing, entropy(logits[0]), entropy(logits[1]), logits[0].argmax(-1), logits[1].argmax(-1), hidden[0], logits[0])
        large_writes = policy(step)
        tokens[:, position] = torch.where(writing, torch.where(large_writes, step.large_choice, step.choice), tokens[:, position])
        count += writing
        by_large += writing & large_writes
        done |= writing & (tokens[:, position] == end)
        if done.all() or position + 1 == total:
            break
        hidden = [m.hidden(tokens[:, position : position + 1], c, position)[:, 0] for m, c in zip(models, caches)]
    written: list[Written] = [Written([], 0)] * len(order)
    for row, i in enumerate(order):
        written[i] = Written(tokens[row, lengths[row] : lengths[row] + count[row]].tolist(), int(by_large[row]))
    return written
