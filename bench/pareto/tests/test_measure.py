"""The measurement of accuracy against share: its bookkeeping, and a small run of the real thing."""

import argparse
import importlib.util
import json
import os
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parents[1]
SPEC = importlib.util.spec_from_file_location("measure_pareto", HERE / "measure.py")  # other tools have a measure.py, too
m = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(m)
import questions  # noqa: E402

CURVES = [
    {"name": "R-Stitch", "routing": {"algorithm": "r-stitch"}, "over": "threshold", "values": [0.0, 1.0]},
    {"name": "R2R", "routing": {"algorithm": "r2r", "head": "catalogue:demo-r2r"}, "over": "threshold", "values": [0.5]},
    {"name": "Speculative", "routing": {"algorithm": "speculative"}},
]


def test_the_interval_is_that_of_the_binomial():
    assert m.interval([True] * 50) == [1.0, 1.0]
    assert m.interval([False] * 50) == [0.0, 0.0]
    rights = [i % 10 != 0 for i in range(1000)]  # 90 %
    low, high = m.interval(rights)
    # The normal approximation: 0.9 +- 1.96 sqrt(0.9 * 0.1 / 1000) = 0.8814 to 0.9186.
    assert low == pytest.approx(0.8814, abs=0.004) and high == pytest.approx(0.9186, abs=0.004)
    assert m.interval(rights) == [low, high], "the same each time"


def test_a_route_for_each_curve():
    c = m.config(m.Pair(), CURVES, 1234)
    assert c["server"]["listen"] == "127.0.0.1:1234"
    assert [r["name"] for r in c["routes"]] == ["curve-0", "curve-1", "curve-2"]
    assert c["routes"][1] == {"name": "curve-1", "models": ["demo-small", "demo-large"], "algorithm": "r2r", "head": "catalogue:demo-r2r"}


def test_points_are_in_order_and_find_their_places_again():
    points = m.points(m.Pair(), CURVES)
    assert [(p["target"], p["routing"]) for p in points] == [
        ("demo-small", None), ("demo-large", None), ("curve-0", {"threshold": 0.0}), ("curve-0", {"threshold": 1.0}), ("curve-1", {"threshold": 0.5}),
        ("curve-2", None)]
    r = m.result(m.Pair(), 7, CURVES, [{"accuracy": i} for i in range(6)])
    assert r["single"] == {"demo-small": {"accuracy": 0}, "demo-large": {"accuracy": 1}}
    assert r["curves"][0] == {"name": "R-Stitch", "routing": {"algorithm": "r-stitch"}, "over": "threshold",
                              "points": [{"value": 0.0, "accuracy": 2}, {"value": 1.0, "accuracy": 3}]}
    assert r["curves"][2] == {"name": "Speculative", "routing": {"algorithm": "speculative"}, "points": [{"accuracy": 5}]}


def test_points_are_kept_by_what_decides_them(tmp_path):
    kept, points = m.Kept(tmp_path, ["binary", 1000]), m.points(m.Pair(), CURVES)
    assert len({kept.file(p) for p in points}) == len(points)
    kept.put(points[2], {"accuracy": 0.5})
    assert kept.get(points[2]) == {"accuracy": 0.5} and kept.get(points[3]) is None
    moved = {**points[2], "target": "curve-7"}  # a curve before it in the file
    assert kept.get(moved) == {"accuracy": 0.5}
    for other in (["other binary", 1000], ["binary", 999]):
        assert m.Kept(tmp_path, other).get(points[2]) is None
    assert kept.get({**points[2], "route": {"algorithm": "r2r"}}) is None


def test_a_run_that_is_stopped_goes_on(tmp_path):
    binary = m.ROOT / "bin/tokenrouter"
    assert binary.exists(), "make build comes first"
    points = tmp_path / "points.toml"
    points.write_text('[[curve]]\nname = "R-Stitch"\nrouting = { algorithm = "r-stitch" }\nover = "threshold"\nvalues = [0, 1]\n')
    a = argparse.Namespace(binary=binary, points=points, count=6, out=tmp_path / "out.json", work=tmp_path / "work", seconds=1e-9,
                           small=None, large=None, problems=None, max_tokens=160)
    assert m.run(a) == m.UNFINISHED and not a.out.exists()
    a.seconds = 0
    assert m.run(a) == 0
    r = json.loads(a.out.read_text())
    all_large, all_small = r["curves"][0]["points"]
    assert all_large["large_share"] == 1.0 and all_small["large_share"] == 0.0
    assert all_large["accuracy"] == r["single"]["demo-large"]["accuracy"] >= 0.5
    assert all_small["accuracy"] == r["single"]["demo-small"]["accuracy"]
    # With everything measured nothing is asked, and the file is the same.
    a.out.unlink()
    kept = {f: os.stat(f).st_mtime_ns for f in a.work.iterdir()}
    assert len(kept) == 4 and m.run(a) == 0
    assert json.loads(a.out.read_text()) == r and {f: os.stat(f).st_mtime_ns for f in a.work.iterdir()} == kept


def test_any_pair_over_a_file_of_problems(tmp_path):
    """The built-in models as files, asked what they know: the small one's share of a route that never asks the large one is all."""
    q = m.built_in(4)
    problems = tmp_path / "problems.jsonl"
    problems.write_text("".join(json.dumps({"problem": x.question, "solution": f"It is {x.expected}."}) + "\n" for x in q))
    points = tmp_path / "points.toml"
    points.write_text('[[curve]]\nname = "R2R"\nrouting = { algorithm = "r2r", head = "r2r.gguf" }\nover = "threshold"\nvalues = [1]\n')
    with pytest.raises(FileNotFoundError):
        m.read_points(points)
    pair = m.ROOT / "models/pair"
    (tmp_path / "r2r.gguf").write_bytes((pair / "heads/r2r.gguf").read_bytes())
    a = argparse.Namespace(binary=m.ROOT / "bin/tokenrouter", points=points, count=4, out=tmp_path / "out.json", work=tmp_path / "work", seconds=0,
                           small=pair / "small.gguf", large=pair / "large.gguf", problems=problems, max_tokens=40)
    assert m.run(a) == 0
    r = json.loads(a.out.read_text())
    assert list(r["single"]) == ["small", "large"] and r["single"]["large"]["large_share"] == 1.0
    routed = r["curves"][0]["points"][0]
    assert routed["large_share"] == 0.0 and routed["tokens"] == r["single"]["small"]["tokens"] and routed["tokens_per_second"] > 0
    with pytest.raises(SystemExit, match="has 4 problems, 5"):
        m.from_file(problems, 5)


@pytest.mark.parametrize("text, expected", [
    ("the answer is \\boxed{18}.", 18), ("\\boxed{3} and then \\boxed{1,234.50}", 1234.5), ("so 7 + 5 = 12 apples", 12), ("-4", -4), ("\\boxed{x = 9}", 9),
    ("none", None), ("\\boxed{none} of 5", None),
])
def test_the_last_number_counts_and_that_in_a_box_first(text, expected):
    assert questions.number(text) == expected


def test_the_list_of_points_names_what_the_program_has():
    import tomllib

    curves = tomllib.loads((HERE / "points.toml").read_text())["curve"]
    assert {c["routing"]["algorithm"] for c in curves} == {"r-stitch", "r2r", "citer", "co-llm", "ensemble", "query", "random", "speculative"}
    assert all(("over" in c) == ("values" in c) for c in curves)
