"""The dial and its neighbours change the next request, and the cost of the last one stands beside them."""

import re

import pytest
from playwright.sync_api import expect

SHARE = re.compile(r"([\d.]+)% by demo-large")


def share(chat) -> float:
    return float(SHARE.search(chat.page.locator("#cost").inner_text()).group(1))


def test_without_a_choice_the_route_decides(chat):
    chat.ask()
    assert chat.requests[0]["routing"] == {"trace": True, "alternatives": 5}
    assert chat.requests[0]["model"] == "demo"
    expect(chat.page.get_by_label("Threshold of uncertainty, exact")).to_have_value("0.025")


def test_the_slider_changes_the_next_request(chat):
    chat.ask()
    before = share(chat)
    slider = chat.page.get_by_role("slider", name="Threshold of uncertainty")
    slider.focus()
    chat.page.keyboard.press("Home")
    expect(chat.page.get_by_label("Threshold of uncertainty, exact")).to_have_value("0")
    assert share(chat) == before, "what was answered has cost what it cost"
    chat.ask()
    assert chat.requests[1]["routing"]["threshold"] == 0
    assert share(chat) > 90 > before, "at 0 the large model writes from the first token that is not certain on"
    slider.focus()
    chat.page.keyboard.press("End")
    chat.ask()
    assert chat.requests[2]["routing"]["threshold"] == 1
    assert share(chat) == 0, "no uncertainty is above 1"

    cost = chat.page.locator("#cost")
    expect(cost).to_contain_text("threshold 1")
    expect(cost).to_contain_text("tokens/s")
    expect(cost).to_contain_text(re.compile(r"first token after \d+ ms"))
    table = chat.page.get_by_role("region", name="Table of answers").get_by_role("table")
    expect(table.get_by_role("rowheader")).to_have_text(
        ["demo, r-stitch, threshold 1", "demo, r-stitch, threshold 0", "demo, r-stitch, threshold 0.025"])

    chat.page.get_by_role("button", name="As configured").click()
    chat.ask()
    assert "threshold" not in chat.requests[3]["routing"]


def test_the_exact_field_and_the_slider_agree(chat):
    exact = chat.page.get_by_label("Threshold of uncertainty, exact")
    exact.fill("0.064")
    exact.press("Tab")
    expect(chat.page.get_by_role("slider", name="Threshold of uncertainty")).to_have_value("400")  # (400 / 1000) ** 3
    chat.ask()
    assert chat.requests[0]["routing"]["threshold"] == 0.064


def test_a_share_in_place_of_a_threshold(chat):
    chat.page.get_by_label("Steered by").select_option("share of tokens")
    exact = chat.page.get_by_label("Share of tokens, exact")
    exact.fill("1")
    exact.press("Tab")
    chat.ask()
    assert chat.requests[0]["routing"] == {"trace": True, "alternatives": 5, "large_share": 1}
    assert share(chat) == 100


def test_another_algorithm(chat):
    chat.page.get_by_label("Algorithm").select_option("random")
    expect(chat.page.get_by_label("Steered by")).to_be_hidden()  # it has no score that a share could go by
    exact = chat.page.get_by_label("Share by chance, exact")
    exact.fill("1")
    exact.press("Tab")
    chat.ask()
    assert chat.requests[0]["routing"] == {"trace": True, "alternatives": 5, "algorithm": "random", "threshold": 1}
    assert share(chat) == 100

    chat.page.get_by_label("Algorithm").select_option("r2r")
    expect(chat.page.get_by_label("Strategy").get_by_role("option")).to_have_text(["entropy", "random"])  # the route has no head
    chat.ask()
    assert chat.requests[1]["routing"] == {"trace": True, "alternatives": 5, "algorithm": "r2r", "strategy": "entropy"}


@pytest.mark.parametrize(("route", "dial"), [
    ("demo-citer", "Threshold of being right"), ("demo-co-llm", "Threshold of probability"), ("demo-r2r", "Threshold of probability")])
def test_a_route_with_a_router_head(chat, route, dial):
    chat.page.get_by_label("Answered by").select_option(route)
    reply = chat.ask()
    assert chat.requests[0]["model"] == route
    assert chat.requests[0]["routing"] == {"trace": True, "alternatives": 5}
    reply.locator(".t.m0").nth(3).hover()
    asked = chat.page.get_by_label(dial + ", exact").input_value()
    expect(chat.page.get_by_role("tooltip")).to_contain_text(f"(threshold {float(asked):.3g})")
    expect(chat.page.get_by_role("tooltip").locator("dt", has_text="Uncertainty")).to_be_visible()  # the score is another thing
    chat.page.get_by_role("slider", name=dial).press("Home")
    chat.ask()
    assert chat.requests[1]["routing"]["threshold"] == 0
    large = share(chat)
    chat.page.get_by_role("slider", name=dial).press("End")
    chat.ask()
    assert {large, share(chat)} == {0, 100}, "at one end each model writes all"


def test_a_model_alone(chat):
    chat.page.get_by_label("Answered by").select_option("demo-large alone")
    expect(chat.page.get_by_role("slider", name="Threshold of uncertainty")).to_be_hidden()
    reply = chat.ask()
    assert chat.requests[0]["model"] == "demo-large"
    assert chat.requests[0]["routing"] == {"trace": True, "alternatives": 5}
    expect(reply.locator(".m0")).to_have_count(0)  # one mark for a model, wherever it writes
    expect(reply.get_by_role("heading")).to_have_text("demo-large alone")
