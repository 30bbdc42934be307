#!/usr/bin/env python3
"""Measures a route of a running server on held-out problems, over the OpenAI API, many requests at a time.

    bin/tokenrouter serve --config examples/config/word-problems.yaml
    over_http.py --url http://127.0.0.1:8080 --model demo --count 300 --concurrency 16 [--threshold 0.03]

Standard library only. Prints the share of right answers and of each model's tokens; --json writes each answer too.
"""

import argparse
import json
import re
import time
import urllib.request
import zlib
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from problems.sample import Problem, problem


def ask(a: argparse.Namespace, p) -> dict:
    """The server's answer to p.question."""
    # A seed of the problem's own: algorithms that draw who writes give the same again, and other positions for other problems.
    body = {"model": a.model, "messages": [{"role": "user", "content": p.question}], "temperature": 0, "max_tokens": getattr(a, "max_tokens", 160),
            "seed": zlib.crc32(p.question.encode())}
    wanted = getattr(a, "routing", None) or ({} if a.threshold is None else {"threshold": a.threshold})
    if wanted:
        body["routing"] = wanted
    request = urllib.request.Request(f"{a.url}/v1/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=300) as answer:
        return json.load(answer)


def right(text: str, answer: int) -> bool:
    """Whether the number behind `Answer:` is the right one."""
    found = re.search(r"Answer: (\d{1,9})$", text)
    return bool(found) and int(found[1]) == answer


def routing(answer: dict) -> dict:
    """Who wrote how many tokens, and the handoffs: of a model that answers alone all tokens, and none."""
    return answer.get("routing") or {"tokens": {answer["model"]: answer["usage"]["completion_tokens"]}, "handoffs": 0}


def authors(answers: list[dict]) -> Counter[str]:
    """Tokens of all answers by model."""
    tokens: Counter[str] = Counter()
    for a in answers:
        tokens.update(routing(a)["tokens"])
    return tokens


def score(problems: list[Problem], answers: list[dict]) -> dict:
    answers_right = responses_right = handoffs = 0
    for p, a in zip(problems, answers):
        text = a["choices"][0]["message"]["content"]
        answers_right += right(text, p.answer)
        responses_right += text == p.response
        handoffs += routing(a)["handoffs"]
    tokens = authors(answers)
    total = tokens.total()
    return {
        "problems": len(problems), "answers_right": answers_right / len(problems), "responses_right": responses_right / len(problems),
        "token_shares": {m: n / total for m, n in tokens.items()}, "tokens": total, "handoffs": handoffs,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", required=True)
    parser.add_argument("--model", required=True, help="name of a route, or of a model to measure it alone")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--concurrency", type=int, default=16)
    parser.add_argument("--threshold", type=float)
    parser.add_argument("--split", default="test", choices=("validation", "test"))
    parser.add_argument("--seed", type=int, default=1, help="of the recipe that the models were trained by")
    parser.add_argument("--json", type=Path, help="write the figures and all answers there")
    a = parser.parse_args()
    problems = [problem(a.seed, a.split, i) for i in range(a.count)]
    start = time.monotonic()
    with ThreadPoolExecutor(a.concurrency) as pool:
        answers = list(pool.map(lambda p: ask(a, p), problems))
    seconds = time.monotonic() - start
    figures = {"model": a.model, "threshold": a.threshold, "concurrency": a.concurrency, **score(problems, answers), "seconds": round(seconds, 2)}
    print(json.dumps(figures, indent=1))
    if a.json:
        rows = [{"question": p.question, "expected": p.response, "answer": r} for p, r in zip(problems, answers)]
        a.json.write_text(json.dumps({**figures, "answers": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
