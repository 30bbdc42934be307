#!/usr/bin/env python3
"""Measures the pair in PyTorch: accuracy of each model and of routing, against the share of tokens the large one writes.

    measure.py --recipe recipe.toml --work DIR [--small NAME] [--large NAME] [--split validation] [--count 400]

Prints a table and writes DIR/measure-SPLIT.json. Choose models and thresholds on the validation split; the test split is
for the figures that are published.
"""

import argparse
import json
import re
from pathlib import Path

import torch
from tokenizers import Tokenizer

import policies
from decode import Written, decode
from model import Model, Shape
from problems.check import names
from problems.sample import Problem, problem
from recipe import load
from tokenizer import END, ROLES

THRESHOLDS = (0.005, 0.01, 0.02, 0.03, 0.04, 0.05, 0.07, 0.1, 0.15, 0.2)


def read(path: Path) -> Model:
    saved = torch.load(path, weights_only=True)
    model = Model(Shape(**saved["shape"]))
    # As the exported file has them: matrices in half precision, norms in full.
    model.load_state_dict({k: v.half().float() if v.dim() == 2 else v for k, v in saved["weights"].items()})
    return model.eval()


class Measurement:
    def __init__(self, tokenizer: Tokenizer, small: Model, large: Model, problems: list[Problem]):
        self.tokenizer, self.small, self.large, self.problems = tokenizer, small, large, problems
        user, assistant = (tokenizer.token_to_id(ROLES[r]) for r in ("user", "assistant"))
        self.prompts = [[user, *tokenizer.encode(p.question).ids, assistant] for p in problems]
        self.rows: list[dict] = []

    def run(self, name: str, policy: policies.Policy) -> dict:
        written = decode(self.small, self.large, self.prompts, self.tokenizer.token_to_id(END), policy)
        row = {"policy": name, **self.score(written)}
        self.rows.append(row)
        print(f"{name:24} answers {row['answers']:.3f}  responses {row['responses']:.3f}  words {row['words']:.3f}  "
              f"wrong names {row['wrong_names']:3}  large share {row['large_share']:.3f}", flush=True)
        return row

    def score(self, written: list[Written]) -> dict:
        """Shares of problems with the right answer, with every token right, and with every word right (numbers aside);
        problems in whose response a name stands that is not the right one; and the large model's share of the tokens."""
        n, answers, responses, right_words, wrong_names = len(written), 0, 0, 0, 0
        for w, p in zip(written, self.problems):
            text = self.tokenizer.decode(w.tokens)
            answers += answer(text) == p.answer
            responses += text == p.response
            right_words += blank(text) == blank(p.response)
            wrong_names += name_list(text) != name_list(p.response)
        tokens = sum(len(w.tokens) for w in written)
        return {
            "answers": answers / n, "responses": responses / n, "words": right_words / n, "wrong_names": wrong_names,
            "large_share": sum(w.by_large for w in written) / tokens, "tokens": tokens / n,
        }


def answer(text: str) -> int | None:
    found = re.search(r"Answer: (\d{1,9})$", text)
    return int(found[1]) if found else None


def blank(text: str) -> str:
    return re.sub(r"\d+", "#", text)


def name_list(text: str) -> list[str]:
    return [w for w in re.findall(r"\w+", text) if names(w)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recipe", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--small", default="small")
    parser.add_argument("--large", default="large")
    parser.add_argument("--split", default="validation", choices=("validation", "test"))
    parser.add_argument("--count", type=int, default=400)
    a = parser.parse_args()
    torch.set_num_threads(1)
    seed = load(a.recipe).seed
    problems = [problem(seed, a.split, i) for i in range(a.count)]
    m = Measurement(Tokenizer.from_file(str(a.work / "tokenizer.json")), read(a.work / f"{a.small}.pt"), read(a.work / f"{a.large}.pt"), problems)
    m.run("small alone", policies.alone(False))
    m.run("large alone", policies.alone(True))
    m.run("oracle", policies.oracle())
    for t in THRESHOLDS:
        m.run(f"r-stitch {t}", policies.r_stitch(t))
    for share in (0.05, 0.12):
        m.run(f"random {share}", policies.chance(share, seed))
    (a.work / f"measure-{a.split}.json").write_text(json.dumps({"count": a.count, "small": a.small, "large": a.large, "rows": m.rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
