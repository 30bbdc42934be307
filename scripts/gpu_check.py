#!/usr/bin/env python3
"""Tests and measures on a GPU, and writes what it found as JSON: scripts/gpu-check.sh runs it. Needs Python alone.

The operators' tests; models with random weights, made here: decoding at several batches, extends of one request and of many, prefill, beside what
reading weights and KV cache once takes at the memory's bandwidth; a pair whose large model writes a fixed random share, eager and lazy, one step at a
time and side by side, and the large model alone. Each part has a share of the time. What is left out, or fails, is named at the end; if a part
failed, the exit status is 1.
"""
import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import gpu_limits
import gpu_targets
import random_model
from gpu_parts import Failed, Parts, TimeUp, describe, lines, start, stop

HERE = Path(__file__).resolve().parent
POLICIES = "lazy,eager-large-first,eager-small-first,large"
# What is measured, and how many seconds parts may take.
REAL = {
    "shapes": ["small", "middle", "large"], "batches": [1, 2, 4, 8, 16, 32, 64], "context": 512, "prefill": 512,
    "extends": [2, 4, 8, 16], "extend_batches": [1, 4, 16, 64], "steps": 24,
    "pair": ("small", "large"), "requests": [16, 1, 4, 64, 8, 32], "shares": [0.1, 0.35], "tokens": 48,
    "budgets": {"tests": 50, "device": 20, "models": 40, "steps": 15, "pair": 45}, "seconds": 290, "threads": 0,
}
# A dry run's one thread waits for no other on a busy machine.
TINY = REAL | {
    "shapes": ["tiny"], "context": 64, "prefill": 64, "extends": [1, 4], "extend_batches": [1, 4], "steps": 4,
    "pair": ("tiny", "tiny-large"), "requests": [16, 1], "tokens": 16,
    "budgets": {"tests": 300, "device": 60, "models": 60, "steps": 120, "pair": 300}, "seconds": 900, "threads": 1,
}


class Check:
    def __init__(self, a, plan):
        self.a, self.plan, self.bandwidth = a, plan, a.bandwidth
        self.out, self.work = Path(a.out), place(a.work, a.out, sum(random_model.file_bytes(*m) for m in self.models()))
        self.log = self.out.with_suffix(".log")
        self.work.mkdir(parents=True, exist_ok=True)
        self.out.parent.mkdir(parents=True, exist_ok=True)
        self.result = {"device": a.device, "dry_run": a.dry_run, "tests": [], "models": [], "pairs": [], "targets": []}
        self.parts = Parts(a.seconds or plan["seconds"], self.save)
        self.result["parts"] = self.parts.entries
        self.makers = []  # (file, process), of the models that are being made

    def save(self):
        self.result["seconds"] = round(time.monotonic() - self.parts.start, 1)
        self.result["complete"] = all(e["status"] == "done" for e in self.parts.entries)
        self.out.write_text(json.dumps(self.result, indent=1) + "\n")

    def output(self, part, *command):
        return "\n".join(lines(command, part, self.log))

    # ---- the parts

    def probe(self, part):
        """What the device is, and how fast its memory."""
        self.result["program"] = self.output(part, self.a.tokenrouter, "version")
        found = next((d for d in json.loads(self.output(part, self.a.tokenrouter, "devices", "--json")) if d["kind"] == self.a.device), None)
        self.result["probe"] = found
        if found is None or found.get("fault"):
            raise Failed(f"{self.a.device} cannot be used: {found['reason'] if found else 'there is no such device'}")
        if not self.bandwidth and self.a.device == "cpu":
            self.bandwidth = json.loads(self.output(part, self.a.tokenrouter, "doctor", "--json"))["bandwidth"] / 1e9
        self.bandwidth = self.result["bandwidth_gb_s"] = self.bandwidth or gpu_limits.stated_bandwidth(found["name"])
        print(f"{found['kind']}: {found['name']}, " + (f"{self.bandwidth:.0f} GB/s" if self.bandwidth else "of unknown memory bandwidth: --bandwidth GB/S gives it"))

    def tests(self, part):
        """The operators' tests, each a program; what one says is shown if it fails."""
        programs = sorted(self.a.tests)
        if not programs and self.a.dry_run:
            part.missing.append("all of them: none were built")
        elif not programs:
            raise Failed("none were built")
        for i, program in enumerate(programs):
            begin, entry = time.monotonic(), {"test": Path(program).name, "passed": False}
            self.result["tests"].append(entry)
            try:
                self.output(part, program, *([self.a.test_data] if self.a.test_data else []))
                entry["passed"] = True
            except Failed as e:
                entry["why"] = str(e)
            except TimeUp:
                entry["why"] = "it did not end"
                part.missing.extend(Path(p).name for p in programs[i + 1 :])
            entry["seconds"] = round(time.monotonic() - begin, 1)
            print(f"{entry['test']:28} {'passed' if entry['passed'] else 'FAILED'} after {entry['seconds']:.1f} s" + (f": {entry['why']}" if "why" in entry else ""), flush=True)
            if part.missing:
                break
        bad = [e["test"] for e in self.result["tests"] if not e["passed"]]
        if bad:
            raise Failed(", ".join(bad))

    def make_models(self):
        """Starts to make the files, each in a process of its own, as far as there is room for them."""
        room = shutil.disk_usage(self.work).free - (1 << 30)
        for name, quantization in self.models():
            path, bytes_ = self.path(name, quantization), random_model.file_bytes(name, quantization)
            if path.exists() and path.stat().st_size == bytes_:
                continue
            room -= bytes_
            self.makers.append((path, bytes_, start([sys.executable, HERE / "random_model.py", name, quantization, path], None) if room > 0 else None))

    def wait_for_models(self, part):
        without = []
        for path, bytes_, maker in self.makers:
            if maker is None:
                without.append(f"{path.name} ({bytes_ / 1e9:.1f} GB, for which {self.work} has no room)")
                continue
            try:
                code = maker.wait(max(0, part.left()))
            except subprocess.TimeoutExpired:
                part.missing.append(path.name)
                continue
            if code != 0:
                without.append(path.name)
        total = sum(self.path(*m).stat().st_size for m in self.models() if self.path(*m).exists())
        print(f"{total / 1e6:.0f} MB in {self.work}")
        if without:
            raise Failed(f"not made: {', '.join(without)}")

    def steps(self, part, shape, quantization):
        """Bare steps of one model."""
        p, entry = self.plan, {"shape": shape, "quantization": quantization, "weight_bytes": gpu_limits.weight_bytes(shape, quantization), "figures": []}
        part.missing.extend([f"decode {n}" for n in p["batches"]] + ["prefill"] + [f"extend {b}x{n}" for b in p["extend_batches"] for n in p["extends"]])
        self.result["models"].append(entry)
        text = lambda numbers: ",".join(map(str, numbers))  # noqa: E731
        command = [self.a.tokenrouter, "bench", self.made(shape, quantization), "--device", self.a.device, "--batch", text(p["batches"]), "--context", p["context"],
                   "--extend", text(p["extends"]), "--extend-batch", text(p["extend_batches"]), "--extend-context", p["context"], "--copied",
                   "--prefill", p["prefill"], "--steps", p["steps"], "--runs", 2, "--threads", p["threads"], "--json"]
        for line in lines(command, part, self.log):
            f = json.loads(line)
            entry["figures"].append(f)
            del part.missing[0]
            note = ""
            if self.bandwidth:
                f["limit_ms"] = 1000 * gpu_limits.step_limit(shape, quantization, f, self.bandwidth)
                f["of_limit"] = f["limit_ms"] / f["step_ms"]
                note = f"  {100 * f['of_limit']:5.1f}% of the bandwidth limit, {f['limit_ms']:.3f} ms"
            print(f"{f['kind']:8} {f['batch']:3} x {f['tokens']:3} tokens  {f['step_ms']:9.3f} ms  {f['tokens_per_second']:9.1f} tokens/s{note}{graphs(f)}", flush=True)

    def pair(self, part, sharing):
        """Two models under fixed random routing."""
        p, out = self.plan, self.out.with_name(f"pair-{sharing}.json")
        out.unlink(missing_ok=True)
        part.missing.extend(f"N={n} p={s}" for s in p["shares"] for n in p["requests"])
        entry = {"sharing": sharing, "result": {"cases": []}}
        self.result["pairs"].append(entry)
        small, large = [self.made(shape, "q4_k_m") for shape in p["pair"]]
        command = [self.a.policies, "--small", small, "--large", large, "--device", self.a.device, "--sharing", sharing, "--requests", ",".join(map(str, p["requests"])),
                   "--share", ",".join(map(str, p["shares"])), "--policies", POLICIES, "--tokens", p["tokens"], "--rounds", 1, "--threads", p["threads"], "--out", out]
        try:
            self.output(part, *command)
        finally:  # the file has the cases that were done
            if out.exists():
                entry["result"] = json.loads(out.read_text())
            for case in entry["result"]["cases"]:
                part.missing.remove(f"N={case['requests']} p={case['share']}")
                self.show(case)

    def show(self, case):
        print(f"N={case['requests']} p={case['share']}:")
        for name, f in case["policies"].items():
            run, note = f["runs"][-1], ""
            if self.bandwidth:
                run["limit_s"] = gpu_limits.run_limit([(s, "q4_k_m") for s in self.plan["pair"]], run, self.bandwidth)
                run["of_limit"] = run["limit_s"] * f["tokens_per_second"] / (case["requests"] * self.plan["tokens"])
                note = f"  {100 * run['of_limit']:5.1f}% of the bandwidth limit"
            gaps = run.get("gaps")
            print(f"  {name:18} {gpu_targets.rate(f):9.1f} tokens/s{note}" + (f"  gaps {gaps['median_us']:.0f} us, p95 {gaps['p95_us']:.0f}" if gaps else "")
                  + graphs(run["small_steps"]) + graphs(run["large_steps"]))
        ratio = gpu_targets.over_eager(case)
        print("  lazy over eager: " + (f"{ratio:.2f}" if ratio else "-"), flush=True)

    # ---- all of them

    def models(self):
        """All that are needed, the pair's first."""
        pair = [(s, "q4_k_m") for s in self.plan["pair"]]
        return list(dict.fromkeys(pair + [(s, q) for s in self.plan["shapes"] for q in ("q4_k_m", "q8_0")]))

    def path(self, shape, quantization):
        return self.work / f"{shape}-{quantization}.gguf"

    def made(self, shape, quantization):
        """The file, if it is whole."""
        path = self.path(shape, quantization)
        if not path.exists():
            raise Failed(f"{path.name} was not made")
        return path

    def all(self):
        run, budgets = self.parts.run, self.plan["budgets"]
        try:
            run("device", budgets["device"], self.probe)
            if self.parts.status("device") == "done":
                self.make_models()  # goes on beside the tests
            run("operators' tests", budgets["tests"], self.tests, ["device"])
            run("models", budgets["models"], self.wait_for_models, ["device"])
            for shape in self.plan["shapes"]:
                for quantization in ("q4_k_m", "q8_0"):
                    run(f"steps of {shape} {quantization}", budgets["steps"], lambda part, s=shape, q=quantization: self.steps(part, s, q), ["device"])
            for sharing in ("exclusive", "concurrent"):
                run(f"pair, {sharing}", budgets["pair"], lambda part, s=sharing: self.pair(part, s), ["device"])
        finally:
            for path, _, maker in self.makers:
                if maker is not None and maker.poll() is None:
                    stop(maker)
            if not self.a.keep:
                for path in (self.path(*model) for model in self.models()):
                    path.unlink(missing_ok=True)
                    path.with_name(path.name + ".part").unlink(missing_ok=True)
                if not any(self.work.iterdir()):
                    self.work.rmdir()
        return self.conclude()

    def conclude(self):
        self.result["targets"] = gpu_targets.targets(self.result)
        self.save()
        print("\n== targets" + (", of a GPU: this is a dry run" if self.a.dry_run else ""))
        for t in self.result["targets"]:
            print(gpu_targets.describe(t))
        print(f"\n== {self.out}, after {self.result['seconds']} s")
        for e in self.parts.entries:
            print(describe(e))
        return 1 if self.parts.failed() else 0


def graphs(counts):
    """How many steps had a graph, on devices that have graphs."""
    hits, misses = counts.get("graph_hits", 0), counts.get("graph_misses", 0)
    return f"  graphs {hits} of {hits + misses}" if hits + misses else ""


def place(wanted, beside, needed):
    """Where the models go: memory, if twice as much as they take is free there and in all, else beside the result."""
    if wanted:
        return Path(wanted)
    try:
        free = {k: int(v.split()[0]) * 1024 for k, _, v in (line.partition(":") for line in Path("/proc/meminfo").read_text().splitlines())}["MemAvailable"]
        if min(free, shutil.disk_usage("/dev/shm").free) > 2 * needed and os.access("/dev/shm", os.W_OK):
            return Path(f"/dev/shm/gpu-check-{os.getuid()}")
    except (OSError, KeyError, ValueError, IndexError):
        pass
    return Path(beside).parent / "models"


def parse(arguments):
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--tokenrouter", default="bin/tokenrouter", help="the program")
    p.add_argument("--policies", default="bin/policies", help="the program of bench/policies")
    p.add_argument("--device", default="cuda")
    p.add_argument("--tests", nargs="*", default=[], help="programs that test the operators")
    p.add_argument("--test-data", help="directory that they read")
    p.add_argument("--work", help="directory for the models; default: in memory if there is room, else beside the result")
    p.add_argument("--keep", action="store_true", help="leave the models there")
    p.add_argument("--out", required=True, help="JSON to write")
    p.add_argument("--bandwidth", type=float, default=0, help="of the device's memory, GB/s; default: as stated for its name")
    p.add_argument("--seconds", type=float, default=0, help="the time for all parts together; default: 290")
    p.add_argument("--dry-run", action="store_true", help="tiny models and few steps: to see that all of it runs")
    return p.parse_args(arguments)


def main(arguments):
    a = parse(arguments)
    plan = TINY if a.dry_run else REAL
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was started is ended, too
    check = Check(a, plan)
    return check.all()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
