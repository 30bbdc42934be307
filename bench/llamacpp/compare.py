#!/usr/bin/env python3
"""Measures decoding, prefill and extends of the engine, in turns with llama.cpp's own benchmarks on the same files.

Each round runs both programs on each file, the order changing from round to round, so that a machine whose speed drifts
treats both alike. The sequences of a batch have their prompt in common, in both programs. The result is the median of the rounds, and the median of the rounds' ratios. Without --peer only the
engine is measured. scripts/build-llamacpp.sh builds the peer.
"""

import argparse
import datetime
import json
import math
import os
import platform
import re
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FILES = ["qwen2.5-coder-0.5b-instruct-q4_k_m.gguf", "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf", "smollm2-135m-instruct-q4_1.gguf",
         "gemma-3-270m-q4_k_m.gguf"]
Case = tuple[str, int, int, int]  # kind, batch, tokens of each sequence, context of each sequence
KEYS = ("kind", "batch", "tokens", "context")


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


# Prefills of a round, of which the median counts.
PREFILLS = 3


def deep_batches(a: argparse.Namespace) -> str:
    """Batches of decoding on a long context: some of the others, since these take long."""
    return ",".join(n for n in a.batch.split(",") if n in ("1", "8"))


def engine_figures(program: str, model: Path, a: argparse.Namespace, isa: str = "") -> dict[Case, float]:
    common = [program, "bench", str(model), "--json", "--threads", str(a.threads), "--steps", str(a.generated), "--runs", str(PREFILLS),
              "--shared", *(["--isa", isa] if isa else [])]
    lines = []
    if a.only == "prefill":
        lines += [x for x in lines_of([*common, "--batch", "1", "--context", "1", "--prefill", str(a.prefill), "--extend", "1",
                                       "--extend-context", "1"]) if x["kind"] == "prefill"]
    if not a.only:
        lines += lines_of([*common, "--batch", a.batch, "--context", str(a.prompt), "--prefill", str(a.prefill),
                           "--extend", a.extend, "--extend-context", str(a.extend_context)])
    if a.deep and not isa and a.only in ("", "deep"):
        deep = lines_of([*common, "--batch", deep_batches(a), "--context", str(a.deep), "--prefill", "0", "--extend", "1",
                         "--extend-context", "1"])
        lines += [x for x in deep if x["kind"] == "decode"]
    return {(x["kind"], x["batch"], x["tokens"], x["context"]): x["tokens_per_second"] for x in lines}


def peer_figures(program: str, model: Path, a: argparse.Namespace) -> dict[Case, float]:
    threads = ["-m", str(model), "-t", str(a.threads)]
    common = [program, *threads, "-tb", str(a.threads), "--output-format", "jsonl", "-b", "2048", "-ub", "512"]

    def decode(context: int, batches: str, cells: int, *more: str) -> dict[Case, float]:
        lines = lines_of([*common, "-npp", str(context), "-ntg", str(a.generated), "-npl", batches, "-pps", "-c", str(cells), *more])
        return {("decode", x["pl"], 1, context): x["speed_tg"] for x in lines}

    figures = {}
    if a.only in ("", "prefill"):
        prefills = lines_of([*common, "-npp", str(a.prefill), "-ntg", "2", "-npl", ",".join(["1"] * PREFILLS), "-c", str(a.prefill + 64)])
        figures["prefill", 1, a.prefill, 0] = statistics.median(x["speed_pp"] for x in prefills)
    if not a.only:
        largest = max(int(n) for n in a.batch.split(","))
        figures |= decode(a.prompt, a.batch, largest * (a.prompt + a.generated) + 256)
        # An extend is what llama-bench calls a prompt at a depth.
        bench = str(Path(program).with_name("llama-bench"))
        for x in lines_of([bench, *threads, "-p", a.extend, "-n", "0", "-d", str(a.extend_context), "-r", "5", "-o", "jsonl"]):
            figures["extend", 1, x["n_prompt"], x["n_depth"]] = x["avg_ts"]
    if a.deep and a.only in ("", "deep"):
        # A long prompt is there once, for all sequences, as it is in the engine's run.
        figures |= decode(a.deep, deep_batches(a), a.deep + 8 * a.generated + 256, "-kvu")
    return figures


def limits(program: str, threads: int) -> dict[str, float]:
    """What the machine does at most now: memory reads in GB/s, and int8 dot products in TOPS by instruction set."""
    text = command(program, "--only", "limits", "--threads", str(threads))
    find = lambda pattern: [float(x) for x in re.findall(pattern + r" ([0-9.]+)", text)]
    names = {"memory reads": "reads_gb_per_second", "512-bit VNNI": "avx512vnni_tops", "256-bit VNNI": "avxvnni_tops", "AVX2": "avx2_tops"}
    return {key: find(name)[0] for name, key in names.items() if find(name)}


def weights(program: str, model: Path) -> dict[str, int]:
    """The bytes of weights that a step reads, the multiply-adds of a token, and those of the output alone, which a prefill spares."""
    tensors = {t["name"]: t for t in json.loads(command(program, "inspect", str(model), "--json"))["tensor_list"]}
    output = tensors.get("output.weight", tensors["token_embd.weight"])
    read = [t for name, t in tensors.items() if name != "token_embd.weight" or t is output]
    return {"bytes": sum(t["size"] for t in read), "multiply_adds": sum(math.prod(t["shape"]) for t in read if len(t["shape"]) == 2),
            "output_multiply_adds": math.prod(output["shape"])}


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


def best_set() -> str:
    sets = instruction_sets()
    return "AVX-512 VNNI" if "avx512_vnni" in sets else "AVX-VNNI" if "avx_vnni" in sets else "AVX2"


def setting(a: argparse.Namespace) -> dict:
    commit = command("git", "rev-parse", "--short=12", "HEAD")
    if command("git", "status", "--porcelain", "--untracked-files=no"):
        commit += "+changes"
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        "commit": commit, "cpu": processor(), "instruction_sets": instruction_sets(), "cores": os.cpu_count(),
        "system": platform.release(), "threads": a.threads, "prompt": a.prompt,
        "generated": a.generated, "best": best_set(), "peer": a.peer_name if a.peer else None,
    }


def rounds_of(before: dict[Case, dict]) -> int:
    return max((len(r["engine"]["rounds"]) for r in before.values()), default=0)


def row(name: str, case: Case, sides: dict, rounds: list[dict[str, dict]], before: dict | None) -> dict:
    """A case's medians over the rounds, those that were measured before among them."""
    r = {"file": name, **dict(zip(KEYS, case))}
    values = {side: [*(before[side]["rounds"] if before else []), *(round(x[side][case], 2) for x in rounds)]
              for side in sides if all(case in x[side] for x in rounds)}
    for side, v in values.items():
        r[side] = {"tokens_per_second": round(statistics.median(v), 2), "rounds": v}
        if "peer" in values and side != "peer":
            r[side]["ratio"] = round(statistics.median(e / p for e, p in zip(v, values["peer"], strict=True)), 3)
    text = "  ".join(f"{side} {x['tokens_per_second']:.1f} ({x.get('ratio', 1):.2f})" for side, x in r.items() if isinstance(x, dict))
    print(f"  {case[0]:8} batch {case[1]:3}, {case[2]:4} tokens on {case[3]:5}: {text}", file=sys.stderr)
    return r


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
    parser.add_argument("--only", default="", choices=["", "prefill", "deep"], help="leave out all but the prefill, or the long context")
    parser.add_argument("--files", nargs="+", default=FILES)
    parser.add_argument("--isa", default="", help="instruction sets to force in further runs of the engine, such as avxvnni,avx2")
    parser.add_argument("--add", action="store_true", help="keep what --out holds of other files, and add rounds to those of the same")
    parser.add_argument("--limits", default=str(ROOT / "build/native/bench/ops_bench"), help="the micro-benchmark of operators, for the machine's limits")
    parser.add_argument("--out", type=Path, default=ROOT / "bench/results/decode.json")
    a = parser.parse_args()

    engine = build_engine()
    sides = {"engine": lambda model: engine_figures(engine, model, a)}
    for isa in filter(None, a.isa.split(",")):
        sides[isa] = lambda model, isa=isa: engine_figures(engine, model, a, isa)
    if a.peer:
        peer = str(Path(a.peer).resolve())
        sides["peer"] = lambda model: peer_figures(peer, model, a)
    kept = json.loads(a.out.read_text()) if a.add and a.out.exists() else {"results": []}
    found, files, machine = kept["results"], kept.get("files", {}), kept.get("limits", [])
    results = [r for r in found if r["file"] not in a.files]
    for name in a.files:
        before = {tuple(r[k] for k in KEYS): r for r in found if r["file"] == name}
        rounds: list[dict[str, dict]] = []
        for r in range(rounds_of(before), rounds_of(before) + a.rounds):
            order = list(sides) if r % 2 == 0 else list(reversed(sides))
            if a.peer and Path(a.limits).exists():
                machine.append({"file": name, **limits(a.limits, a.threads)})
            rounds.append({side: sides[side](a.models / name) for side in order})
            print(f"{name}: round {r + 1}", file=sys.stderr)
        files[name] = weights(engine, a.models / name)
        measured = rounds[0]["engine"]
        results += [row(name, case, sides, rounds, before.get(case)) for case in measured]
        results += [r for case, r in before.items() if case not in measured]
    a.out.parent.mkdir(parents=True, exist_ok=True)
    a.out.write_text(json.dumps({"setting": setting(a), "files": files, "limits": machine, "results": results}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
