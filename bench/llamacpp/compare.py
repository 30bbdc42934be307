#!/usr/bin/env python3
"""Measures decoding and prefill of the engine, in turns with llama.cpp's llama-batched-bench on the same files.

Each round runs both programs on each file, the order changing from round to round, so that a machine whose speed drifts
treats both alike. The result is the median of the rounds, and the median of the rounds' ratios. Without --peer only the
engine is measured. scripts/build-llamacpp.sh builds the peer.
"""

import argparse
import datetime
import json
import os
import platform
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FILES = ["qwen2.5-coder-0.5b-instruct-q4_k_m.gguf", "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"]


def command(*arguments: str) -> str:
    return subprocess.run(arguments, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def build_engine() -> str:
    program = ROOT / "build" / "bench-engine"
    go = command("scripts/find-go.sh")
    subprocess.run([go, "build", "-o", str(program), "./bench/engine"], cwd=ROOT, check=True,
                   env={**os.environ, "CGO_ENABLED": "0"})
    return str(program)


def lines_of(arguments: list[str]) -> list[dict]:
    """Runs a program and returns the JSON objects among its lines."""
    run = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True)
    if run.returncode != 0:
        tail = "\n".join(run.stderr.strip().splitlines()[-5:])
        raise SystemExit(f"compare: {arguments[0]} ended with status {run.returncode}:\n{tail}")
    return [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]


def engine_figures(program: str, model: Path, a: argparse.Namespace) -> dict[tuple[str, int], float]:
    lines = lines_of([program, "--model", str(model), "--threads", str(a.threads), "--batch", a.batch,
                      "--prompt", str(a.prompt), "--generated", str(a.generated), "--prefill", str(a.prefill)])
    return {(line["kind"], line["batch"]): line["tokens_per_second"] for line in lines}


def peer_figures(program: str, model: Path, a: argparse.Namespace) -> dict[tuple[str, int], float]:
    largest = max(int(n) for n in a.batch.split(","))
    common = [program, "-m", str(model), "-t", str(a.threads), "-tb", str(a.threads), "--output-format", "jsonl"]
    decode = lines_of([*common, "-npp", str(a.prompt), "-ntg", str(a.generated), "-npl", a.batch,
                       "-c", str(largest * (a.prompt + a.generated) + 256), "-b", "2048", "-ub", "512"])
    figures = {("decode", line["pl"]): line["speed_tg"] for line in decode}
    prefill = lines_of([*common, "-npp", str(a.prefill), "-ntg", "2", "-npl", "1",
                        "-c", str(a.prefill + 64), "-b", "2048", "-ub", "512"])
    figures["prefill", 1] = prefill[-1]["speed_pp"]
    return figures


def processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return "unknown"


def instruction_sets() -> list[str]:
    wanted = ["avx2", "fma", "f16c", "avx_vnni", "avx512f", "avx512_vnni", "avx512_bf16", "amx_int8"]
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("flags"):
            flags = set(line.split(":", 1)[1].split())
            return [name for name in wanted if name in flags]
    return []


def setting(a: argparse.Namespace) -> dict:
    commit = command("git", "rev-parse", "--short=12", "HEAD")
    if command("git", "status", "--porcelain", "--untracked-files=no"):
        commit += "+changes"
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        "commit": commit, "cpu": processor(), "instruction_sets": instruction_sets(), "cores": os.cpu_count(),
        "system": platform.release(), "threads": a.threads, "rounds": a.rounds, "prompt": a.prompt,
        "generated": a.generated, "peer": a.peer_name if a.peer else None,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=Path, required=True, help="directory of the two GGUF files")
    parser.add_argument("--peer", help="llama-batched-bench")
    parser.add_argument("--peer-name", default="llama.cpp, the copy in llama-cpp-python 0.3.36, native build")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--batch", default="1,4,8,16,32")
    parser.add_argument("--prompt", type=int, default=128, help="tokens of context before decoding starts")
    parser.add_argument("--generated", type=int, default=32, help="decode steps")
    parser.add_argument("--prefill", type=int, default=512)
    parser.add_argument("--out", type=Path, default=ROOT / "bench/results/decode.json")
    a = parser.parse_args()

    engine = build_engine()
    sides = {"engine": lambda model: engine_figures(engine, model, a)}
    if a.peer:
        peer = str(Path(a.peer).resolve())
        sides["peer"] = lambda model: peer_figures(peer, model, a)
    results = []
    for name in FILES:
        rounds: list[dict[str, dict]] = []
        for r in range(a.rounds):
            order = list(sides) if r % 2 == 0 else list(reversed(sides))
            rounds.append({side: sides[side](a.models / name) for side in order})
            print(f"{name}: round {r + 1} of {a.rounds}", file=sys.stderr)
        for kind, batch in rounds[0]["engine"]:
            row = {"file": name, "kind": kind, "batch": batch}
            for side in sides:
                values = [x[side][kind, batch] for x in rounds]
                row[side] = {"tokens_per_second": round(statistics.median(values), 2), "rounds": [round(v, 2) for v in values]}
            if a.peer:
                row["ratio"] = round(statistics.median(x["engine"][kind, batch] / x["peer"][kind, batch] for x in rounds), 3)
            results.append(row)
            peer_text = f"  peer {row['peer']['tokens_per_second']:8.1f}  ratio {row['ratio']:.2f}" if a.peer else ""
            print(f"  {kind} {batch:3}: {row['engine']['tokens_per_second']:8.1f} tokens/s{peer_text}", file=sys.stderr)
    a.out.parent.mkdir(parents=True, exist_ok=True)
    a.out.write_text(json.dumps({"setting": setting(a), "results": results}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
