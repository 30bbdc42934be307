"""Muon for the matrices (momentum, orthogonalized by Newton-Schulz; Jordan et al. 2024), AdamW for embedding and norms."""

import torch


def orthogonal(g):
    """The nearest matrices with orthonormal rows or columns, roughly, by five quintic steps; g is [n, rows, columns]."""
    x = g / (g.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    tall = x.shape[-2] > x.shape[-1]
    if tall:
        x = x.mT
    for _ in range(5):
        a = x @ x.mT
        x = 3.4445 * x + (-4.7750 * a + 2.0315 * a @ a) @ x
    return x.mT if tall else x


class Optimizer:
    MOMENTUM, DECAY = 0.95, 0.01

    def __init__(self, model, rate: float, other_rate: float):
        self.model, self.rate, self.other_rate = model, rate, other_rate
        named = list(model.named_parameters())
        self.groups: dict[tuple, list] = {}
        for name, p in named:
            if p.dim() == 2 and "embedding" not in name:
                self.groups.setdefault(tuple(p.shape), []).append(p)
        self.momentum = {shape: torch.zeros(len(g), *shape) for shape, g in self.groups.items()}
        others = [p for name, p in named if p.dim() != 2 or "embedding" in name]
        self.adam = torch.optim.AdamW(others, lr=other_rate, betas=(0.9, 0.98), weight_decay=0.0)

    def step(self, scale: float) -> None:
        """One update at that share of the full rates; gradients are cleared."""
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        for group in self.adam.param_groups:
            group["lr"] = self.other_rate * scale
        self.adam.step()
        with torch.no_grad():
            for (rows, columns), parameters in self.groups.items():
                gradient, momentum = torch.stack([p.grad for p in parameters]), self.momentum[rows, columns]
                momentum.lerp_(gradient, 1 - self.MOMENTUM)
                update = orthogonal(gradient.lerp(momentum, self.MOMENTUM))
                rate = self.rate * scale * max(1, rows / columns) ** 0.5
                for p, u in zip(parameters, update):
                    p.mul_(1 - rate * self.DECAY).add_(u, alpha=-rate)
        for p in self.model.parameters():
            p.grad = None

    def state(self) -> dict:
        return {"momentum": self.momentum, "adam": self.adam.state_dict()}

    def restore(self, state: dict) -> None:
        self.momentum = state["momentum"]
        self.adam.load_state_dict(state["adam"])
