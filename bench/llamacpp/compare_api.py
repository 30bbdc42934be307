#!/usr/bin/env python3
"""Asks TokenRouter and llama-server the same questions, on the same model, and compares status, shape and values of the answers.

Greedy texts must be the same up to ties: where they part, both models must find the two likeliest tokens nearly as likely. A difference
that api_requests.py does not name makes the exit status 1. scripts/build-llamacpp.sh builds the peer; make build the server.
"""

import argparse
import datetime
import json
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

import api_compare as compare
from api_requests import ABSENT, ABSENT_TEXT, CHAT, CONTEXT, MODEL, REQUESTS, RETYPED, TEXT, Request

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from serving import Server  # noqa: E402

SLOTS = 4


class Ours(Server):
    """TokenRouter with one model."""

    def arguments(self, models: Path, directory: Path, **_) -> list[str]:
        config = directory / "config.yaml"
        config.write_text(json.dumps({"models": [{"name": MODEL, "path": str(models.absolute()), "context": CONTEXT}],
                                      "server": {"listen": f"127.0.0.1:{self.port}"}}))
        return ["serve", "--config", str(config)]


class Peer(Server):
    """llama-server with the same model; it has no /readyz, but /health that says the same."""

    ready = "/health"

    def arguments(self, models: Path, directory: Path, **_) -> list[str]:
        return ["--model", str(models), "--alias", MODEL, "--ctx-size", str(CONTEXT * SLOTS), "--parallel", str(SLOTS), "--host", "127.0.0.1", "--port", str(self.port)]


def send(server: Server, path: str, body) -> compare.Answer:
    data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(server.url + path, data, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=900) as answer:
            return compare.parse(answer.status, answer.read().decode())
    except urllib.error.HTTPError as e:
        return compare.parse(e.code, e.read().decode())


def parted_by_a_tie(request: Request, servers: tuple[Server, Server]) -> bool:
    """Asks again for the log-probabilities, which say how near the likeliest tokens were."""
    more = {"logprobs": True, "top_logprobs": 2} if request.path == CHAT else {"logprobs": 2}
    return compare.tied(*(send(s, request.path, {**request.body, **more}) for s in servers))


def examine(request: Request, servers: tuple[Server, Server]) -> dict:
    """One request to both: what was found, and whether each difference is a known one."""
    ours, peer = (send(s, request.path, request.body) for s in servers)
    found = [compare.Found("status", "same" if ours.status == peer.status else "differs", ours.status, peer.status)]
    shapes = {"missing": [], "types": [], "known": [], "extra": []}
    if ours.status == peer.status:
        shapes = compare.shapes(ours, peer, ABSENT | (ABSENT_TEXT if request.path == TEXT else {}), RETYPED)
        found += [compare.compare(c, ours, peer) for c in request.checks if c not in ("status", "repeats")]
    if "repeats" in request.checks:
        again = [compare.choices(x) == compare.choices(send(s, request.path, request.body)) for x, s in zip((ours, peer), servers)]
        found.append(compare.Found("repeats", "same" if all(again) else "differs", *again))
    by_name = {f.check: f for f in found}
    if "text" in by_name and by_name["text"].verdict == "differs" and parted_by_a_tie(request, servers):
        for name in ("text", "finish", "completion_tokens"):
            if name in by_name and by_name[name].verdict == "differs":
                by_name[name].verdict = "tie"
    for f in found:
        if f.verdict == "differs" and f.check in request.differs:
            f.verdict = "known"
    unknown = [f.check for f in found if f.verdict == "differs"] + [f"no {p}" for p in shapes["missing"]] + [f"type of {p}" for p in shapes["types"]]
    body = request.body.decode() if isinstance(request.body, bytes) else request.body
    return {"name": request.name, "path": request.path, "body": body, "status": [ours.status, peer.status], "shape": shapes,
            "checks": [vars(f) for f in found], "why": {f.check: request.differs[f.check] for f in found if f.verdict == "known"},
            "unknown": unknown, "message": (ours.body.get("error") or {}).get("message")}


def line(result: dict) -> str:
    marks = ", ".join(c["check"] + ("" if c["verdict"] == "same" else f" ({c['verdict']})") for c in result["checks"])
    return f"{'FAIL' if result['unknown'] else 'ok':4}  {result['name']:36}  {marks}" + (f"  UNKNOWN: {'; '.join(result['unknown'])}" if result["unknown"] else "")


def main() -> int:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--model", type=Path, required=True, help="a GGUF file; Qwen2.5-Coder-0.5B-Instruct is what the requests are made for")
    p.add_argument("--binary", type=Path, default=ROOT / "bin" / "tokenrouter")
    p.add_argument("--peer", type=Path, default=ROOT / "build" / "llamacpp" / "build" / "bin" / "llama-server")
    p.add_argument("--only", help="requests whose names have this in them; nothing is written")
    p.add_argument("--out", type=Path, default=ROOT / "bench" / "results" / "llama_server.json")
    a = p.parse_args()
    version = subprocess.run([a.peer, "--version"], capture_output=True, text=True, check=True)
    began = time.monotonic()
    results = []
    with tempfile.TemporaryDirectory() as directory, Ours(a.binary, a.model, Path(directory, "ours")) as ours, Peer(a.peer, a.model, Path(directory, "peer")) as peer:
        ours.wait_ready()
        peer.wait_ready()
        for request in REQUESTS:
            if a.only is None or a.only in request.name:
                results.append(examine(request, (ours, peer)))
                print(line(results[-1]), flush=True)
    failed = sum(bool(r["unknown"]) for r in results)
    print(f"{len(results)} requests, {failed} with differences that are not known, {time.monotonic() - began:.0f} seconds")
    if a.only is None:
        reasons = {**ABSENT, **RETYPED, **ABSENT_TEXT}
        a.out.write_text(json.dumps({
            "date": datetime.date.today().isoformat(), "model": a.model.name, "peer": (version.stdout + version.stderr).strip().splitlines()[0],
            "commit": subprocess.run(["git", "rev-parse", "--short=12", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout.strip(),
            "fields": {k: reasons[k] for k in sorted({k for r in results for k in r["shape"]["known"]})},
            "own": sorted({k for r in results for k in r["shape"]["extra"]}), "results": results}, indent=1, ensure_ascii=False) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
