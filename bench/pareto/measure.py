#!/usr/bin/env python3
"""Accuracy of the built-in pair against the large model's share of tokens, for every point of points.toml, over HTTP.

    bench/pareto/measure.py [--binary bin/tokenrouter] [--count 1000] [--out bench/results/pareto.json] [--seconds N]

Problems are of the test split; intervals are 95 % by bootstrap over problems. Each point is kept in --work when it has been measured,
and is not measured again as long as binary, models, head and problems are the same; with --seconds no further point is begun after
that time, and the status is 3: start it again, as often as it takes. Standard library only, Python 3.11.
"""

import argparse
import hashlib
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
UNFINISHED = 3


def interval(rights: list[bool], draws: int = 2000) -> list[float]:
    chance, n = random.Random(1), len(rights)
    means = sorted(sum(chance.choices(rights, k=n)) / n for _ in range(draws))
    return [means[int(draws * 0.025)], means[int(draws * 0.975) - 1]]


def config(curves: list[dict], port: int) -> dict:
    routes = [{"name": f"curve-{i}", "models": [SMALL, LARGE], **c["routing"]} for i, c in enumerate(curves)]
    return {"models": [{"name": m, "path": f"catalogue:{m}"} for m in (SMALL, LARGE)], "routes": routes,
            "devices": [{"name": "cpu", "kv_memory": "64MiB"}], "server": {"listen": f"127.0.0.1:{port}", "log_level": "warn"}}


def points(curves: list[dict]) -> list[dict]:
    """What is asked, in order: both models alone, then each curve's route with each of its values. A curve without `over` is one point."""
    singles = [{"target": m, "routing": None} for m in (SMALL, LARGE)]
    return singles + [{"target": f"curve-{i}", "route": c["routing"], "routing": {c["over"]: v} if "over" in c else None}
                      for i, c in enumerate(curves) for v in c.get("values", [None])]


class Kept:
    """Measured points in a directory, each under a digest of all that decides it; but the name of its route does not."""

    def __init__(self, directory: Path, fixed: list):
        self.directory, self.fixed = directory, fixed
        directory.mkdir(parents=True, exist_ok=True)

    def file(self, point: dict) -> Path:
        target = None if "route" in point else point["target"]
        what = json.dumps([*self.fixed, target, point.get("route"), point["routing"]], sort_keys=True)
        return self.directory / f"{hashlib.sha256(what.encode()).hexdigest()[:24]}.json"

    def get(self, point: dict) -> dict | None:
        file = self.file(point)
        return json.loads(file.read_text()) if file.exists() else None

    def put(self, point: dict, figures: dict) -> None:
        part = self.file(point).with_suffix(".part")
        part.write_text(json.dumps(figures) + "\n")
        part.replace(self.file(point))


def measure(url: str, point: dict, problems: list) -> dict:
    a = argparse.Namespace(url=url, model=point["target"], threshold=None, routing=point["routing"])
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda p: ask(a, p), problems))
    figures = score(problems, answers)
    rights = [right(p, r) for p, r in zip(problems, answers)]
    return {"accuracy": figures["answers_right"], "interval": interval(rights), "large_share": figures["token_shares"].get(LARGE, 0.0)}


def result(count: int, curves: list[dict], figures: list[dict]) -> dict:
    """The figures of points(curves), in that order, as bench/results/pareto.json has them."""
    left = iter(figures)
    single = {m: next(left) for m in (SMALL, LARGE)}
    drawn = []
    for c in curves:
        measured = [{"value": v, **next(left)} if "over" in c else next(left) for v in c.get("values", [None])]
        drawn.append({"name": c["name"], "routing": c["routing"], **({"over": c["over"]} if "over" in c else {}), "points": measured})
    return {"problems": count, "single": single, "curves": drawn}


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


def run(a: argparse.Namespace) -> int:
    begun = time.monotonic()
    curves = tomllib.loads(a.points.read_text())["curve"]
    kept = Kept(a.work, [hashlib.sha256(a.binary.read_bytes()).hexdigest(), a.count])
    todo = [p for p in points(curves) if kept.get(p) is None]
    problems = [problem(1, "test", i) for i in range(a.count)] if todo else []
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "config.yaml"
        file.write_text(json.dumps(config(curves, port)))
        server = subprocess.Popen([str(a.binary), "serve", "--config", str(file)]) if todo else None
        try:
            if server:
                wait_ready(url, server)
            for i, p in enumerate(todo):
                if a.seconds and time.monotonic() - begun > a.seconds:
                    print(f"{len(todo) - i} points are left: start it again", flush=True)
                    return UNFINISHED
                figures = measure(url, p, problems)
                kept.put(p, figures)
                print(p.get("route") or p["target"], p["routing"] or "", figures, flush=True)
        finally:
            if server:
                server.terminate()
                server.wait()
    a.out.write_text(json.dumps(result(a.count, curves, [kept.get(p) for p in points(curves)]), indent=1) + "\n")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, default=ROOT / "bin/tokenrouter")
    parser.add_argument("--points", type=Path, default=Path(__file__).with_name("points.toml"))
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--out", type=Path, default=ROOT / "bench/results/pareto.json")
    parser.add_argument("--work", type=Path, default=ROOT / "build/pareto", help="where measured points are kept")
    parser.add_argument("--seconds", type=float, default=0, help="begin no point after so long; 0: measure all")
    return run(parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
