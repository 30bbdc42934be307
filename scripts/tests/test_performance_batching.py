"""The pages made of bench/policies, from figures of which the ratios are plain."""

import performance_batching as page


def figure(rate, **more):
    run = {"steps_of_time": 0.99}
    return {"tokens_per_second": rate, "tokens_per_second_at_equal_steps": rate, "steady_tokens_per_second": rate, "first_token_p50_ms": 10, "first_token_p95_ms": 20,
            "threshold": 3, "runs": [run, run], **more}


def case(over_eager, requests=8):
    step = {"base_ms": 40, "per_request_ms": 0, "per_row_ms": 4}
    return {"requests": requests, "share": 0.1, "same_tokens": True,
            "policies": {"lazy": figure(110.0), "eager-large-first": figure(100.0), "large": figure(90.0)},
            "prediction": {"small": step, "large": step, "policies": {"lazy": 112.0, "eager-large-first": 100.0, "eager-small-first": 90.0, "large": 91.0}},
            "lazy_over_eager": over_eager, "lazy_over_eager_at_equal_steps": over_eager, "lazy_over_best_other": 0.99, "lazy_over_best_other_at_equal_steps": 0.98,
            "lazy_over_predicted": 0.96, "lazy_over_large_alone": 1.22}


def test_verdicts():
    assert page.verdict(1.2, 1.15) == "1.20 (at least 1.15)"
    assert page.verdict(1.1, 1.15) == "**1.10** (at least 1.15)"
    assert page.verdict(1.1, 1.15, limit=1.12) == "1.10 (at least 1.15; the steps allow 1.12)"
    assert page.verdict(1.1, 1.15, limit=1.3) == "**1.10** (at least 1.15)"


def test_policies():
    data = {"setting": {}, "options": {"small": "s.gguf", "large": "l.gguf", "each": 2, "tokens": 128}, "cases": [case(1.10), case(1.10, requests=4)]}
    text = "\n".join(page.policies(data, lambda setting: "here"))
    assert "| 8 | 0.1 | 1.10 | 1.10 (at least 1.15; the steps allow 1.12) | 0.99 | 0.98 (at least 0.97) | 0.96 (at least 0.95) | 1.22 | yes |" in text
    assert "| 4 | 0.1 | 1.10 | 1.10 | 0.99 |" in text  # no target with four requests
    assert "| lazy, thresholds from the model | 110.0 | 110.0 | 110.0 | 112.0 | 10 | 20 | 3 |" in text
    assert "| the large model alone | 90.0 | 90.0 | 90.0 | 91.0 | 10 | 20 | – |" in text
    assert "99.0% of the time" in text


def test_two_servers():
    best = {"tokens_per_second": 10.0, "threads": [1, 1], "routed": 0.1, "first_token_p50_ms": 30}
    data = {"small": "s.gguf", "large": "l.gguf", "share": 0.1, "tokens": 128, "cores": 2, "date": "2026-01-01", "rounds": 3,
            "cases": [{"requests": 4, "best": best, "settings": [best, best], "engine_tokens_per_second": 65.0, "engine_over_two_servers": 6.5},
                      {"requests": 1, "best": best, "settings": [best, best], "engine_tokens_per_second": 30.0, "engine_over_two_servers": 3.0,
                       "predicted_over_two_servers": 3.2},
                      {"requests": 16, "best": best, "settings": [best, best]}]}
    text = "\n".join(page.two_servers(data))
    assert "| 4 | 10.0 | 1 and 1 | 10% | 30 | 65.0 | 6.50 (at least 6) |" in text
    assert "| 1 | 10.0 | 1 and 1 | 10% | 30 | 30.0 | 3.00 (at least 4; the steps allow 3.20) |" in text
    assert "| 16 | 10.0 | 1 and 1 | 10% | 30 | – | – |" in text


def test_speed_for_those_who_choose():
    options = {"small": "s.gguf", "large": "l.gguf", "tokens": 128}
    more = {**case(1.10), "share": 0.3, "lazy_over_large_alone": 0.8}
    del more["policies"]["large"]
    text = page.choosing({"setting": {"cores": 2}, "options": options, "cases": [case(1.10), case(1.10, requests=4), more]})
    assert text[-2:] == ["| 4 | 90.0 | 110.0 (1.22 times) | – |", "| 8 | 90.0 | 110.0 (1.22 times) | 110.0 (0.80 times) |"]
