"""The check of a GPU: as a dry run on the processor, all of it; parts that fail, that do not end, or that there is no time for; and its figures."""

import json
import subprocess
from pathlib import Path

import gpu_check
import gpu_limits
import gpu_targets
import pytest
import random_model
from gpu_parts import Failed, Parts, lines

ROOT = Path(__file__).resolve().parents[2]
TOKENROUTER, POLICIES = ROOT / "bin/tokenrouter", ROOT / "bin/policies"


@pytest.fixture
def program(tmp_path):
    """Makes a program that stands for a test of the operators."""

    def make(name: str, text: str) -> str:
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return str(path)

    return make


def test_dry_run(tmp_path, program):
    out, work = tmp_path / "gpu.json", tmp_path / "models"
    done = subprocess.run([ROOT / "scripts/gpu-check.sh", "--dry-run", "--out", out, "--work", work, "--tests", program("a_test", "exit 0")],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads(out.read_text())
    assert result["complete"], done.stdout
    assert [(e["part"], e["status"], e["missing"]) for e in result["parts"]] == [(p, "done", []) for p in (
        "device", "operators' tests", "models", "steps of tiny q4_k_m", "steps of tiny q8_0", "pair, exclusive", "pair, concurrent")]
    assert [t["passed"] for t in result["tests"]] == [True]
    plan = gpu_check.TINY
    for model in result["models"]:
        figures = [(f["kind"], f["batch"], f["tokens"]) for f in model["figures"]]
        assert figures == [*(("decode", n, 1) for n in plan["batches"]), ("prefill", 1, plan["prefill"]),
                           *(("extend", b, n) for b in plan["extend_batches"] for n in plan["extends"])]
        assert all(f["of_limit"] == pytest.approx(f["limit_ms"] / f["step_ms"]) and f["of_limit"] > 0 for f in model["figures"])
    for pair in result["pairs"]:
        assert {(c["requests"], c["share"]) for c in pair["result"]["cases"]} == {(n, p) for n in plan["requests"] for p in plan["shares"]}
        for case in pair["result"]["cases"]:
            assert set(case["policies"]) >= set(gpu_targets.ROUTED)
            assert all(run["of_limit"] > 0 for f in case["policies"].values() for run in f["runs"])
    # Every figure with a target is there; a processor has no graphs.
    assert {t["name"]: t["measured"] is None for t in result["targets"] if t["measured"] is None} == {gpu_targets.graph_row([])["name"]: True}
    assert all(t["name"] in done.stdout for t in result["targets"])
    assert not work.exists()


def check(tmp_path, plan, **options):
    flags = [f for name, value in options.items() for f in (f"--{name}", *([value] if isinstance(value, str) else value))]
    a = gpu_check.parse(["--dry-run", "--device", "cpu", "--bandwidth", "20", "--out", str(tmp_path / "out.json"), "--work", str(tmp_path / "models"),
                         "--tokenrouter", str(TOKENROUTER), *flags])
    c = gpu_check.Check(a, gpu_check.TINY | plan)
    return c.all(), c.result


def test_parts_that_fail_do_not_end_the_others(tmp_path, program, capsys):
    tests = [program("a_test", "echo broken sum >&2; exit 3"), program("b_test", "exit 0"), program("c_test", "sleep 1000 & sleep 1000"), program("d_test", "exit 0")]
    budgets = gpu_check.TINY["budgets"] | {"tests": 5}
    code, result = check(tmp_path, {"batches": [1], "extends": [1], "extend_batches": [2], "budgets": budgets}, tests=tests, policies="/bin/false")
    assert code == 1
    parts = {e["part"]: e for e in result["parts"]}
    assert (parts["operators' tests"]["status"], parts["operators' tests"]["why"], parts["operators' tests"]["missing"]) == ("failed", "a_test, c_test", ["d_test"])
    assert [(t["test"], t["passed"], t.get("why")) for t in result["tests"]] == [
        ("a_test", False, "a_test ended with 3: broken sum"), ("b_test", True, None), ("c_test", False, "it did not end")]
    assert parts["steps of tiny q8_0"]["status"] == "done"
    for sharing in ("exclusive", "concurrent"):
        assert parts[f"pair, {sharing}"]["status"] == "failed" and "N=16 p=0.1" in parts[f"pair, {sharing}"]["missing"]
    assert not result["complete"]
    said = capsys.readouterr().out
    assert "operators' tests: failed after" in said and "without d_test: a_test, c_test" in said and "false ended with 1: it said nothing" in said


def test_what_there_is_no_time_for_is_named(tmp_path, program):
    code, result = check(tmp_path, {}, seconds="1e-9", tests=[program("a_test", "exit 0")])
    assert code == 0 and not result["complete"]
    assert [(e["part"], e["status"], e["why"]) for e in result["parts"]][:2] == [("device", "skipped", "the time is up"), ("operators' tests", "skipped", "needs device")]
    assert {t["verdict"] for t in result["targets"]} == {"not measured"}


def test_without_a_device(tmp_path, program):
    code, result = check(tmp_path, {}, device="cuda:77", tests=[program("a_test", "exit 0")])
    assert code == 1
    assert [e["status"] for e in result["parts"]] == ["failed"] + 6 * ["skipped"]
    assert result["parts"][0]["why"] == "cuda:77 cannot be used: there is no such device"


def test_a_part_may_take_what_others_left():
    parts = Parts(100, lambda: None)
    left = []
    for _ in range(3):
        parts.run("a part", 40, lambda part: left.append(part.left()))
    assert left == pytest.approx([40, 80, 100], abs=5)


def test_lines_come_as_they_are_said(tmp_path):
    class Forever:
        left = staticmethod(lambda: 60.0)

    got = []
    with pytest.raises(Failed, match="sh ended with 7: and why"):
        for line in lines(["sh", "-c", "echo one; printf two; echo and why >&2; exit 7"], Forever, tmp_path / "log"):
            got.append(line)
    assert got == ["one", "two"]


@pytest.mark.parametrize("shape, quantization", [("tiny", "q4_k_m"), ("tiny-large", "q8_0")])
def test_size_of_a_model(tmp_path, shape, quantization):
    path = tmp_path / "model.gguf"
    random_model.write(path, shape, quantization)
    assert path.stat().st_size == random_model.file_bytes(shape, quantization)


def test_limits():
    # Qwen3 8B: 36 layers of 8 heads of 128 dimensions; the embedding, 151936 x 4096 in Q6_K (210 bytes of 256), is not read. 0.6B: it is the output matrix.
    assert gpu_limits.kv_bytes("large") == 2 * 36 * 8 * 128 * 2
    every = lambda shape: sum(random_model.size(kind, dims) for _, kind, dims, _ in random_model.tensors(random_model.SHAPES[shape], "q4_k_m"))  # noqa: E731
    assert gpu_limits.weight_bytes("large", "q4_k_m") == every("large") - 151936 * 4096 // 256 * 210
    assert gpu_limits.weight_bytes("small", "q4_k_m") == every("small")
    decode = {"kind": "decode", "batch": 4, "tokens": 1, "context": 100, "steps": 9}  # the step in the middle is the sixth, one before the clock started included
    assert gpu_limits.cached_tokens(decode) == 4 * 106
    extend = {"kind": "extend", "batch": 3, "tokens": 8, "context": 100, "steps": 9}
    assert gpu_limits.cached_tokens(extend) == 3 * 108
    weights, kv = gpu_limits.weight_bytes("tiny", "q8_0"), gpu_limits.kv_bytes("tiny")
    assert gpu_limits.step_limit("tiny", "q8_0", extend, 2) == pytest.approx((weights + kv * 324) / 2e9)
    run = {"small_steps": {"steps": 10, "cached_tokens": 50}, "large_steps": {"steps": 0}}
    assert gpu_limits.run_limit([("tiny", "q8_0"), ("tiny", "q8_0")], run, 2) == pytest.approx(10 * (weights + kv * 50) / 2e9)
    assert gpu_limits.stated_bandwidth("NVIDIA H100 PCIe") == 2000 and gpu_limits.stated_bandwidth("NVIDIA H100 80GB HBM3") == 3350
    assert gpu_limits.stated_bandwidth("Another") == 0


def figure(rate, part=0.9, **run):
    return {"tokens_per_second": 1.0, "steady_tokens_per_second": rate, "steady_part": part, "runs": [{"small_steps": {}, "large_steps": {}, **run}]}


def test_targets():
    model = {"shape": "large", "quantization": "q8_0", "figures": [{"kind": "decode", "batch": 1, "of_limit": 0.71}, {"kind": "decode", "batch": 32, "of_limit": 0.4}]}
    gaps = lambda median: {"median_us": median, "p95_us": 2 * median}  # noqa: E731
    pair = {"sharing": "exclusive", "result": {"cases": [{"requests": 16, "share": 0.1, "policies": {
        "lazy": figure(300.0, gaps=gaps(20), large_steps={"graph_hits": 97, "graph_misses": 2}),
        "eager-large-first": figure(100.0, gaps=gaps(60), small_steps={"graph_hits": 1}), "eager-small-first": figure(150.0),
        "large": figure(900.0, gaps=gaps(90))}}]}}
    rows = gpu_targets.targets({"models": [model], "pairs": [pair]})
    assert [(t["measured"], t["verdict"]) for t in rows] == [(0.71, "reached"), (0.4, "missed"), (0.98, "reached"), (60, "missed"), (2.0, "reached")]
    assert "eager-large-first at N=16, p=0.1, exclusive; p95 120" in gpu_targets.describe(rows[3])
    assert gpu_targets.rate(figure(5.0, part=0.1)) == 1.0
    assert [t["verdict"] for t in gpu_targets.targets({"models": [], "pairs": []})] == ["not measured"] * 3
