"""The page on performance, from a machine whose limits make plain numbers."""

import json

import pytest

QWEN = "qwen2.5-coder-1.5b-x.gguf"
SETTING = {"date": "2026-01-02", "commit": "abc", "cpu": "A CPU", "instruction_sets": ["avx2"], "cores": 2, "threads": 2, "prompt": 128, "generated": 16,
           "best": "AVX-512 VNNI", "peer": "a peer"}


def row(kind="decode", batch=1, tokens=1, context=128, engine=10.0, ratio=2.0, rounds=3) -> dict:
    return {"file": QWEN, "kind": kind, "batch": batch, "tokens": tokens, "context": context,
            "engine": {"tokens_per_second": engine, "rounds": [engine] * rounds, "ratio": ratio},
            "peer": {"tokens_per_second": engine / ratio, "rounds": [engine / ratio] * rounds}}


@pytest.fixture
def data() -> dict:
    """Weights of 1 GB and 0.5 G products, 0.1 G of them for the output, on a machine that reads 20 GB/s and does 0.1 TOPS."""
    return {"setting": SETTING, "files": {QWEN: {"bytes": 1_000_000_000, "multiply_adds": 500_000_000, "output_multiply_adds": 100_000_000}},
            "limits": [{"file": QWEN, "reads_gb_per_second": x, "avx512vnni_tops": 0.1} for x in (19, 20, 40)], "results": [row()]}


def test_shares_of_the_limits(performance, data):
    # 10 steps of 1 GB are 10 of the 20 GB/s (the median); 2 * 0.5 G * 10 are 0.01 of the 0.1 TOPS.
    assert performance.shares(row(), "engine", data) == pytest.approx((0.5, 0.1))
    # A batch of 8 reads the weights once for 8 tokens.
    assert performance.shares(row(batch=8, engine=80.0), "engine", data) == pytest.approx((0.5, 0.8))
    # A prefill of 100 tokens has no output: 2 * 0.4 G * 100 tokens * 1 step.
    assert performance.shares(row("prefill", tokens=100, engine=100.0), "engine", data) == pytest.approx((0.05, 0.8))


def test_the_target_of_a_row(performance):
    of = performance.TARGETS[performance.QWEN_LARGE, "engine"]
    assert performance.target_of(row(batch=8), "engine", SETTING) == of[8]
    assert performance.target_of(row(context=4096), "engine", SETTING) == of["deep"]
    assert performance.target_of(row("prefill", tokens=512), "engine", SETTING) == of["prefill"]
    assert performance.target_of(row(batch=3), "engine", SETTING) is None
    assert performance.target_of({**row(), "file": "other.gguf"}, "engine", SETTING) is None


def test_verdicts(performance, data):
    target = performance.TARGETS[performance.QWEN_LARGE, "engine"][1]
    assert performance.verdict(row(ratio=target), "engine", data) == f"{target:g}"
    assert performance.verdict(row(ratio=target - 0.01), "engine", data) == f"{target:g}: **not reached**"
    # 17 steps a second are 85 % of what the memory gives, which counts as the limit.
    assert performance.verdict(row(ratio=target - 0.01, engine=17.0), "engine", data) == f"{target:g}: at the limit"
    assert performance.verdict(row(batch=3), "engine", data) == ""


def test_the_table(performance, data):
    data["results"] = [row(batch=4, engine=40.0), row(context=4096, rounds=1), row("prefill", tokens=512, context=0, engine=200.0), row()]
    lines = performance.speed(data)
    table = [line.split(" | ")[0].removeprefix("| ") for line in lines if line.startswith("| ") and "engine" not in line]
    assert table == ["decode, batch 1", "decode, batch 4", "decode, batch 1 on 4,096 of context", "prefill, 512 tokens"]
    assert any("3 rounds, of 1 where the context is long" in line for line in lines)
    assert "| decode, batch 1 | 10.0 | 5.0 | 2.00 | 1.6 | 50% | 10% |" in lines


def test_perplexity_beside_that_of_floats(performance):
    assert performance.perplexity({"perplexity": {"integer": 5.05, "exact_float": 5.0}}) == "5.050 (+1.00%)"
    assert performance.perplexity({}) == "–"


def test_check_tells_a_page_that_is_out_of_date(performance, data, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(performance, "RESULTS", tmp_path)
    monkeypatch.setattr(performance, "PAGE", tmp_path / "performance.md")
    (tmp_path / "decode.json").write_text(json.dumps(data))
    monkeypatch.setattr("sys.argv", ["render-performance.py", "--check"])
    assert performance.main() == 1 and "is not what bench/results gives" in capsys.readouterr().err
    monkeypatch.setattr("sys.argv", ["render-performance.py"])
    assert performance.main() == 0
    monkeypatch.setattr("sys.argv", ["render-performance.py", "--check"])
    assert performance.main() == 0
    data["results"][0]["engine"]["tokens_per_second"] = 11.0
    (tmp_path / "decode.json").write_text(json.dumps(data))
    assert performance.main() == 1
