#!/usr/bin/env python3
"""Writes docs/performance.md from bench/results/*.json. With --check it only says whether the page is up to date."""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "bench/results"
PAGE = ROOT / "docs/performance.md"


def load(name: str) -> dict | None:
    path = RESULTS / name
    return json.loads(path.read_text()) if path.exists() else None


def setting_line(s: dict) -> str:
    sets = f" ({', '.join(s['instruction_sets'])})" if s.get("instruction_sets") else ""
    return f"{s['cpu']}{sets}, {s['cores']} cores; {s['date']}, commit {s['commit']}."


def case_name(r: dict, setting: dict) -> str:
    if r["kind"] == "prefill":
        return f"prefill, {r['tokens']} tokens"
    on = "" if r["context"] == setting["prompt"] else f" on {r['context']:,} of context"
    return f"decode, batch {r['batch']}{on}" if r["kind"] == "decode" else f"extend by {r['tokens']}{on}"


def speed(data: dict) -> list[str]:
    s = data["setting"]
    lines = ["## Forward passes", "", setting_line(s), ""]
    lines += [f"{s['threads']} threads, {s['prompt']} tokens of context, {s['generated']} decode steps; "
              f"median of {s['rounds']} rounds. Tokens per second over the whole batch.", ""]
    if s["peer"]:
        lines += [f"Peer: {s['peer']}. It ran in turns with the engine on the same files; the ratio is the median of the "
                  "rounds' ratios. The engine's figures include drawing the token and its entropy, the peer's do not.", ""]
    for file in dict.fromkeys(r["file"] for r in data["results"]):
        lines += [f"### {file}", "", "| | engine | peer | ratio |", "|---|---:|---:|---:|"]
        for r in (r for r in data["results"] if r["file"] == file):
            name = case_name(r, s)
            peer = f"{r['peer']['tokens_per_second']:.1f} | {r['ratio']:.2f}" if "peer" in r else "– | –"
            lines.append(f"| {name} | {r['engine']['tokens_per_second']:.1f} | {peer} |")
        lines.append("")
    return lines


def perplexity(m: dict) -> str:
    if "perplexity" not in m:
        return "–"
    p = m["perplexity"]
    return f"{p['integer']:.3f} ({100 * (p['integer'] / p['exact_float'] - 1):+.2f}%)"


def accuracy(data: dict) -> list[str]:
    lines = ["## Accuracy", "", setting_line(data["setting"]), "",
             "Under teacher forcing. *Clear steps*: llama.cpp's best id leads by more than 0.25 nats; the share is that of "
             "clear steps with the same best id. The KL divergence is that of the integer path from float32 arithmetic on "
             "the dequantized weights, per step; perplexity, on a fixed text, is that of the integer path, with what it is "
             "more than that of float32 arithmetic.", "",
             "| model | steps | clear | agree | mean log-prob. difference | mean KL | largest KL | perplexity |",
             "|---|---:|---:|---:|---:|---:|---:|---:|"]
    for m in data["models"]:
        g, e = m["golden"], m["exact_float"]
        share = 100 * g["clear_steps_agree"] / g["clear_steps"]
        lines.append(f"| {m['model']} | {g['steps']} | {g['clear_steps']} | {share:.1f}% | "
                     f"{g['mean_abs_logprob_difference']:.4f} | {e['mean_kl']:.5f} | {e['max_kl']:.4f} | {perplexity(m)} |")
    return [*lines, ""]


def main() -> int:
    lines = ["# Performance and accuracy", "",
             "Made by `scripts/render-performance.py` from `bench/results/`; `make bench` measures again.", ""]
    for name, render in (("decode.json", speed), ("accuracy.json", accuracy)):
        if data := load(name):
            lines += render(data)
    text = "\n".join(lines).rstrip() + "\n"
    if "--check" in sys.argv:
        if not PAGE.exists() or PAGE.read_text() != text:
            print("docs/performance.md is not what bench/results gives; run scripts/render-performance.py", file=sys.stderr)
            return 1
        return 0
    PAGE.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
