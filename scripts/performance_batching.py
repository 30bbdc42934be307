"""The parts of docs/performance.md that bench/policies makes: batching policies on a pair of models, and two servers in their place."""

import statistics

LAZY = "lazy"
NAMES = {"lazy": "lazy, thresholds from the model", "eager-large-first": "eager, large first", "eager-small-first": "eager, small first",
         "step-sync": "step-sync", "model-sync": "model-sync", "large": "the large model alone"}


def rounds(case: dict) -> int:
    return max(len(f["runs"]) for f in case["policies"].values())


def steps_of_time(data: dict) -> float:
    return statistics.median(r["steps_of_time"] for c in data["cases"] for f in c["policies"].values() for r in f["runs"])


def verdict(value: float, target: float, limit: float | None = None) -> str:
    """A ratio beside what it is to be; with what the throughput model allows for the measured steps, where that is less."""
    if value >= target:
        return f"{value:.2f} (at least {target:g})"
    if limit is not None and limit < target:
        return f"{value:.2f} (at least {target:g}; the steps allow {limit:.2f})"
    return f"**{value:.2f}** (at least {target:g})"


def policy_rows(case: dict) -> list[str]:
    predicted = case.get("prediction", {}).get("policies", {})
    lines = []
    for name, text in NAMES.items():
        if f := case["policies"].get(name):
            guess = f"{predicted[name]:.1f}" if name in predicted else "–"
            lines.append(f"| {text} | {f['tokens_per_second']:.1f} | {f['tokens_per_second_at_equal_steps']:.1f} | {f['steady_tokens_per_second']:.1f} | {guess} | {f['first_token_p50_ms']:.0f} | "
                         f"{f['first_token_p95_ms']:.0f} | {f['threshold'] if name == LAZY else '–'} |")
    return lines


def ratio_row(case: dict) -> str:
    """What lazy batching is to reach in a case, and what it does."""
    n, share = case["requests"], case["share"]
    predicted = case["prediction"]["policies"]
    over_eager = case["lazy_over_eager_at_equal_steps"]
    measured = lambda key: f"{case[key]:.2f}"  # noqa: E731
    limit = predicted[LAZY] / max(predicted["eager-large-first"], predicted["eager-small-first"])
    eager = verdict(over_eager, 1.15, limit) if n in (8, 16) and share == 0.1 else f"{over_eager:.2f}"
    large = case["lazy_over_large_alone"]
    alone = verdict(large, 1.6) if n == 1 and share == 0.1 else f"{large:.2f}"
    return (f"| {n} | {share:g} | {measured('lazy_over_eager')} | {eager} | {measured('lazy_over_best_other')} | "
            f"{verdict(case['lazy_over_best_other_at_equal_steps'], 0.97)} | {verdict(case['lazy_over_predicted'], 0.95)} | {alone} | {'yes' if case['same_tokens'] else '**no**'} |")


def choosing(data: dict) -> list[str]:
    """What docs/choosing.md says of speed: routed, beside the large model alone."""
    o, shares = data["options"], sorted({c["share"] for c in data["cases"]})
    by = {(c["requests"], c["share"]): c for c in data["cases"]}

    def cell(n: int, share: float) -> str:
        if (c := by.get((n, share))) is None:
            return "–"
        return f"{c['policies'][LAZY]['tokens_per_second']:.1f} ({c['lazy_over_large_alone']:.2f} times)"

    def alone(n: int) -> str:
        measured = [c["policies"]["large"]["tokens_per_second"] for s in shares if (c := by.get((n, s))) and "large" in c["policies"]]
        return f"{measured[0]:.1f}" if measured else "–"

    return [f"Measured: {o['small']} and {o['large']}, {o['tokens']} tokens an answer, on {data['setting']['cores']} cores of a virtual machine whose speed drifts by a fifth within minutes, so the "
            "quotients, of runs right after each other, say more than the speeds. Tokens per second of all requests together, prompts included ([all figures](performance.md#batching-policies)):", "",
            "| requests at a time | large model alone |" + "".join(f" {100 * s:g} % handed over |" for s in shares), "|---:|---:|" + "---:|" * len(shares),
            *(f"| {n} | {alone(n)} | " + " | ".join(cell(n, s) for s in shares) + " |" for n in sorted({c["requests"] for c in data["cases"]}))]


def policies(data: dict, setting_line) -> list[str]:
    o = data["options"]
    counts = sorted({rounds(c) for c in data["cases"]})
    times = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    lines = ["## Batching policies", "", setting_line(data["setting"]), "",
             f"{o['small']} writes, and hands over a fixed share of the positions, drawn by the seed, to {o['large']}, on one device that both share. "
             f"Clients ask together; each makes {o['each']} requests of {o['tokens']} tokens, one after the other. Medians of {times} rounds, each of all "
             "policies in turn. *All* are tokens per second from the first request to the last answer, prompts and the end included; *steady* "
             "those of the time in which all clients are writing; *predicted* is what the throughput model says for the step times estimated during "
             "the runs and the share as it was drawn, with the time that the prompts take. Times to the first token are of all rounds' requests together. The speed of the machine, a virtual one, drifts by a fifth within minutes; so *equal steps* counts every policy's "
             "steps, with their requests and rows, as if a step of a size had taken as long under each. The models' steps are "
             f"{100 * steps_of_time(data):.1f}% of the time.", ""]
    lines += ["| requests | share | lazy over the better eager | at equal steps | over the best other | at equal steps | over the predicted optimum, at equal steps | "
              "over the large model alone | same tokens |", "|---:|---:|---:|---:|---:|---:|---:|---:|---|"]
    lines += [ratio_row(c) for c in data["cases"]]
    lines += ["", "A target that the steps do not allow: lazy batching spares steps of the large model, and with each the time that a step takes whatever is in it. The "
              "rows are the same in all policies, and on a processor a row that is caught up on costs as much as one that is written. Likewise the large model alone "
              "takes in each token once, and with enough requests its steps are full anyway: then routing does not pay on one shared processor.", ""]
    for c in data["cases"]:
        p = c["prediction"]
        step = lambda l: f"{l['base_ms']:.0f} ms + {l['per_request_ms']:.1f} ms per request + {l['per_row_ms']:.1f} ms per row"  # noqa: E731
        lines += [f"### {c['requests']} request{'s' if c['requests'] > 1 else ''}, share {c['share']:g}", "",
                  f"Steps of the small model: {step(p['small'])}; of the large one: {step(p['large'])}.", "",
                  "| | all | equal steps | steady | predicted | first token, median (ms) | 95% | B |", "|---|---:|---:|---:|---:|---:|---:|---:|"]
        lines += [*policy_rows(c), ""]
    return lines


# How many times the tokens per second of two servers the engine is to reach, by requests.
SERVER_TARGETS = {1: 4, 4: 6, 16: 12}


def two_servers(data: dict) -> list[str]:
    lines = ["## Two servers in its place", "",
             "What could be built without TokenRouter, by `bench/policies/two_servers.py`: a client that asks one of two llama-server processes for every "
             f"token. {data['small']} and {data['large']}, a share of {data['share']:g}, answers of {data['tokens']} tokens; {data['cores']} cores; {data['date']}; "
             f"medians of {data['rounds']} rounds, at the better of {len(data['cases'][0]['settings'])} settings of threads.", "",
             "| requests | two servers, tokens/s | threads | routed | first token (ms) | this engine, lazy | ratio |", "|---:|---:|---|---:|---:|---:|---:|"]
    for c in data["cases"]:
        b = c["best"]
        engine = f"{c['engine_tokens_per_second']:.1f} | {verdict(c['engine_over_two_servers'], SERVER_TARGETS.get(c['requests'], 1), c.get('predicted_over_two_servers'))}" \
            if "engine_tokens_per_second" in c else "– | –"
        lines.append(f"| {c['requests']} | {b['tokens_per_second']:.1f} | {b['threads'][0]} and {b['threads'][1]} | {100 * b['routed']:.0f}% | "
                     f"{b['first_token_p50_ms']:.0f} | {engine} |")
    return [*lines, ""]
