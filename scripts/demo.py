#!/usr/bin/env python3
"""Starts the server on the real pair, asks it one question over HTTP, shows the answer and who wrote it, and stops it."""

import argparse
import json
import sys
import time
import urllib.request
from pathlib import Path

from serving import LARGE, ROUTE, Server, ServerFailed

ROOT = Path(__file__).resolve().parents[1]
QUESTION = "Write a Python function that returns the n-th Fibonacci number, and explain in one sentence how it works."


def say(text: str) -> None:
    bold = ("\033[1m", "\033[0m") if sys.stdout.isatty() else ("", "")
    print(f"{bold[0]}{text}{bold[1]}", flush=True)


def ask(url: str, question: str, limit: int) -> tuple[dict, float]:
    """Streams the answer to the terminal; returns the routing object, put together from the chunks, and the seconds it took."""
    body = {"model": ROUTE, "messages": [{"role": "user", "content": question}], "max_tokens": limit, "temperature": 0,
            "stream": True, "routing": {"trace": True}}
    request = urllib.request.Request(f"{url}/v1/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"})
    routing, trace, start = {}, [], time.monotonic()
    with urllib.request.urlopen(request, timeout=600) as answer:
        for line in answer:
            data = line.decode().strip().removeprefix("data: ")
            if not data.startswith("{"):
                continue
            chunk = json.loads(data)
            if "error" in chunk:
                raise ServerFailed(f"the server answered with an error: {chunk['error'].get('message')}")
            for choice in chunk["choices"]:
                sys.stdout.write(choice["delta"].get("content") or "")
                sys.stdout.flush()
            piece = chunk.get("routing") or {}
            trace += piece.get("trace", [])
            routing.update(piece)
    print()
    return routing | {"trace": trace}, time.monotonic() - start


def show(routing: dict, seconds: float) -> None:
    total = sum(routing["tokens"].values())
    say(f"\n{total} tokens in {seconds:.1f} s ({total / seconds:.1f} a second), by {routing['algorithm']}:")
    for model, count in routing["tokens"].items():
        print(f"  {model:20} {count:4} tokens  {count / max(total, 1):4.0%}")
    print(f"  {routing['handoffs']} handoffs, {routing['discarded']} tokens of the small model thrown away for the large one's")
    written = [t["token"] for t in routing.get("trace", []) if t["model"] == LARGE]
    if written:
        more = f" and {len(written) - 20} more" if len(written) > 20 else ""
        print(f"  written by {LARGE}: {' '.join(json.dumps(t, ensure_ascii=False) for t in written[:20])}{more}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", type=Path, default=ROOT / "bin/tokenrouter")
    parser.add_argument("--models", type=Path, required=True)
    parser.add_argument("--question", default=QUESTION)
    parser.add_argument("--max-tokens", type=int, default=200)
    a = parser.parse_args()
    try:
        with Server(a.binary.absolute(), a.models, ROOT / "build/demo") as server:
            say(f"Starting the server on {server.url} (log: {server.log.relative_to(ROOT)}) ...")
            start = time.monotonic()
            server.wait_ready()
            say(f"Ready after {time.monotonic() - start:.1f} s. Asking: {a.question}\n")
            show(*ask(server.url, a.question, a.max_tokens))
    except (ServerFailed, OSError) as e:
        print(f"demo: {e}", file=sys.stderr)
        return 1
    say("\nThe server has stopped. To keep one running: bin/tokenrouter serve --config examples/config/pair.yaml")
    return 0


if __name__ == "__main__":
    sys.exit(main())
