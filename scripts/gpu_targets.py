"""What is to be reached on a GPU, beside what was measured."""

ROUTED = ("lazy", "eager-large-first", "eager-small-first")


def rate(figure):
    """Tokens per second while all requests were writing; over the whole time where that was hardly any."""
    return figure["steady_tokens_per_second" if figure["steady_part"] > 0.3 else "tokens_per_second"]


def over_eager(case):
    """Lazy batching's rate over that of the better order of eager batching; None if one of them is missing."""
    rates = {name: rate(f) for name, f in case["policies"].items()}
    eager = max((rates[name] for name in ROUTED[1:] if name in rates), default=0)
    return rates["lazy"] / eager if "lazy" in rates and eager else None


def runs(pair):
    """Every run over the route: a name, and what was measured."""
    for case in pair["result"]["cases"]:
        for name in ROUTED:
            for run in case["policies"].get(name, {}).get("runs", []):
                yield f"{name} at N={case['requests']}, p={case['share']:g}, {pair['sharing']}", run


def row(name, target, measured, reached, where=""):
    verdict = "not measured" if measured is None else "reached" if reached(measured) else "missed"
    return {"name": name, "target": target, "measured": measured, "verdict": verdict, "where": where}


def bandwidth_rows(models):
    """The least share of the bandwidth limit over the models, and each."""
    for batch, target in ((1, 0.7), (32, 0.5)):
        for m in models:
            share = next((f["of_limit"] for f in m["figures"] if f["kind"] == "decode" and f["batch"] == batch and "of_limit" in f), None)
            yield row(f"decode at batch {batch}, {m['shape']} {m['quantization']}: share of the bandwidth limit", f"at least {target:g}", share, lambda s, t=target: s >= t)


def graph_row(pairs):
    hits = misses = 0
    for pair in pairs:
        for _, run in runs(pair):
            for steps in (run["small_steps"], run["large_steps"]):
                hits, misses = hits + steps.get("graph_hits", 0), misses + steps.get("graph_misses", 0)
    share = hits / (hits + misses) if hits + misses else None
    return row("steps of routed runs, extends all, that had a graph", "above 0.95", share, lambda s: s > 0.95, f"{hits} of {hits + misses}")


def gap_row(pairs):
    gaps = [(run["gaps"]["median_us"], run["gaps"]["p95_us"], name) for p in pairs for name, run in runs(p) if run.get("gaps")]
    worst, p95, name = max(gaps, default=(None, None, ""))
    return row("gap between steps, the longest of the runs' medians, us", "below 50", worst, lambda g: g < 50, f"{name}; p95 {p95:.0f}" if gaps else "")


def lazy_row(pairs):
    ratio = next((over_eager(c) for p in pairs if p["sharing"] == "exclusive" for c in p["result"]["cases"] if c["requests"] == 16 and c["share"] == 0.1), None)
    return row("lazy over eager, one GPU, N=16, p=0.1", "at least 1.5", ratio, lambda r: r >= 1.5)


def targets(result):
    """All rows. On a processor they say how far the machine is from a GPU, no more."""
    return [*bandwidth_rows(result["models"]), graph_row(result["pairs"]), gap_row(result["pairs"]), lazy_row(result["pairs"])]


def describe(t):
    measured = "" if t["measured"] is None else f"{t['measured']:.2f}" if t["measured"] < 10 else f"{t['measured']:.0f}"
    return f"{t['verdict']:12}  {t['name']}: {measured or '-'} ({t['target']})" + (f", {t['where']}" if t["where"] and measured else "")
