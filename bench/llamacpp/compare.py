#!/usr/bin/env python3
"""Measures decoding, prefill and extends of the engine, in turns with llama.cpp's own benchmarks on the same files.

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
FILES = ["qwen2.5-coder-0.5b-instruct-q4_k_m.gguf", "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf", "smollm2-135m-instruct-q4_1.gguf",
         "gemma-3-270m-q4_k_m.gguf"]
Case = tuple[str, int, int, int]  # kind, batch, tokens of each sequence, context of each sequence


def command(*arguments: str) -> str:
    return subprocess.run(arguments, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def build_engine() -> str:
    program = ROOT / "build" / "tokenrouter-bench"
    go = command("scripts/find-go.sh")
    subprocess.run([go, "build", "-o", str(program), "./cmd/tokenrouter"], cwd=ROOT, check=True,
                   env={**os.environ, "CGO_ENABLED": "0"})
    return str(program)


def lines_of(arguments: list[str]) -> list[dict]:
    """Runs a program and returns the JSON objects among its lines."""
    run = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True)
    if run.returncode != 0:
        tail = "\n".join(run.stderr.strip().splitlines()[-5:])
        raise SystemExit(f"compare: {arguments[0]} ended with status {run.returncode}:\n{tail}")
    return [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]


def deep_batches(a: argparse.Namespace) -> str:
    """Batches of decoding on a long context: some of the others, since these take long."""
    return ",".join(n for n in a.batch.split(",") if n in ("1", "8"))


def engine_figures(program: str, model: Path, a: argparse.Namespace) -> dict[Case, float]:
    common = [program, "bench", str(model), "--json", "--threads", str(a.threads), "--steps", str(a.generated), "--runs", "1"]
    lines = lines_of([*common, "--batch", a.batch, "--context", str(a.prompt), "--prefill", str(a.prefill),
                      "--extend", a.extend, "--extend-context", str(a.extend_context)])
    if a.deep:
        deep = lines_of([*common, "--batch", deep_batches(a), "--context", str(a.deep), "--prefill", "0"])
        lines += [x for x in deep if x["kind"] == "decode"]
    return {(x["kind"], x["batch"], x["tokens"], x["context"]): x["tokens_per_second"] for x in lines}


def peer_figures(program: str, model: Path, a: argparse.Namespace) -> dict[Case, float]:
    threads = ["-m", str(model), "-t", str(a.threads)]
    common = [program, *threads, "-tb", str(a.threads), "--output-format", "jsonl", "-b", "2048", "-ub", "512"]

    def decode(context: int, batches: str) -> dict[Case, float]:
        largest = max(int(n) for n in batches.split(","))
        lines = lines_of([*common, "-npp", str(context), "-ntg", str(a.generated), "-npl", batches,
                          "-c", str(largest * (context + a.generated) + 256)])
        return {("decode", x["pl"], 1, context): x["speed_tg"] for x in lines}

    figures = decode(a.prompt, a.batch)
    prefill = lines_of([*common, "-npp", str(a.prefill), "-ntg", "2", "-npl", "1", "-c", str(a.prefill + 64)])
    figures["prefill", 1, a.prefill, 0] = prefill[-1]["speed_pp"]
    # An extend is what llama-bench calls a prompt at a depth.
    bench = str(Path(program).with_name("llama-bench"))
    for x in lines_of([bench, *threads, "-p", a.extend, "-n", "0", "-d", str(a.extend_context), "-r", "5", "-o", "jsonl"]):
        figures["extend", 1, x["n_prompt"], x["n_depth"]] = x["avg_ts"]
    if a.deep:
        figures |= decode(a.deep, deep_batches(a))
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
        "generated": a.generated, "isa": os.environ.get("TR_CPU_ISA", "best"), "peer": a.peer_name if a.peer else None,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=Path, required=True, help="directory of the GGUF files")
    parser.add_argument("--peer", help="llama-batched-bench, with llama-bench beside it")
    parser.add_argument("--peer-name", default="llama.cpp, the copy in llama-cpp-python 0.3.36, native build")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--batch", default="1,4,8,16,32")
    parser.add_argument("--prompt", type=int, default=128, help="tokens of context before decoding starts")
    parser.add_argument("--generated", type=int, default=32, help="decode steps")
    parser.add_argument("--prefill", type=int, default=512)
    parser.add_argument("--extend", default="4,8", help="tokens that an extend appends")
    parser.add_argument("--extend-context", type=int, default=1024)
    parser.add_argument("--deep", type=int, default=4096, help="a long context to decode on, at batch 1 and 8; 0: none")
    parser.add_argument("--files", nargs="+", default=FILES)
    parser.add_argument("--out", type=Path, default=ROOT / "bench/results/decode.json")
    a = parser.parse_args()

    engine = build_engine()
    sides = {"engine": lambda model: engine_figures(engine, model, a)}
    if a.peer:
        peer = str(Path(a.peer).resolve())
        sides["peer"] = lambda model: peer_figures(peer, model, a)
    results = []
    for name in a.files:
        rounds: list[dict[str, dict]] = []
        for r in range(a.rounds):
            order = list(sides) if r % 2 == 0 else list(reversed(sides))
            rounds.append({side: sides[side](a.models / name) for side in order})
            print(f"{name}: round {r + 1} of {a.rounds}", file=sys.stderr)
        for case in rounds[0]["engine"]:
            row = {"file": name, **dict(zip(("kind", "batch", "tokens", "context"), case))}
            for side in sides:
                values = [x[side][case] for x in rounds]
                row[side] = {"tokens_per_second": round(statistics.median(values), 2), "rounds": [round(v, 2) for v in values]}
            if a.peer:
                row["ratio"] = round(statistics.median(x["engine"][case] / x["peer"][case] for x in rounds), 3)
            results.append(row)
            peer_text = f"  peer {row['peer']['tokens_per_second']:8.1f}  ratio {row['ratio']:.2f}" if a.peer else ""
            print(f"  {case[0]:8} batch {case[1]:3}, {case[2]:4} tokens on {case[3]:5}: {row['engine']['tokens_per_second']:8.1f} tokens/s{peer_text}", file=sys.stderr)
    a.out.parent.mkdir(parents=True, exist_ok=True)
    a.out.write_text(json.dumps({"setting": setting(a), "results": results}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
