#!/usr/bin/env python3
"""Writes a prompt set for `tokenrouter collect`.

    prompts.py pair --split train --count 2000 --out train.jsonl      problems of tools/pair
    prompts.py gsm8k FILE.jsonl --first 0 --count 300 --out train.jsonl   lines with prompt (or question) and cot (or answer)
"""

import argparse
import json
import sys
from pathlib import Path


def pair(seed: int, split: str, first: int, count: int) -> list[dict]:
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "pair"))
    from problems.sample import problem

    problems = (problem(seed, split, i) for i in range(first, first + count))
    return [{"prompt": p.question, "answer": str(p.answer)} for p in problems]


def gsm8k(file: Path, first: int, count: int) -> list[dict]:
    rows = [json.loads(line) for line in file.read_text().splitlines()[first : first + count]]
    return [{"prompt": r.get("prompt") or r["question"], "answer": (r.get("cot") or r["answer"]).split("####")[-1].strip()} for r in rows]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", choices=("pair", "gsm8k"))
    parser.add_argument("file", type=Path, nargs="?")
    parser.add_argument("--seed", type=int, default=1, help="of the pair's recipe")
    parser.add_argument("--split", choices=("train", "validation", "test"), default="train")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, required=True)
    parser.add_argument("--out", type=Path, required=True)
    a = parser.parse_args()
    if a.source == "gsm8k" and a.file is None:
        parser.error("gsm8k needs a file")
    rows = pair(a.seed, a.split, a.first, a.count) if a.source == "pair" else gsm8k(a.file, a.first, a.count)
    a.out.write_text("".join(json.dumps(r) + "\n" for r in rows))


if __name__ == "__main__":
    main()
