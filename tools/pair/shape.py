"""Sizes of a model, and what all models here have in common. Needs no PyTorch."""

from dataclasses import dataclass

EPSILON, THETA, CONTEXT = 1e-6, 1e4, 512


@dataclass(frozen=True)
class Shape:
    vocabulary: int
    width: int
    layers: int
    heads: int
    kv_heads: int
    feed_forward: int
    head: int = 32

    def weights(self) -> dict[str, tuple[int, ...]]:
        """The shape of each weight of model.Model, by name."""
        q, kv = self.heads * self.head, self.kv_heads * self.head
        block = {
            "attn_norm": (self.width,), "ffn_norm": (self.width,), "q_norm": (self.head,), "k_norm": (self.head,),
            "q": (q, self.width), "o": (self.width, q), "k": (kv, self.width), "v": (kv, self.width),
            "gate": (self.feed_forward, self.width), "up": (self.feed_forward, self.width), "down": (self.width, self.feed_forward),
        }
        named = {f"blocks.{i}.{part}.weight": s for i in range(self.layers) for part, s in block.items()}
        return {"embedding.weight": (self.vocabulary, self.width), **named, "norm.weight": (self.width,)}
