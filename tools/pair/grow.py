"""Grows a trained model to twice its width and a multiple of its depth, computing the same until noise is added.

Width: every channel is doubled and what reads it is halved; heads, their groups and the feed-forward are doubled in
order. Depth: behind every grown block come blocks whose outputs are zero (Chen et al. 2016, Net2Net).
"""

import torch

from model import Model


@torch.no_grad()
def grow(model: Model, parent: dict, noise: float, random: torch.Generator) -> None:
    """Fills model's weights from the parent (as train.py writes it); noise is relative to a matrix's deviation, and
    makes the two halves differ so that they can learn different things."""
    old, s, w = parent["shape"], model.shape, parent["weights"]
    expected = (2 * old["width"], 2 * old["heads"], 2 * old["kv_heads"], 2 * old["feed_forward"], old["head"])
    if (s.width, s.heads, s.kv_heads, s.feed_forward, s.head) != expected or s.layers % old["layers"]:
        raise SystemExit(f"a model of {old} grows to {expected} (width, heads, kv_heads, feed_forward, head), not to {s}")

    def set_matrix(p, value):
        p.copy_(value + noise * value.std() * torch.randn(value.shape, generator=random))

    def rows(m):  # twice the outputs from twice the inputs
        return torch.cat([torch.cat([m, m], 1) / 2] * 2, 0)

    set_matrix(model.embedding.weight, torch.cat([w["embedding.weight"]] * 2, 1))
    model.norm.weight.copy_(torch.cat([w["norm.weight"]] * 2) / 2)  # logits sum over twice the channels
    every = s.layers // old["layers"]
    for i, block in enumerate(model.blocks):
        if i % every:
            block.o.weight.zero_()
            block.down.weight.zero_()
            continue
        for name, p in block.named_parameters():
            value = w[f"blocks.{i // every}.{name}"]
            if name in ("q_norm.weight", "k_norm.weight"):
                p.copy_(value)
            elif value.dim() == 1:
                p.copy_(torch.cat([value, value]))
            else:
                set_matrix(p, rows(value))
