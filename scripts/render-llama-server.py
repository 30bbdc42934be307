#!/usr/bin/env python3
"""Writes docs/llama-server.md from bench/results/llama_server.json. With --check it only says whether the page is up to date."""

import json
import sys

from generated import ROOT, publish

PAGE = ROOT / "docs" / "llama-server.md"
SAME, TIE = "the same", "the same up to a tie"


def outcome(result: dict) -> str:
    """What a row says: the checks that agree, then those that do not, with the reason."""
    if result["unknown"]:
        return "**" + "; ".join(result["unknown"]) + "**"
    reasons = dict.fromkeys(result["why"].values())
    if result["status"][0] != result["status"][1]:
        reasons = [f"{result['status'][0]} here, {result['status'][1]} there: {reason}" for reason in reasons]
    known = "; ".join(reasons)
    return known or (TIE if any(c["verdict"] == "tie" for c in result["checks"]) else SAME)


def agreed(result: dict) -> str:
    return ", ".join(c["check"].replace("_", " ") for c in result["checks"] if c["verdict"] in ("same", "tie"))


def cell(text: str) -> str:
    return text.replace("|", "\\|")


def render(data: dict) -> str:
    results = data["results"]
    alike = sum(outcome(r) in (SAME, TIE) for r in results)
    lines = ["# Beside llama-server", "",
             "Made by `scripts/render-llama-server.py` from `bench/results/llama_server.json`; `bench/llamacpp/compare_api.py` asks again.", "",
             f"Both servers got the same {len(results)} requests on the same file, {data['model']} ({data['date']}, commit {data['commit']}; the peer says "
             f"`{data['peer']}`). Compared are the status, the shape (which fields there are, and their types), and the values on which both "
             f"must agree: token ids, counts, texts of greedy answers, reasons for the end, calls of tools, types of errors. {alike} answers were the same; the "
             "others differ as the table says. Probabilities of tokens may differ by 0.05, since each multiplies quantized weights in its own way; where greedy "
             "texts part, the two likeliest tokens must lie within 0.25 nats of each other for both.", "",
             "| request | agree | outcome |", "|---|---|---|"]
    lines += [f"| {cell(r['name'])} | {agreed(r)} | {cell(outcome(r))} |" for r in results]
    lines += ["", "## Fields", "", "In the peer's answers and not here, or of another type:", "", "| field | |", "|---|---|"]
    lines += [f"| `{name}` | {cell(reason)} |" for name, reason in data["fields"].items()]
    lines += ["", "Here and not in the peer's answers: " + ", ".join(f"`{name}`" for name in data["own"]) + ".", "",
              "## Coming from llama-server", "",
              "- `/health` says whether the models are loaded, as there; so does `/readyz`, and `/healthz` that the process lives.",
              "- `model` must be the name of a model or a route: `GET /v1/models` lists them.",
              "- What is left out is as with OpenAI: temperature 1 and no other sampling parameter, where llama-server has temperature 0.8, `top_k` 40, `top_p` 0.95 and "
              "`min_p` 0.05. Send these for like answers.",
              "- `repeat_penalty` is `repetition_penalty`, `n_predict` is `max_tokens`; leave `max_tokens` out instead of sending -1.",
              "- Fields that are not supported are refused by name: `grammar`, `mirostat`, `cache_prompt`, `id_slot` and the like have to go. What was read before is "
              "always used again.",
              "- Not there: `/completion`, `/infill`, `/embedding`, `/props`, `/slots`, LoRA, images.",
              "", "[api.md](api.md) has all fields, [cli.md](cli.md) the flags."]
    return "\n".join(lines) + "\n"


def main() -> int:
    return publish({PAGE: render(json.loads((ROOT / "bench" / "results" / "llama_server.json").read_text()))}, "bench/results")


if __name__ == "__main__":
    sys.exit(main())
