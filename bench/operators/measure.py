#!/usr/bin/env python3
"""Runs the micro-benchmark of the CPU operators and writes its figures, with the machine's limits in the same run, as JSON.

    bench/operators/measure.py [--program build/native/bench/ops_bench] [--isa avx2] [--out bench/results/operators.json]
"""

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench/llamacpp"))
sys.dont_write_bytecode = True
import compare  # the description of the machine

PRODUCT = re.compile(r"matmul +(\S+) +(\d+)x(\d+) +batch +(\d+) +threads (\d+) +([\d.]+) us +([\d.]+) GB/s +([\d.]+) TOPS")
LIMIT = re.compile(r"limit +threads (\d+) +memory reads ([\d.]+) GB/s(.*)")
PEAK = re.compile(r"(512-bit VNNI|256-bit VNNI|AVX2) ([\d.]+) TOPS")


def parse(text: str) -> dict:
    limits, products = [], []
    for line in text.splitlines():
        if found := LIMIT.match(line):
            limits.append({"threads": int(found[1]), "reads_gb_per_second": float(found[2]),
                           "tops": {name: float(value) for name, value in PEAK.findall(found[3])}})
        elif found := PRODUCT.match(line):
            kind, rows, columns, batch, threads, micros, speed, tops = found.groups()
            products.append({"type": kind, "rows": int(rows), "columns": int(columns), "batch": int(batch), "threads": int(threads),
                             "microseconds": float(micros), "gb_per_second": float(speed), "tops": float(tops)})
    if not limits or not products:
        raise SystemExit("operators: expected lines on limits and products from the micro-benchmark, found none")
    return {"limits": limits, "products": products}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(ROOT / "build/native/bench/ops_bench"))
    parser.add_argument("--isa", default="", help="instruction set; default: the best")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--batches", default="1,4,8,16,64")
    parser.add_argument("--types", default="Q4_0,Q4_1,Q5_0,Q8_0,Q4_K,Q5_K,Q6_K,F16,F32")
    parser.add_argument("--out", type=Path, default=ROOT / "bench/results/operators.json")
    a = parser.parse_args()
    text = compare.command(a.program, "--only", "limits,matmul", "--threads", a.threads, "--batches", a.batches, "--types", a.types,
                           *(["--isa", a.isa] if a.isa else []))
    isa = re.search(r"^isa (\S+)", text, re.M)
    setting = {**compare.setting(argparse.Namespace(threads=a.threads, prompt=0, generated=0, peer=None, peer_name="")),
               "isa": isa[1] if isa else ""}
    for key in ("prompt", "generated", "peer", "best"):
        del setting[key]
    a.out.write_text(json.dumps({"setting": setting, **parse(text)}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
