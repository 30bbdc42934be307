#!/usr/bin/env python3
"""Trains one model of the recipe, or all in order that DIR does not hold yet; goes on from DIR/NAME.checkpoint. A model that is
the average of others is made of theirs.

    train.py [NAME] --recipe recipe.toml --work DIR

Writes DIR/NAME.pt (weights, shape, provenance) when the recipe's amount of tokens is done, and a line per report to
DIR/NAME.log. One thread; the same recipe gives the same weights on the same machine and version of PyTorch.
"""

import argparse
import hashlib
import json
import time
from pathlib import Path
from random import Random

import torch
import torch.nn.functional as F
from tokenizers import Tokenizer

from average import average
from corpus import Batch, Stream, pad, validation
from grow import grow
from model import Model, Shape
from optimizer import Optimizer
from recipe import Recipe, load

WARM_UP = 50  # steps
CHECKPOINT_SECONDS = 60


class Training:
    def __init__(self, name: str, recipe: Recipe, work: Path):
        torch.set_num_threads(1)
        self.name, self.recipe, self.work, self.plan = name, recipe, work, recipe.model(name)
        self.tokenizer = Tokenizer.from_file(str(work / "tokenizer.json"))
        self.model = Model(Shape(vocabulary=self.tokenizer.get_vocab_size(), **self.plan["shape"]))
        random = torch.Generator().manual_seed(recipe.seed)
        self.model.start(random)
        if "grown_from" in self.plan:
            parent = torch.load(work / f"{self.plan['grown_from']}.pt", weights_only=True)
            grow(self.model, parent, self.plan["noise"], random)
        if "started_from" in self.plan:
            self.model.load_state_dict(torch.load(work / f"{self.plan['started_from']}.pt", weights_only=True)["weights"])
        self.optimizer = Optimizer(self.model, self.plan["rate"], self.plan["other_rate"])
        # Every model has data of its own, so a grown one sees new problems.
        self.data_seed = recipe.seed * 1000 + list(recipe.models).index(name)
        self.streams = {k: Stream(self.tokenizer, k, self.data_seed, self.plan["batch"]) for k in ("conversation", "drill")}
        self.step, self.tokens, self.seconds, self.digest = 0, 0, 0.0, hashlib.sha256(b"").hexdigest()
        self.resume()

    def resume(self) -> None:
        path = self.work / f"{self.name}.checkpoint"
        if not path.exists():
            return
        c = torch.load(path, weights_only=True)
        self.model.load_state_dict(c["weights"])
        self.optimizer.restore(c["optimizer"])
        self.step, self.tokens, self.seconds, self.digest = c["step"], c["tokens"], c["seconds"], c["digest"]
        for kind, position in c["positions"].items():
            self.streams[kind].position = tuple(position)

    def save(self) -> None:
        temporary = self.work / f"{self.name}.checkpoint.new"
        torch.save(
            {
                "weights": self.model.state_dict(), "optimizer": self.optimizer.state(), "step": self.step, "tokens": self.tokens,
                "seconds": self.seconds, "digest": self.digest, "positions": {k: s.position for k, s in self.streams.items()},
            },
            temporary,
        )
        temporary.replace(self.work / f"{self.name}.checkpoint")

    def done(self) -> float:
        return self.tokens / self.plan["tokens"]

    def batch(self) -> Batch:
        """Drills come in while the recipe's share of the training lasts: words and copying are learnt before."""
        start, end = self.plan["drill_span"]
        late = self.done() >= end or self.tokens > self.landing[0]
        share = self.plan["drill_rest"] if late else self.plan["drill_share"] if self.done() >= start else 0
        kind = "drill" if Random(f"kind {self.data_seed} {self.step}").random() < share else "conversation"
        return self.streams[kind].next()

    def scale(self) -> float:
        """The share of the full rates: a short rise, constant, and a linear fall to 0 (none where decay is 0). A recipe
        with a landing leaves that line at landing_at tokens, for a steeper one that ends after landing tokens more."""
        at, landing = self.landing
        done = min(self.tokens, at) / self.plan["tokens"]
        fall = (1 - done) / self.plan["decay"] if self.plan["decay"] else 1.0
        steep = (at + landing - self.tokens) / landing if self.tokens > at else 1.0
        return min(1.0, (self.step + 1) / WARM_UP, fall) * max(0.0, steep)

    @property
    def landing(self) -> tuple[int, int]:
        """Where the landing starts and how long it is, in tokens; of length 0 at the end if there is none."""
        return self.plan.get("landing_at", self.plan["tokens"]), self.plan.get("landing", 0)

    def train_step(self) -> float:
        tokens, learnt, worked = self.batch()
        mask = learnt[:, 1:]
        logits, target = self.model.logits(self.model.hidden(tokens[:, :-1])[mask]), tokens[:, 1:][mask]
        weight = self.plan.get("result_weight", 1)
        if weight == 1:
            loss = F.cross_entropy(logits, target)
        else:
            weights = torch.where(worked[:, 1:][mask], weight, 1.0)
            loss = (F.cross_entropy(logits, target, reduction="none") * weights).sum() / weights.sum()
        loss.backward()
        self.optimizer.step(self.scale())
        self.step += 1
        self.tokens += tokens.numel()
        self.digest = hashlib.sha256(self.digest.encode() + tokens.numpy().tobytes()).hexdigest()
        return loss.item()

    def run(self) -> None:
        documents = validation(self.tokenizer, self.recipe.seed, self.plan["validation"])
        loss, saved, reported = 0.0, time.monotonic(), self.done()
        while self.tokens < sum(self.landing):
            start = time.process_time()
            value = self.train_step()
            self.seconds += time.process_time() - start
            loss = value if loss == 0 else 0.97 * loss + 0.03 * value
            if time.monotonic() - saved > CHECKPOINT_SECONDS:
                self.save()
                saved = time.monotonic()
            if self.done() - reported > 0.04:
                reported = self.done()
                self.report(loss, documents)
        self.report(loss, documents)
        self.save()
        self.finish()

    def report(self, loss: float, documents) -> None:
        row = {"done": round(self.done(), 3), "step": self.step, "tokens": self.tokens, "cpu_s": round(self.seconds), "loss": round(loss, 4), **evaluate(self.model, documents)}
        with (self.work / f"{self.name}.log").open("a") as f:
            f.write(json.dumps(row) + "\n")
        print(json.dumps(row), flush=True)

    def finish(self) -> None:
        torch.save(
            {
                "weights": self.model.state_dict(), "shape": self.model.shape.__dict__,
                "provenance": {"seed": self.recipe.seed, "steps": self.step, "tokens": self.tokens, "data_sha256": self.digest},
            },
            self.work / f"{self.name}.pt",
        )


@torch.no_grad()
def evaluate(model: Model, documents) -> dict:
    """With the right prefix: the share of responses with every token right, of tokens right, and the loss."""
    exact = right = count = loss = 0.0
    documents = sorted(documents, key=lambda d: len(d.tokens))
    for i in range(0, len(documents), 50):
        tokens, learnt, _ = pad(documents[i : i + 50])
        target, mask = tokens[:, 1:], learnt[:, 1:]
        logits = model.logits(model.hidden(tokens[:, :-1]))
        hit = logits.argmax(-1) == target
        exact += (hit | ~mask).all(1).sum().item()
        right += (hit & mask).sum().item()
        count += mask.sum().item()
        loss += F.cross_entropy(logits[mask], target[mask], reduction="sum").item()
    return {"exact": round(exact / len(documents), 4), "tokens_right": round(right / count, 4), "validation_loss": round(loss / count, 4)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="?")
    parser.add_argument("--recipe", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    a = parser.parse_args()
    recipe = load(a.recipe)
    for name in [a.name] if a.name else recipe.models:
        if not (a.work / f"{name}.pt").exists():
            print(f"train.py: {name}", flush=True)
            if parts := recipe.model(name).get("average_of"):
                average(name, parts, a.work)
            else:
                Training(name, recipe, a.work).run()


if __name__ == "__main__":
    main()
