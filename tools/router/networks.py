"""The learned routers in PyTorch, laid out and named as their official checkpoints are."""

import torch
from torch import nn


class Citer(nn.Module):
    """CITER's confidence model: a high score trusts the small model."""

    def __init__(self, embedding: int, hidden: int):
        super().__init__()
        self.mlp = nn.Sequential(
            nn.Linear(embedding, hidden), nn.BatchNorm1d(hidden), nn.ReLU(), nn.Dropout(0.1), nn.Linear(hidden, embedding), nn.Dropout(0.1)
        )
        self.linear = nn.Linear(embedding, 1)

    def forward(self, hidden, token_embedding, top_logits):
        return self.linear(self.mlp(hidden))[:, 0]


class Block(nn.Module):
    def __init__(self, width: int, inner: int):
        super().__init__()
        self.layer_norm = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, inner), nn.GELU(), nn.Dropout(0.1), nn.Linear(inner, width), nn.Dropout(0.1))

    def forward(self, x):
        return x + self.mlp(self.layer_norm(x))


class Backbone(nn.Module):
    def __init__(self, width: int, inner: int, blocks: int):
        super().__init__()
        self.input_projection = nn.Linear(width, width)
        self.blocks = nn.ModuleList(Block(width, inner) for _ in range(blocks))
        self.output_layer = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 1))

    def forward(self, x):
        x = self.input_projection(x)
        for block in self.blocks:
            x = block(x)
        return self.output_layer(x)


class R2R(nn.Module):
    """R2R's router: a high score asks for the large model."""

    def __init__(self, embedding: int, top: int, width: int, inner: int, blocks: int):
        super().__init__()
        self.logits_projection = nn.Linear(top, embedding)
        self.combined_projection = nn.Linear(3 * embedding, width)
        self.backbone = Backbone(width, inner, blocks)

    def forward(self, hidden, token_embedding, top_logits):
        x = torch.cat([hidden, token_embedding, self.logits_projection(top_logits)], dim=-1)
        return self.backbone(self.combined_projection(x))[:, 0]


class CoLLM(nn.Module):
    """Co-LLM's deferral row: a high score asks for the large model."""

    def __init__(self, embedding: int):
        super().__init__()
        self.row = nn.Linear(embedding, 1)

    def forward(self, hidden, token_embedding, top_logits):
        return self.row(hidden)[:, 0]
