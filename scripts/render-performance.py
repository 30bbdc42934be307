#!/usr/bin/env python3
"""Writes docs/performance.md from bench/results/*.json. With --check it only says whether the page is up to date."""

import json
import statistics
import sys

from generated import ROOT, part, publish
from performance_batching import choosing, policies, two_servers

RESULTS = ROOT / "bench/results"
PAGE = ROOT / "docs/performance.md"
CHOOSING = ROOT / "docs/choosing.md"


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


# What the engine is to reach as multiples of the peer's speed, by what a file's name begins with and by instruction set: batches
# 1, 4, 8, 16 and 32, a prefill, extends, and batches 1 and 8 on a long context.
QWEN_SMALL, QWEN_LARGE = "qwen2.5-coder-0.5b", "qwen2.5-coder-1.5b"
TARGETS = {
    (QWEN_LARGE, "engine"): {1: 1.6, 4: 2.2, 8: 3.5, 16: 2.9, 32: 2.9, "prefill": 2.9, "extend": 2.2, "deep": 1.4},
    (QWEN_SMALL, "engine"): {1: 1.9, 4: 3.0, 8: 4.2, 16: 5.0, 32: 5.0, "prefill": 5.0, "extend": 3.0, "deep": 1.5},
    ("smollm2", "engine"): {1: 1.5, 4: 2.0, 8: 2.5, 16: 2.5, 32: 2.5, "prefill": 2.5, "extend": 2.0, "deep": 1.3},
    ("gemma", "engine"): {1: 1.5, 4: 2.0, 8: 2.5, 16: 2.5, 32: 2.5, "prefill": 2.5, "extend": 2.0, "deep": 1.3},
    (QWEN_LARGE, "avxvnni"): {1: 1.4, 4: 1.8, 8: 2.5, 16: 1.6, 32: 1.6, "prefill": 1.5},
    (QWEN_LARGE, "avx2"): {1: 1.2, 4: 1.2, 8: 1.2, 16: 1.0, 32: 1.0, "prefill": 1.0, "extend": 1.0},
}
PEAKS = {"engine": "avx512vnni_tops", "avxvnni": "avxvnni_tops", "avx2": "avx2_tops"}
MEMORY_SHARE, DOTS_SHARE = 0.85, 0.6  # of the machine's limits, where these forbid the multiple


def target_of(r: dict, side: str, setting: dict) -> float | None:
    for (begins, of), targets in TARGETS.items():
        if r["file"].startswith(begins) and of == side:
            if r["kind"] != "decode":
                return targets.get(r["kind"])
            return targets.get("deep" if deep(r, setting) else r["batch"])
    return None


def shares(r: dict, side: str, data: dict) -> tuple[float, float]:
    """What a row takes of the memory's speed and of the dot products, weights alone, in the limits measured in its own rounds."""
    w = data["files"][r["file"]]
    machine = [x for x in data["limits"] if x["file"] == r["file"]]
    limit = lambda key: statistics.median(x[key] for x in machine)
    steps = r[side]["tokens_per_second"] / (r["batch"] * r["tokens"])
    outputs = {"decode": r["batch"], "extend": 1, "prefill": 0}[r["kind"]]
    products = (w["multiply_adds"] - w["output_multiply_adds"]) * r["batch"] * r["tokens"] + w["output_multiply_adds"] * outputs
    return w["bytes"] * steps / limit("reads_gb_per_second") / 1e9, 2 * products * steps / limit(PEAKS[side]) / 1e12


def verdict(r: dict, side: str, data: dict) -> str:
    target = target_of(r, side, data["setting"])
    if target is None:
        return ""
    memory, dots = shares(r, side, data)
    if r[side]["ratio"] >= target:
        return f"{target:g}"
    if memory >= MEMORY_SHARE or dots >= DOTS_SHARE:
        return f"{target:g}: at the limit"
    return f"{target:g}: **not reached**"


def speed_row(r: dict, side: str, data: dict) -> str:
    peer = f"{r['peer']['tokens_per_second']:.1f} | {r[side]['ratio']:.2f} | {verdict(r, side, data)}" if "peer" in r else "– | – |"
    memory, dots = shares(r, side, data) if data.get("limits") else (0, 0)
    return f"| {case_name(r, data['setting'])} | {r[side]['tokens_per_second']:.1f} | {peer} | {100 * memory:.0f}% | {100 * dots:.0f}% |"


def rounds_text(data: dict) -> str:
    """How many rounds there were, those of long contexts apart."""
    usual = min(len(r["engine"]["rounds"]) for r in data["results"] if not deep(r, data["setting"]))
    long = min((len(r["engine"]["rounds"]) for r in data["results"] if deep(r, data["setting"])), default=usual)
    return f"{usual} rounds" + (f", of {long} where the context is long" if long != usual else "")


def deep(r: dict, setting: dict) -> bool:
    return r["kind"] == "decode" and r["context"] != setting["prompt"]


def speed(data: dict) -> list[str]:
    s = data["setting"]
    lines = ["## Forward passes", "", setting_line(s), ""]
    lines += [f"{s['threads']} threads, {s['prompt']} tokens of context, {s['generated']} decode steps; "
              f"median of {rounds_text(data)}. The sequences of a batch have their prompt in common. Tokens per second over the whole "
              "batch.", ""]
    if s["peer"]:
        lines += [f"Peer: {s['peer']}. It ran in turns with the engine on the same files; the ratio is the median of the "
                  "rounds' ratios. The engine's figures include drawing the token and its entropy, the peer's do not.", "",
                  "*Memory* and *dots* are what the weights alone take of the speed of plain reads and of 8-bit dot products on all threads, "
                  f"both measured in the same rounds. Where {100 * MEMORY_SHARE:.0f}% of the one or {100 * DOTS_SHARE:.0f}% of the other is less "
                  "than the target, these are the target.", ""]
    for file in dict.fromkeys(r["file"] for r in data["results"]):
        rows = [r for r in data["results"] if r["file"] == file]
        for side, name in (("engine", s["best"]), ("avxvnni", "AVX-VNNI"), ("avx2", "AVX2")):
            if not any(side in r for r in rows):
                continue
            only = "" if side == "engine" else ", nothing above it allowed to the engine"
            lines += [f"### {file}, {name}{only}", "", "| | engine | peer | ratio | target | memory | dots |",
                      "|---|---:|---:|---:|---|---:|---:|"]
            lines += [speed_row(r, side, data) for r in sorted(rows, key=order) if side in r]
            lines.append("")
    return lines


def order(r: dict) -> tuple:
    return r["kind"], r["context"], r["batch"], r["tokens"]


def operators(data: dict) -> list[str]:
    """Products of one matrix of each format: bytes of weights at one column, dot products at 64."""
    peak = {"avx512vnni": "512-bit VNNI", "avxvnni": "256-bit VNNI", "avx2": "AVX2"}[data["setting"]["isa"]]
    threads = [x["threads"] for x in data["limits"]]
    lines = ["## Operators", "", setting_line(data["setting"]), "",
             "Products of matrices of 1,536 rows whose weights come from memory, by `bench/operators/measure.py`: the bytes of weights at "
             "one column and the 8-bit dot products at 64, with what they are of the limits measured in the same run ("
             + "; ".join(f"{x['threads']} threads: {x['reads_gb_per_second']:.1f} GB/s, {x['tops'][peak]:.2f} TOPS" if x["threads"] > 1 else
                         f"one thread: {x['reads_gb_per_second']:.1f} GB/s, {x['tops'][peak]:.2f} TOPS" for x in data["limits"]) + ").", "",
             "| | " + " | ".join(f"{n} thread{'s' if n > 1 else ''}, batch 1 | batch 64" for n in threads) + " |",
             "|---|" + "---:|" * 2 * len(threads)]
    rows = {(p["type"], p["threads"], p["batch"]): p for p in data["products"] if p["rows"] == 1536}
    for kind in dict.fromkeys(p["type"] for p in data["products"] if p["rows"] == 1536):
        cells = []
        for x in data["limits"]:
            one, many = rows[kind, x["threads"], 1], rows[kind, x["threads"], 64]
            cells += [f"{one['gb_per_second']:.1f} GB/s ({100 * one['gb_per_second'] / x['reads_gb_per_second']:.0f}%)",
                      f"{many['tops']:.2f} TOPS" + ("" if kind in ("F16", "F32") else f" ({100 * many['tops'] / x['tops'][peak]:.0f}%)")]
        lines.append(f"| {kind} | " + " | ".join(cells) + " |")
    return [*lines, ""]


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
    for name, render in (("decode.json", speed), ("operators.json", operators), ("policies.json", lambda d: policies(d, setting_line)),
                         ("two_servers.json", two_servers), ("accuracy.json", accuracy)):
        if data := load(name):
            lines += render(data)
    pages = {PAGE: "\n".join(lines).rstrip() + "\n"}
    if data := load("policies.json"):
        pages[CHOOSING] = part(CHOOSING, "speed", choosing(data))
    return publish(pages, "bench/results")


if __name__ == "__main__":
    sys.exit(main())
