#!/usr/bin/env python3
"""Fits a router on a collection and writes it as GGUF.

    train.py citer|r2r|co-llm --train DIR --validation DIR --small small.gguf --out head.gguf

The epoch and the threshold are chosen on the validation prompts: the threshold is the one that sends the fewest tokens to the
large model among those that catch --recall of the positions labelled for it. Beside the head, OUT.json has the figures. The same
seed gives the same file on the same machine. A checkpoint after each epoch lets it go on where it stopped.
"""

import argparse
import copy
import json
import os
from pathlib import Path

import gguf
import numpy as np
import torch
from torch.nn import functional

import heads
import networks
import shards


def network(a: argparse.Namespace, embedding: int, top: int) -> torch.nn.Module:
    if a.algorithm == "citer":
        return networks.Citer(embedding, a.width or 2 * embedding)
    if a.algorithm == "r2r":
        width = a.width or 96
        return networks.R2R(embedding, top, width, 2 * width, a.blocks)
    return networks.CoLLM(embedding)


def token_embeddings(path: Path) -> torch.Tensor:
    """[vocabulary, E] of a GGUF file."""
    for t in gguf.GGUFReader(path).tensors:
        if t.name == "token_embd.weight":
            return torch.from_numpy(np.array(gguf.quants.dequantize(t.data, t.tensor_type), np.float32))
    raise SystemExit(f"{path} has no token_embd.weight")


class Data:
    def __init__(self, p: shards.Positions, label: str, embeddings: torch.Tensor):
        wanted, counts = p.labels(label)
        self.inputs = (torch.from_numpy(p.hidden[counts]), embeddings[torch.from_numpy(p.small[counts]).long()], torch.from_numpy(p.top_logits[counts]))
        self.wanted = torch.from_numpy(wanted[counts])
        self.n = len(self.wanted)


def epoch(model, optimizer, data: Data, batch: int, weight: torch.Tensor, flip: bool, order: torch.Generator) -> None:
    model.train()
    for rows in torch.randperm(data.n, generator=order).split(batch):
        if len(rows) < 2:
            continue  # batch norm needs two
        score = model(*(x[rows] for x in data.inputs))
        loss = functional.binary_cross_entropy_with_logits(-score if flip else score, data.wanted[rows], pos_weight=weight)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


@torch.no_grad()
def wish(model, data: Data, flip: bool) -> torch.Tensor:
    """The score for the large model."""
    model.eval()
    score = model(*data.inputs)
    return -score if flip else score


def ranked(wish: torch.Tensor, wanted: torch.Tensor) -> tuple[np.ndarray, np.ndarray]:
    """The scores from the highest down, and the share of the labelled positions among them so far."""
    order = torch.argsort(wish, descending=True, stable=True)
    caught = torch.cumsum(wanted[order], 0) / wanted.sum().clamp(min=1)
    return wish[order].numpy(), caught.numpy()


def figures(scores: np.ndarray, caught: np.ndarray, at: int) -> dict:
    n = len(scores)
    shares = {str(s): round(float(caught[max(int(n * s) - 1, 0)]), 4) for s in (0.02, 0.03, 0.05, 0.07, 0.1, 0.15)}
    return {"positions": n, "large_share": round((at + 1) / n, 4), "recall": round(float(caught[at]), 4), "recall_at_share": shares}


def fit(a: argparse.Namespace) -> None:
    torch.manual_seed(a.seed)
    torch.set_num_threads(1)
    training, validation = shards.read(a.train), shards.read(a.validation)
    for key in ("small_sha256", "large_sha256", "top"):
        if training.settings[key] != validation.settings[key]:
            raise SystemExit(f"{a.train} and {a.validation} were not collected alike: {key} differs")
    embeddings = token_embeddings(a.small)
    train, held_out = (Data(p, a.label, embeddings) for p in (training, validation))
    if not train.wanted.any() or not held_out.wanted.any():
        raise SystemExit("no position is labelled for the large model: collect more prompts")
    model = network(a, training.hidden.shape[1], training.top_logits.shape[1])
    optimizer = torch.optim.AdamW(model.parameters(), lr=a.rate, weight_decay=5e-4)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, a.epochs)
    flip = a.algorithm == "citer"
    weight = torch.tensor(a.positive_weight or (1.0 if flip else float((train.n - train.wanted.sum()) / train.wanted.sum())))
    best, start = {"loss": float("inf")}, 0
    order = torch.Generator().manual_seed(a.seed)
    run = {k: str(v) for k, v in sorted(vars(a).items())} | {"data": training.sha256 + validation.sha256}
    checkpoint = a.out.with_suffix(".checkpoint")
    a.out.parent.mkdir(parents=True, exist_ok=True)
    if checkpoint.exists():
        saved = torch.load(checkpoint, weights_only=True)
        if saved["run"] != run:
            raise SystemExit(f"{checkpoint} belongs to a training with other arguments or data: remove it to start anew")
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        schedule.load_state_dict(saved["schedule"])
        order.set_state(saved["order"])
        torch.set_rng_state(saved["random"])
        best, start = saved["best"], saved["epoch"]
    for e in range(start, a.epochs):
        epoch(model, optimizer, train, a.batch, weight, flip, order)
        schedule.step()
        scores = wish(model, held_out, flip)
        loss = float(functional.binary_cross_entropy_with_logits(scores, held_out.wanted, pos_weight=weight))
        print(f"epoch {e + 1}: validation loss {loss:.4f}", flush=True)
        if loss < best["loss"]:
            best = {"loss": loss, "epoch": e + 1, "weights": copy.deepcopy(model.state_dict())}
        saved = {"run": run, "model": model.state_dict(), "optimizer": optimizer.state_dict(), "schedule": schedule.state_dict(),
                 "order": order.get_state(), "random": torch.get_rng_state(), "best": best, "epoch": e + 1}
        torch.save(saved, checkpoint.with_suffix(".part"))
        os.replace(checkpoint.with_suffix(".part"), checkpoint)
    model.load_state_dict(best["weights"])
    scores, caught = ranked(wish(model, held_out, flip), held_out.wanted)
    at = int(np.argmax(caught >= a.recall))
    # Between two scores, so that rounding in the file moves nothing across.
    middle = float(scores[at] + scores[min(at + 1, len(scores) - 1)]) / 2
    threshold = 1 / (1 + np.exp(middle if flip else -middle))
    found = {"algorithm": a.algorithm, "label": a.label, "labelled_share": round(float(held_out.wanted.mean()), 4),
             "threshold": round(float(threshold), 6), "epoch": best["epoch"], **figures(scores, caught, at)}
    provenance = {"seed": a.seed, "epochs": best["epoch"], "positions": train.n, "label": a.label, "data_sha256": training.sha256,
                  "validation_sha256": validation.sha256, "small": training.settings["small_sha256"], "large": training.settings["large_sha256"],
                  "validation_large_share": float(found["large_share"]), "validation_recall": float(found["recall"])}
    heads.write(a.out, a.algorithm, {k: v.numpy() for k, v in best["weights"].items()}, threshold, f"{a.algorithm} for {training.settings['small']}", provenance)
    a.out.with_suffix(".json").write_text(json.dumps(found, indent=1) + "\n")
    checkpoint.unlink(missing_ok=True)
    print(json.dumps(found))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("algorithm", choices=heads.FORMS)
    parser.add_argument("--train", type=Path, required=True)
    parser.add_argument("--validation", type=Path, required=True)
    parser.add_argument("--small", type=Path, required=True, help="GGUF file of the small model, for its token embeddings")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--label", choices=("choice", "answer"), default="choice", help="the models differ; or the result goes wrong")
    parser.add_argument("--recall", type=float, default=0.95)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--batch", type=int, default=1024)
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--positive-weight", type=float, help="of positions for the large model in the loss; default: 1 for citer, else balanced")
    parser.add_argument("--width", type=int, help="of the hidden layer (citer) or the blocks (r2r)")
    parser.add_argument("--blocks", type=int, default=2, help="of r2r")
    parser.add_argument("--seed", type=int, default=1)
    fit(parser.parse_args())


if __name__ == "__main__":
    main()
