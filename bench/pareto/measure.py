#!/usr/bin/env python3
"""Accuracy of the built-in pair against the large model's share of tokens, for every point of points.toml, over HTTP.

    bench/pareto/measure.py [--binary bin/tokenrouter] [--count 1000] [--out bench/results/pareto.json]

Problems are of the test split; intervals are 95 % by bootstrap over problems. Standard library only, Python 3.11.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
import tomllib
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools/pair"), str(ROOT / "scripts")]
from over_http import ask, right, score  # noqa: E402
from problems.sample import problem  # noqa: E402
from serving import free_port  # noqa: E402

SMALL, LARGE = "demo-small", "demo-large"


def interval(rights: list[bool], draws: int = 2000) -> list[float]:
    chance, n = random.Random(1), len(rights)
    means = sorted(sum(chance.choices(rights, k=n)) / n for _ in range(draws))
    return [means[int(draws * 0.025)], means[int(draws * 0.975) - 1]]


def config(curves: list[dict], port: int) -> dict:
    routes = [{"name": f"curve-{i}", "models": [SMALL, LARGE], **c["routing"]} for i, c in enumerate(curves)]
    for r in routes:
        if "head" in r:
            r["head"] = str(ROOT / r["head"])
    return {"models": [{"name": m, "path": f"catalogue:{m}"} for m in (SMALL, LARGE)], "routes": routes,
            "devices": [{"name": "cpu", "kv_memory": "64MiB"}], "server": {"listen": f"127.0.0.1:{port}", "log_level": "warn"}}


def measure(url: str, model: str, routing: dict | None, problems: list) -> dict:
    a = argparse.Namespace(url=url, model=model, threshold=None, routing=routing)
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda p: ask(a, p), problems))
    figures = score(problems, answers)
    rights = [right(p, r) for p, r in zip(problems, answers)]
    return {"accuracy": figures["answers_right"], "interval": interval(rights), "large_share": figures["token_shares"].get(LARGE, 0.0)}


def wait_ready(url: str, server: subprocess.Popen) -> None:
    for _ in range(300):
        if server.poll() is not None:
            raise SystemExit(f"the server ended with status {server.returncode}")
        try:
            urllib.request.urlopen(f"{url}/readyz", timeout=5).close()
            return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise SystemExit("the server was not ready within 30 s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, default=ROOT / "bin/tokenrouter")
    parser.add_argument("--points", type=Path, default=Path(__file__).with_name("points.toml"))
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--out", type=Path, default=ROOT / "bench/results/pareto.json")
    a = parser.parse_args()
    curves = tomllib.loads(a.points.read_text())["curve"]
    problems = [problem(1, "test", i) for i in range(a.count)]
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    result = {"problems": a.count, "single": {}, "curves": []}
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "config.yaml"
        file.write_text(json.dumps(config(curves, port)))
        server = subprocess.Popen([str(a.binary), "serve", "--config", str(file)])
        try:
            wait_ready(url, server)
            for model in (SMALL, LARGE):
                result["single"][model] = measure(url, model, None, problems)
            for i, c in enumerate(curves):
                points = []
                for value in c["values"]:
                    points.append({"value": value, **measure(url, f"curve-{i}", {c["over"]: value}, problems)})
                    print(c["name"], points[-1], flush=True)
                result["curves"].append({"name": c["name"], "routing": c["routing"], "over": c["over"], "points": points})
        finally:
            server.terminate()
            server.wait()
    a.out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
