"""The architecture of both models, Qwen3's: RMSNorm, RoPE (NeoX), grouped queries with normed heads, SwiGLU, tied embeddings."""

import torch
import torch.nn.functional as F
from torch import nn

from shape import CONTEXT, EPSILON, THETA, Shape


class Norm(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return F.rms_norm(x, (x.shape[-1],), self.weight, EPSILON)


def rotate(x, cos, sin):
    a, b = x.chunk(2, -1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)


class Block(nn.Module):
    def __init__(self, s: Shape):
        super().__init__()
        self.shape = s

        def linear(rows, columns):
            return nn.Linear(rows, columns, bias=False)

        self.attn_norm, self.ffn_norm, self.q_norm, self.k_norm = Norm(s.width), Norm(s.width), Norm(s.head), Norm(s.head)
        self.q, self.o = linear(s.width, s.heads * s.head), linear(s.heads * s.head, s.width)
        self.k, self.v = linear(s.width, s.kv_heads * s.head), linear(s.width, s.kv_heads * s.head)
        self.gate, self.up, self.down = linear(s.width, s.feed_forward), linear(s.width, s.feed_forward), linear(s.feed_forward, s.width)

    def forward(self, x, cos, sin, cache=None, past=0):
        s, (batch, length, _) = self.shape, x.shape
        h = self.attn_norm(x)
        q = rotate(self.q_norm(self.q(h).view(batch, length, s.heads, s.head)).transpose(1, 2), cos, sin)
        k = rotate(self.k_norm(self.k(h).view(batch, length, s.kv_heads, s.head)).transpose(1, 2), cos, sin)
        v = self.v(h).view(batch, length, s.kv_heads, s.head).transpose(1, 2)
        if cache is not None:
            cache[0][:, :, past : past + length], cache[1][:, :, past : past + length] = k, v
            k, v = cache[0][:, :, : past + length], cache[1][:, :, : past + length]
        y = F.scaled_dot_product_attention(q, k, v, is_causal=length > 1, enable_gqa=True)
        x = x + self.o(y.transpose(1, 2).reshape(batch, length, -1))
        h = self.ffn_norm(x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


class Model(nn.Module):
    """hidden(tokens) is [batch, length, width] after the last norm; logits are hidden @ embedding^T."""

    def __init__(self, s: Shape):
        super().__init__()
        self.shape = s
        self.embedding = nn.Embedding(s.vocabulary, s.width)
        self.blocks = nn.ModuleList(Block(s) for _ in range(s.layers))
        self.norm = Norm(s.width)
        angles = torch.outer(torch.arange(CONTEXT).double(), THETA ** (-torch.arange(0, s.head, 2).double() / s.head))
        self.register_buffer("cos", angles.cos().float(), False)
        self.register_buffer("sin", angles.sin().float(), False)

    def start(self, random: torch.Generator) -> None:
        """Random weights; what writes into the residual stream is scaled down by the depth."""
        for name, p in self.named_parameters():
            if p.dim() == 2:
                out = name.endswith(("o.weight", "down.weight"))
                scale = 0.02 if "embedding" in name else p.shape[1] ** -0.5 * ((2 * self.shape.layers) ** -0.5 if out else 1)
                p.data.copy_(torch.randn(p.shape, generator=random) * scale)

    def hidden(self, tokens, cache=None, past=0):
        x, end = self.embedding(tokens), past + tokens.shape[1]
        for i, block in enumerate(self.blocks):
            x = block(x, self.cos[past:end], self.sin[past:end], cache and cache[i], past)
        return self.norm(x)

    def logits(self, hidden):
        return hidden @ self.embedding.weight.T

    def cache(self, batch: int, length: int):
        s = self.shape
        return [[torch.zeros(batch, s.kv_heads, length, s.head) for _ in "kv"] for _ in range(s.layers)]

    def parameter_count(self) -> int:
        return sum(p.numel() for p in self.parameters())
