#!/usr/bin/env python3
"""Accuracy of a pair against the large model's share of tokens, for every point of a file, over HTTP.

    bench/pareto/measure.py [--count 1000] [--out bench/results/pareto.json] [--seconds N]          the built-in pair
    bench/pareto/measure.py --points POINTS.toml --small FILE --large FILE \\
        --problems FILE.jsonl --count 300 --max-tokens 320 --out FILE.json                          any other

Problems of the built-in pair are of its test split; a file has lines of JSON with `problem` and `solution`, whose last number is the
right answer. Intervals are 95 % by bootstrap over problems; tokens/s are those of 16 clients. Each point is kept in --work when it has
been measured, and is not measured again as long as binary, models, head and problems are the same; with --seconds no further point is
begun after that time, and the status is 3: start it again, as often as it takes. Standard library only, Python 3.11.
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
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools/pair"), str(ROOT / "scripts"), str(ROOT / "bench/pareto")]
from over_http import ask, authors  # noqa: E402
from questions import Question, built_in, from_file  # noqa: E402
from serving import free_port  # noqa: E402

UNFINISHED = 3


@dataclass(frozen=True)
class Pair:
    """Two models by name, and where their files are."""

    small: str = "demo-small"
    large: str = "demo-large"
    small_path: str = "catalogue:demo-small"
    large_path: str = "catalogue:demo-large"
    kv_memory: str = "64MiB"

    @property
    def names(self) -> tuple[str, str]:
        return self.small, self.large


def interval(rights: list[bool], draws: int = 2000) -> list[float]:
    chance, n = random.Random(1), len(rights)
    means = sorted(sum(chance.choices(rights, k=n)) / n for _ in range(draws))
    return [means[int(draws * 0.025)], means[int(draws * 0.975) - 1]]


def config(pair: Pair, curves: list[dict], port: int) -> dict:
    routes = [{"name": f"curve-{i}", "models": list(pair.names), **c["routing"]} for i, c in enumerate(curves)]
    models = [{"name": pair.small, "path": pair.small_path}, {"name": pair.large, "path": pair.large_path}]
    return {"models": models, "routes": routes, "devices": [{"name": "cpu", "kv_memory": pair.kv_memory}], "server": {"listen": f"127.0.0.1:{port}", "log_level": "warn"}}


def points(pair: Pair, curves: list[dict]) -> list[dict]:
    """What is asked, in order: both models alone, then each curve's route with each of its values. A curve without `over` is one point."""
    singles = [{"target": m, "routing": None} for m in pair.names]
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


def measure(url: str, pair: Pair, point: dict, questions: list[Question], max_tokens: int) -> dict:
    a = argparse.Namespace(url=url, model=point["target"], threshold=None, routing=point["routing"], max_tokens=max_tokens)
    begun = time.monotonic()
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda q: ask(a, q), questions))
    seconds = time.monotonic() - begun
    rights = [q.right(r["choices"][0]["message"]["content"]) for q, r in zip(questions, answers)]
    tokens = authors(answers)
    return {"accuracy": sum(rights) / len(rights), "interval": interval(rights), "large_share": tokens[pair.large] / tokens.total(),
            "tokens": tokens.total(), "tokens_per_second": round(tokens.total() / seconds, 1)}


def result(pair: Pair, count: int, curves: list[dict], figures: list[dict]) -> dict:
    """The figures of points(pair, curves), in that order, as bench/results has them."""
    left = iter(figures)
    single = {m: next(left) for m in pair.names}
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


def read_points(path: Path) -> list[dict]:
    """The curves of a file. A head that is a file is named from there."""
    curves = tomllib.loads(path.read_text())["curve"]
    for c in curves:
        head = c["routing"].get("head", "")
        if head and not head.startswith("catalogue:"):
            c["routing"]["head"] = str((path.parent / head).resolve(strict=True))
    return curves


def digest(path: str) -> str:
    return path if path.startswith("catalogue:") else hashlib.sha256(Path(path).read_bytes()).hexdigest()


def relative(curves: list[dict]) -> list[dict]:
    """The curves as they are written down: heads in the repository are named from its root."""
    name = lambda head: str(Path(head).relative_to(ROOT)) if Path(head).is_relative_to(ROOT) else head  # noqa: E731
    return [{**c, "routing": {k: name(v) if k == "head" else v for k, v in c["routing"].items()}} for c in curves]


def run(a: argparse.Namespace) -> int:
    begun = time.monotonic()
    curves = read_points(a.points)
    pair = Pair(a.small.stem, a.large.stem, str(a.small.resolve()), str(a.large.resolve()), "1GiB") if a.small else Pair()
    questions = from_file(a.problems, a.count) if a.problems else built_in(a.count)
    heads = sorted(digest(h) for c in curves if (h := c["routing"].get("head")))
    decided = [hashlib.sha256(a.binary.read_bytes()).hexdigest(), digest(pair.small_path), digest(pair.large_path), heads, a.max_tokens,
               hashlib.sha256(repr([(q.question, q.expected) for q in questions]).encode()).hexdigest()]
    kept = Kept(a.work, decided)
    todo = [p for p in points(pair, curves) if kept.get(p) is None]
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "config.yaml"
        file.write_text(json.dumps(config(pair, curves, port)))
        server = subprocess.Popen([str(a.binary), "serve", "--config", str(file)]) if todo else None
        try:
            if server:
                wait_ready(url, server)
            for i, p in enumerate(todo):
                if a.seconds and time.monotonic() - begun > a.seconds:
                    print(f"{len(todo) - i} points are left: start it again", flush=True)
                    return UNFINISHED
                figures = measure(url, pair, p, questions, a.max_tokens)
                kept.put(p, figures)
                print(p.get("route") or p["target"], p["routing"] or "", figures, flush=True)
        finally:
            if server:
                server.terminate()
                server.wait()
    a.out.write_text(json.dumps(result(pair, a.count, relative(curves), [kept.get(p) for p in points(pair, curves)]), indent=1) + "\n")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, default=ROOT / "bin/tokenrouter")
    parser.add_argument("--points", type=Path, default=Path(__file__).with_name("points.toml"))
    parser.add_argument("--small", type=Path, help="GGUF file; default: the built-in pair")
    parser.add_argument("--large", type=Path, help="GGUF file")
    parser.add_argument("--problems", type=Path, help="JSON lines with problem and solution; default: the built-in pair's test split")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--max-tokens", type=int, default=160)
    parser.add_argument("--out", type=Path, default=ROOT / "bench/results/pareto.json")
    parser.add_argument("--work", type=Path, default=ROOT / "build/pareto", help="where measured points are kept")
    parser.add_argument("--seconds", type=float, default=0, help="begin no point after so long; 0: measure all")
    a = parser.parse_args()
    if not bool(a.small) == bool(a.large) == bool(a.problems):
        parser.error("--small, --large and --problems go together")
    return run(a)


if __name__ == "__main__":
    sys.exit(main())
