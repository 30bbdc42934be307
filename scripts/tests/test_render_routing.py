"""The page and the plot on the quality of routing, from figures whose verdicts are plain."""

import copy
import json
import xml.etree.ElementTree as ElementTree

import pytest

SVG = "{http://www.w3.org/2000/svg}"


def point(share: float, accuracy: float, value=None) -> dict:
    return {"value": value, "large_share": share, "accuracy": accuracy, "interval": [accuracy - 0.01, accuracy + 0.01]}


def curve(name: str, points: list[dict], over: str = "threshold", **routing) -> dict:
    return {"name": name, "routing": routing, "over": over, "points": points}


@pytest.fixture
def data() -> dict:
    """Everything is met: R-Stitch gives 98 % with 10 %; random and query-level lie on the line between both models alone."""
    return {
        "problems": 1000, "single": {"demo-small": point(0.0, 0.5), "demo-large": point(1.0, 0.98)},
        "curves": [
            curve("R-Stitch", [point(0.05, 0.90, 0.1), point(0.10, 0.98, 0.02)], algorithm="r-stitch"),
            curve("R2R", [point(0.06, 0.975, 0.5), point(0.2, 0.98, 0.1)], algorithm="r2r", head="catalogue:demo-r2r"),
            curve("Ensemble", [point(0.25, 0.6, [0.75, 0.25])], over="weights", algorithm="ensemble"),
            curve("Random", [point(0.5, 0.74, 0.5)], algorithm="random"),
            curve("Query", [point(0.5, 0.74, 0.5)], over="large_share", algorithm="query"),
            {"name": "Speculative", "routing": {"algorithm": "speculative"}, "points": [point(1.0, 0.98)]},
        ],
    }


def test_accuracy_between_points_is_on_the_line(routing, data):
    stitch, single = data["curves"][0], data["single"]
    assert routing.interpolated(stitch, 0.05, single) == pytest.approx(0.90)
    assert routing.interpolated(stitch, 0.075, single) == pytest.approx(0.94)
    assert routing.interpolated(stitch, 0.025, single) == pytest.approx(0.70)  # half way from the small model alone
    assert routing.interpolated(stitch, 1.0, single) == pytest.approx(0.98)
    assert routing.interpolated({"points": []}, 0.25, single) == pytest.approx(0.62)


def verdicts(routing, data) -> list[str]:
    return [line.split(" | ")[-1].removesuffix(" |") for line in routing.targets(data)]


def test_targets_that_are_met(routing, data):
    lines = routing.targets(data)
    assert verdicts(routing, data) == ["met"] * 6
    assert "100.0 % with 10.0 %" in lines[2]
    # At 10 % the line from 50 % (no token) to 74 % (half of them) is at 54.8 %: 43.2 points below 98 %.
    assert "| 43.2 points |" in lines[3] and "| 43.2 points |" in lines[4]
    # At 6 %, R-Stitch is at 91.6 % on the line from 90 % at 5 % to 98 % at 10 %.
    assert "R2R: 97.5 % with 6.0 %, +5.9 points" in lines[5]


@pytest.mark.parametrize("which, change", [
    (0, lambda d: d["single"]["demo-large"].update(accuracy=0.979)),
    (1, lambda d: d["single"]["demo-small"].update(accuracy=0.61)),
    (1, lambda d: d["single"]["demo-small"].update(accuracy=0.29)),
    (2, lambda d: d["curves"][0]["points"][1].update(large_share=0.121)),
    (3, lambda d: d["curves"][3]["points"].append(point(0.1, 0.74))),
    (4, lambda d: d["curves"][4]["points"].append(point(0.1, 0.74))),
    (5, lambda d: d["curves"][1]["points"][0].update(accuracy=0.969)),
    (5, lambda d: d["curves"][1]["points"][0].update(large_share=0.071)),
    (5, lambda d: d["curves"][0]["points"].append(point(0.06, 0.98))),
])
def test_targets_that_are_not_met(routing, data, which, change):
    change(data)
    found = verdicts(routing, data)
    assert found[which] == "**not met**"
    assert [i for i, v in enumerate(found) if v != "met"] == [which]


def test_no_point_that_is_good_enough(routing, data):
    data["curves"][0]["points"] = [point(0.1, 0.9, 0.1)]
    assert verdicts(routing, data)[2:] == ["**not met**"]


def test_the_page_has_every_point_with_its_interval(routing, data):
    page = routing.page(data)
    for row in ("| demo-small alone | – | 0.0 % | 50.0 % | 49.0 to 51.0 % |", "| R-Stitch | threshold 0.1 | 5.0 % | 90.0 % | 89.0 to 91.0 % |",
                "| Ensemble | weights 0.75 : 0.25 | 25.0 % | 60.0 % | 59.0 to 61.0 % |", "| Query | large_share 0.5 | 50.0 % | 74.0 % | 73.0 to 75.0 % |",
                "| Speculative | – | 100.0 % | 98.0 % | 97.0 to 99.0 % |"):
        assert row in page
    assert page.endswith("\n") and not page.endswith("\n\n")


def test_the_plot_is_an_svg_with_every_point_inside(routing, data):
    svg = ElementTree.fromstring(routing.plot(data))
    width, height = map(float, svg.get("viewBox").split()[2:])
    circles = list(svg.iter(f"{SVG}circle"))
    assert len(circles) == sum(len(c["points"]) for c in data["curves"])
    for c in circles:
        assert 0 < float(c.get("cx")) < width and 0 < float(c.get("cy")) < height
    # Further right is a larger share, further up a better accuracy.
    low, high = circles[0], circles[1]
    assert float(low.get("cx")) < float(high.get("cx")) and float(low.get("cy")) > float(high.get("cy"))
    names = {t.text for t in svg.iter(f"{SVG}text")}
    assert names >= {c["name"] for c in data["curves"]}


def test_curves_have_colours_of_their_own(routing):
    drawn = json.loads((routing.ROOT / "bench/results/pareto.json").read_text())["curves"]
    assert len(set(routing.COLOURS)) == len(routing.COLOURS) >= len(drawn)


def test_check_tells_a_page_that_is_out_of_date(routing, data, tmp_path, monkeypatch, capsys):
    for d in ("bench/results", "docs"):
        (tmp_path / d).mkdir(parents=True)
    monkeypatch.setattr(routing, "ROOT", tmp_path)
    (tmp_path / "docs/choosing.md").write_text("<!-- made: thresholds -->\n<!-- end -->\n")
    results = tmp_path / "bench/results/pareto.json"
    monkeypatch.setattr("sys.argv", ["render-routing.py"])
    assert routing.main() == 1 and "make pareto measures it" in capsys.readouterr().err
    results.write_text(json.dumps(data))
    assert routing.main() == 0
    monkeypatch.setattr("sys.argv", ["render-routing.py", "--check"])
    assert routing.main() == 0
    other = copy.deepcopy(data)
    other["single"]["demo-small"]["accuracy"] = 0.55
    results.write_text(json.dumps(other))
    assert routing.main() == 1
    assert "docs/routing-quality.md is not what bench/results gives" in capsys.readouterr().err


def test_thresholds_for_those_who_choose(routing, data):
    lines = routing.choosing(data)
    assert "| 0.02 | 10.0 % | 98.0 % | 100.0 % |" in lines
    # At most 6 %: R2R at 6 % is better than R-Stitch at 5 %; the others have no such point.
    assert lines[-2:] == ["| R2R | threshold 0.5 | 6.0 % | 97.5 % | 99.5 % |", "| R-Stitch | threshold 0.1 | 5.0 % | 90.0 % | 91.8 % |"]


def test_a_part_of_a_page(tmp_path):
    from generated import part

    page = tmp_path / "page.md"
    page.write_text("a\n<!-- made: x -->\nold\n<!-- end -->\nb\n")
    assert part(page, "x", ["new"]) == "a\n<!-- made: x -->\nnew\n<!-- end -->\nb\n"
    with pytest.raises(SystemExit, match="no place for y"):
        part(page, "y", [])
