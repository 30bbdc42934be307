#!/usr/bin/env python3
"""Measures models with random weights on a device, and writes what it measured as JSON: scripts/gpu-check.sh runs it. Needs Python alone.

Decoding at several batches, extends, prefill, of each model; then a pair whose large model writes a fixed random share, eager and lazy, one step
at a time and side by side, and the large model alone. Each decode is compared with what reading weights and KV cache once takes at the device's
memory bandwidth.
"""
import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
# GB/s, as the makers state them.
BANDWIDTHS = {"H200": 4800, "H100 PCIe": 2000, "H100": 3350, "A100": 1935, "L40S": 864, "L4": 300, "4090": 1008, "5090": 1792, "3090": 936}


def run(*command):
    """Standard output of a command; what it says of its progress goes on."""
    return subprocess.run([str(c) for c in command], check=True, stdout=subprocess.PIPE, text=True).stdout


class Check:
    def __init__(self, a):
        self.a, self.start = a, time.monotonic()
        self.out = Path(a.out)
        self.result = {"device": a.device, "dry_run": a.dry_run, "complete": False, "models": [], "pairs": []}
        self.work = Path(a.work)
        self.work.mkdir(parents=True, exist_ok=True)

    def save(self):
        self.result["seconds"] = round(time.monotonic() - self.start, 1)
        self.out.write_text(json.dumps(self.result, indent=1) + "\n")

    def late(self):
        return time.monotonic() - self.start > self.a.seconds

    def probe(self):
        """What the device is, and how fast its memory."""
        found = next((d for d in json.loads(run(self.a.tokenrouter, "devices", "--json")) if d["kind"] == self.a.device), None)
        if found is None or found.get("fault"):
            sys.exit(f"gpu-check: {self.a.device} cannot be used: {found['reason'] if found else 'there is no such device'}")
        self.result["probe"] = found
        bandwidth = self.a.bandwidth
        if not bandwidth and self.a.device == "cpu":
            bandwidth = json.loads(run(self.a.tokenrouter, "doctor", "--json"))["bandwidth"] / 1e9
        if not bandwidth:
            bandwidth = next((b for name, b in BANDWIDTHS.items() if name in found["name"]), 0)
        if not bandwidth:
            sys.exit(f"gpu-check: the memory bandwidth of {found['name']} is not known: give --bandwidth GB/S")
        self.result["bandwidth_gb_s"] = bandwidth
        print(f"{found['kind']}: {found['name']}, {bandwidth:.0f} GB/s")

    def model(self, shape, quantization):
        path = self.work / f"{shape}-{quantization}.gguf"
        if not path.exists():
            run(sys.executable, HERE / "random_model.py", shape, quantization, path)
        return path

    def measure(self, shape, quantization):
        """Bare steps of one model."""
        path = self.model(shape, quantization)
        entry = {"shape": shape, "quantization": quantization, "bytes": path.stat().st_size, "figures": []}
        self.result["models"].append(entry)
        steps = ["--steps", self.a.steps, "--runs", 2]
        lines = run(self.a.tokenrouter, "bench", path, "--device", self.a.device, "--batch", self.a.batches, "--context", self.a.context,
                    "--extend", "1,2,4,8,16", "--extend-context", self.a.context, "--prefill", self.a.prefill, "--json", *steps)
        for line in lines.splitlines():
            f = json.loads(line)
            note = ""
            if f["kind"] in ("decode", "extend"):
                f["limit_ms"] = entry["bytes"] / self.result["bandwidth_gb_s"] / 1e6
                f["of_limit"] = f["limit_ms"] / f["step_ms"]
                note = f", {100 * f['of_limit']:.0f}% of the bandwidth limit"
            entry["figures"].append(f)
            print(f"{shape:7} {quantization:7} {f['kind']:8} batch {f['batch']:3} tokens {f['tokens']:4}  {f['step_ms']:9.3f} ms  {f['tokens_per_second']:9.1f} tokens/s{note}", flush=True)
        self.save()

    def pair(self, sharing):
        """Two models under fixed random routing."""
        small, large = self.model(self.a.small, "q4_k_m"), self.model(self.a.large, "q4_k_m")
        out = self.work / f"pair-{sharing}.json"
        run(self.a.policies, "--small", small, "--large", large, "--device", self.a.device, "--sharing", sharing, "--requests", self.a.requests,
            "--share", self.a.shares, "--policies", "lazy,eager-large-first,eager-small-first,large", "--tokens", self.a.tokens, "--rounds", 1, "--out", out)
        result = json.loads(out.read_text())
        self.result["pairs"].append({"sharing": sharing, "result": result})
        for case in result["cases"]:
            rates = {name: f["steady_tokens_per_second" if f["steady_part"] > 0.3 else "tokens_per_second"] for name, f in case["policies"].items()}
            eager = max(rates.get("eager-large-first", 0), rates.get("eager-small-first", 0))
            text = ", ".join(f"{name} {rate:.1f}" for name, rate in rates.items())
            print(f"pair {sharing}: N={case['requests']} p={case['share']}: {text} tokens/s; lazy {rates['lazy'] / eager if eager else 0:.2f} of eager", flush=True)
        self.save()

    def all(self):
        self.probe()
        for shape in self.a.shapes.split(","):
            for quantization in ("q4_k_m", "q8_0"):
                if not self.late():
                    self.measure(shape, quantization)
        for sharing in ("exclusive", "concurrent"):
            if not self.late():
                self.pair(sharing)
        self.result["complete"] = not self.late()
        self.save()
        print(f"{self.out}: {self.result['seconds']} s" + ("" if self.result["complete"] else "; the time was up before all was measured"))


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--tokenrouter", required=True, help="the program")
    p.add_argument("--policies", required=True, help="the program of bench/policies")
    p.add_argument("--device", default="cuda")
    p.add_argument("--work", required=True, help="directory for the models")
    p.add_argument("--out", required=True, help="JSON to write")
    p.add_argument("--bandwidth", type=float, default=0, help="of the device's memory, GB/s; default: as stated for its name")
    p.add_argument("--seconds", type=float, default=240, help="nothing is begun after so long")
    p.add_argument("--dry-run", action="store_true", help="tiny models and few steps: to see that all of it runs")
    a = p.parse_args()
    real = {"shapes": "small,middle,large", "small": "small", "large": "large", "batches": "1,2,4,8,16,32,64", "context": 512, "prefill": 512,
            "steps": 24, "requests": "1,4,16,64", "shares": "0.1,0.35", "tokens": 48}
    tiny = real | {"shapes": "tiny", "small": "tiny", "large": "tiny", "context": 64, "prefill": 64, "steps": 4, "requests": "1,4", "tokens": 16}
    for name, value in (tiny if a.dry_run else real).items():
        setattr(a, name, value)
    Check(a).all()


if __name__ == "__main__":
    main()
