#!/usr/bin/env python3
"""Writes docs/routing-quality.md with its plots, and the thresholds of docs/choosing.md, from bench/results/pareto*.json. With --check it only says whether they are up to date."""

import json
import sys

from generated import ROOT, part, publish

REAL = "qwen2.5-coder"
COLOURS = ("#2f81f7", "#d1741c", "#2da44e", "#bf4b8a", "#8b5cf6", "#b08800", "#0e8a94", "#cf4a3c", "#6e7781")


def percent(x: float) -> str:
    return f"{100 * x:.1f} %"


def setting(curve: dict, p: dict) -> str:
    """What a point was asked with, "threshold 0.03"; a list in the form "weights 1 : 3"."""
    if "over" not in curve:
        return "–"
    values = p["value"] if isinstance(p["value"], list) else [p["value"]]
    return f"{curve['over']} {' : '.join(f'{v:g}' for v in values)}"


def band(p: dict) -> str:
    return f"{100 * p['interval'][0]:.1f} to {percent(p['interval'][1])}"


def interpolated(curve: dict, share: float, single: dict) -> float:
    """A curve's accuracy at a share, on the line through its points and both single models."""
    small, large = single.values()
    ends = [(0.0, small["accuracy"]), (1.0, large["accuracy"])]
    points = sorted(ends + [(p["large_share"], p["accuracy"]) for p in curve["points"]])
    for (x0, y0), (x1, y1) in zip(points, points[1:]):
        if x0 <= share <= x1:
            return y0 + (y1 - y0) * (share - x0) / (x1 - x0) if x1 > x0 else y1
    return points[-1][1]


def targets(data: dict) -> list[str]:
    small, large = (p["accuracy"] for p in data["single"].values())
    met = lambda ok: "met" if ok else "**not met**"  # noqa: E731
    lines = [f"| large model alone: at least 98 % | {percent(large)} | {met(large >= 0.98)} |",
             f"| small model alone: 30 to 60 % | {percent(small)} | {met(0.3 <= small <= 0.6)} |"]
    by = {c["routing"]["algorithm"]: c for c in data["curves"]}
    good = [p for p in by["r-stitch"]["points"] if p["accuracy"] >= 0.99 * large]
    if not good:
        return [*lines, f"| R-Stitch: 99 % of the large model's accuracy with at most 12 % of the tokens | no point reaches it | {met(False)} |"]
    best = min(good, key=lambda p: p["large_share"])
    lines.append(f"| R-Stitch: 99 % of the large model's accuracy with at most 12 % of the tokens | {percent(best['accuracy'] / large)} "
                 f"with {percent(best['large_share'])} | {met(best['large_share'] <= 0.12)} |")
    for algorithm in ("random", "query"):
        gap = best["accuracy"] - interpolated(by[algorithm], best["large_share"], data["single"])
        lines.append(f"| {by[algorithm]['name']} at that share: at least 25 points behind | {100 * gap:.1f} points | {met(gap >= 0.25)} |")
    return [*lines, learned(data, by["r-stitch"])]


def learned(data: dict, entropy: dict) -> str:
    """The best point of a learned head with at most 7 % of the tokens, beside entropy at the same share."""
    points = [(p, c["name"]) for c in data["curves"] if "head" in c["routing"] for p in c["points"] if p["large_share"] <= 0.07]
    target = "| best learned head: 97 % with at most 7 % of the tokens, better than R-Stitch at that share |"
    if not points:
        return f"{target} no such point | **not met** |"
    best, name = max(points, key=lambda x: x[0]["accuracy"])
    gap = best["accuracy"] - interpolated(entropy, best["large_share"], data["single"])
    met = "met" if best["accuracy"] >= 0.97 and gap > 0 else "**not met**"
    return f"{target} {name}: {percent(best['accuracy'])} with {percent(best['large_share'])}, {100 * gap:+.1f} points | {met} |"


def page(data: dict, other: dict | None = None) -> str:
    """The page on the built-in pair, and on another one if it was measured."""
    lines = ["# Quality of routing", "",
             "Made by `scripts/render-routing.py` from `bench/results/pareto.json`; `make pareto` measures again.", "",
             f"The pair that the program carries, {data['problems']:,} word problems of the test split, greedy, over HTTP. Accuracy is the "
             "share of right answers, with a 95 % bootstrap interval; share is that of tokens that the large model wrote. All points "
             "measured are shown; the table of targets takes that of R-Stitch with the least share that reaches 99 %, and the best one of a "
             "learned head, so these are picked on these very problems, and a little flattered by that. The default threshold was chosen on others.", "", "![accuracy against share](pareto.svg)", "",
             "| target | measured | |", "|---|---|---|", *targets(data), "",
             *table(data),
             "", "Accuracy between two points, for the comparison at equal share, is read off the straight line through them. Speculative "
             "decoding's answers are the large model's: what it saves are steps, not tokens.", ""]
    return "\n".join(lines + (real(other) if other else []))


def real(data: dict) -> list[str]:
    """The section on a pair of files."""
    small, large = data["single"]
    return [f"## {small} and {large}", "",
            f"{data['problems']} problems of GSM8K's test split, greedy, at most 320 tokens, 16 clients at a time; the heads are in `models/qwen2.5-coder`. "
            "The right answer is the last number in a box, or of the text. Tokens/s are those of the whole measurement of a point.",
            "", f"![accuracy against share](pareto-{REAL}.svg)", "", *table(data, speed=True), ""]


def table(data: dict, speed: bool = False) -> list[str]:
    """All points; with speed, tokens/s too."""
    more, rule = (" tokens/s |", "---:|") if speed else ("", "")
    rows = [(f"{name} alone", "–", p) for name, p in data["single"].items()] + [(c["name"], setting(c, p), p) for c in data["curves"] for p in c["points"]]
    return [f"| | value | share | accuracy | 95 % interval |{more}", f"|---|---:|---:|---:|---|{rule}",
            *(f"| {name} | {value} | {percent(p['large_share'])} | {percent(p['accuracy'])} | {band(p)} |" + (f" {p['tokens_per_second']:.0f} |" if speed else "")
              for name, value, p in rows)]


def choosing(data: dict) -> list[str]:
    """What docs/choosing.md says of thresholds: R-Stitch at each, and the best of every algorithm for few tokens of the large model."""
    few = 0.06
    small, large = (data["single"][m] for m in ("demo-small", "demo-large"))
    kept = lambda p: percent(p["accuracy"] / large["accuracy"])  # noqa: E731
    stitch = next(c for c in data["curves"] if c["routing"]["algorithm"] == "r-stitch")
    lines = [f"Measured on the built-in pair, {data['problems']:,} word problems, greedy ([all points](routing-quality.md)). With `r-stitch`:", "",
             "| threshold | tokens of the large model | right answers | of those of the large model |", "|---:|---:|---:|---:|",
             f"| large model alone | {percent(large['large_share'])} | {percent(large['accuracy'])} | {kept(large)} |"]
    lines += [f"| {p['value']:g} | {percent(p['large_share'])} | {percent(p['accuracy'])} | {kept(p)} |" for p in stitch["points"]]
    lines += [f"| small model alone | {percent(small['large_share'])} | {percent(small['accuracy'])} | {kept(small)} |", "",
              f"Each algorithm at its best with at most {100 * few:g} % of the tokens from the large model:", "",
              "| | | tokens of the large model | right answers | of those of the large model |", "|---|---|---:|---:|---:|"]
    best = [(max(points, key=lambda p: p["accuracy"]), c) for c in data["curves"] if (points := [p for p in c["points"] if p["large_share"] <= few])]
    lines += [f"| {c['name']} | {setting(c, p)} | {percent(p['large_share'])} | {percent(p['accuracy'])} | {kept(p)} |"
              for p, c in sorted(best, key=lambda x: -x[0]["accuracy"])]
    return lines


def plot(data: dict) -> str:
    low = 0.5 if min(p["accuracy"] for p in data["single"].values()) >= 0.5 else 0.0
    x, y = lambda s: 60 + 600 * s ** 0.5, lambda v: 330 - 300 * (v - low) / (1 - low)  # noqa: E731
    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 900 380" font-family="sans-serif" font-size="13">',
           '<rect width="900" height="380" fill="#ffffff"/><g stroke="#d0d7de" fill="#57606a">']
    for i in range(6):
        v = low + (1 - low) * i / 5
        out.append(f'<path d="M60 {y(v):.1f}H660"/><text x="52" y="{y(v) + 4:.1f}" text-anchor="end" stroke="none">{100 * v:.0f} %</text>')
    for s in (0, 0.01, 0.05, 0.1, 0.25, 0.5, 1):
        out.append(f'<path d="M{x(s):.1f} 30V330"/><text x="{x(s):.1f}" y="348" text-anchor="middle" stroke="none">{100 * s:g} %</text>')
    out.append('<text x="360" y="370" text-anchor="middle" stroke="none">tokens of the large model (square-root scale)</text></g>')
    for i, c in enumerate(data["curves"]):
        colour, points = COLOURS[i % len(COLOURS)], sorted(c["points"], key=lambda p: p["large_share"])
        line = " ".join(f"{x(p['large_share']):.1f},{y(p['accuracy']):.1f}" for p in points)
        out.append(f'<g stroke="{colour}" fill="{colour}"><polyline points="{line}" fill="none" stroke-width="2"/>')
        for p in points:
            a, b = (y(max(v, low)) for v in p["interval"])
            px = x(p["large_share"])
            out.append(f'<circle cx="{px:.1f}" cy="{y(p["accuracy"]):.1f}" r="3"/><path d="M{px:.1f} {a:.1f}V{b:.1f}"/>')
        out.append(f'<text x="675" y="{50 + 22 * i}" stroke="none">{c["name"]}</text></g>')
    for name, p in data["single"].items():
        out.append(f'<rect x="{x(p["large_share"]) - 4:.1f}" y="{y(p["accuracy"]) - 4:.1f}" width="8" height="8" fill="#24292f"><title>{name}</title></rect>')
    return "\n".join([*out, '<text x="675" y="' f'{50 + 22 * len(data["curves"])}' '" fill="#24292f">squares: each model alone</text>', "</svg>", ""])


def main() -> int:
    results = ROOT / "bench/results/pareto.json"
    if not results.exists():
        print("bench/results/pareto.json is not there; make pareto measures it", file=sys.stderr)
        return 0 if "--check" in sys.argv else 1
    data, more, docs = json.loads(results.read_text()), ROOT / f"bench/results/pareto-{REAL}.json", ROOT / "docs"
    other = json.loads(more.read_text()) if more.exists() else None
    files = {docs / "routing-quality.md": page(data, other), docs / "pareto.svg": plot(data),
             docs / "choosing.md": part(docs / "choosing.md", "thresholds", choosing(data))}
    if other:
        files[docs / f"pareto-{REAL}.svg"] = plot(other)
    return publish(files, "bench/results")


if __name__ == "__main__":
    sys.exit(main())
