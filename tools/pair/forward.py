"""A GGUF file's forward pass in NumPy, float64, straight from the tensors and metadata in the file: no PyTorch, nothing of
model.py. It is slow, and there to be compared with."""

from pathlib import Path

import numpy as np
from gguf import GGUFReader


class File:
    def __init__(self, path: Path):
        reader = GGUFReader(path)
        self.meta = {k: f.contents() for k, f in reader.fields.items()}
        self.tensors = {t.name: np.asarray(t.data, np.float64) for t in reader.tensors}
        if self.meta["general.architecture"] != "qwen3":
            raise SystemExit(f"{path}: architecture is {self.meta['general.architecture']}, expected qwen3")

    def logits(self, tokens: list[int]) -> np.ndarray:
        """[len(tokens), vocabulary]."""
        m, t = (lambda k: self.meta[f"qwen3.{k}"]), self.tensors
        eps, head, group = m("attention.layer_norm_rms_epsilon"), m("attention.key_length"), m("attention.head_count") // m("attention.head_count_kv")
        angle = np.arange(len(tokens))[:, None] * m("rope.freq_base") ** (-np.arange(0, head, 2) / head)
        future = np.triu(np.full((len(tokens), len(tokens)), -np.inf), 1)

        def norm(x, weight):
            return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * weight

        def turn(x):  # [tokens, heads, head]: NeoX pairs channel i with i + head/2
            a, b, c, s = x[..., : head // 2], x[..., head // 2 :], np.cos(angle)[:, None], np.sin(angle)[:, None]
            return np.concatenate([a * c - b * s, b * c + a * s], -1)

        x = t["token_embd.weight"][tokens]
        for i in range(m("block_count")):
            w = {k.removeprefix(f"blk.{i}.").removesuffix(".weight"): v for k, v in t.items() if k.startswith(f"blk.{i}.")}
            h = norm(x, w["attn_norm"])
            q, k, v = (np.reshape(h @ w[n].T, (len(tokens), -1, head)) for n in ("attn_q", "attn_k", "attn_v"))
            q, k = turn(norm(q, w["attn_q_norm"])), turn(norm(k, w["attn_k_norm"]))
            k, v = np.repeat(k, group, 1), np.repeat(v, group, 1)
            score = np.einsum("qhd,khd->hqk", q, k) / np.sqrt(head) + future
            weight = np.exp(score - score.max(-1, keepdims=True))
            mixed = np.einsum("hqk,khd->qhd", weight / weight.sum(-1, keepdims=True), v)
            x = x + mixed.reshape(len(tokens), -1) @ w["attn_output"].T
            h = norm(x, w["ffn_norm"])
            gate = h @ w["ffn_gate"].T
            x = x + (gate / (1 + np.exp(-gate)) * (h @ w["ffn_up"].T)) @ w["ffn_down"].T
        return norm(x, t["output_norm.weight"]) @ t["token_embd.weight"].T
