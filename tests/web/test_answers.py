"""Answers stream, and every token says who wrote it, how sure it was, and what else there was."""

import json
import re

from conftest import QUESTION
from playwright.sync_api import expect


def test_an_answer_streams(relay, visit):
    relay.delay = 0.1
    chat = visit(relay.url)
    chat.question.fill(QUESTION)
    chat.question.press("Enter")
    tokens = chat.page.locator(".reply .t")
    expect(tokens.nth(2)).to_be_attached()
    expect(chat.page.get_by_role("button", name="Stop")).to_be_visible()
    expect(chat.page.get_by_role("button", name="Send")).to_be_hidden()
    some = tokens.count()
    expect(tokens.nth(some + 3)).to_be_attached()  # more come while the answer goes on
    expect(chat.page.get_by_role("button", name="Stop")).to_be_visible()
    assert re.fullmatch(r"t m[01]", tokens.first.get_attribute("class")), "a token has its model's mark as soon as it is there"
    chat.end(0)
    expect(chat.page.get_by_role("button", name="Send")).to_be_visible()


def test_tokens_carry_their_models(chat, complete):
    reply = chat.ask()
    body = {**chat.requests[0], "stream": False}
    routing = complete(body)["routing"]
    trace = routing["trace"]
    assert {token["model"] for token in trace} == {"demo-small", "demo-large"}, "the question must need both models"

    spans = reply.locator(".t")
    expect(spans).to_have_count(len(trace))
    marks = {"demo-small": "m0", "demo-large": "m1"}
    assert [span.split()[1] for span in spans.evaluate_all("all => all.map(one => one.className)")] == [marks[token["model"]] for token in trace]
    texts = spans.evaluate_all("all => all.map(one => one.textContent)")
    assert texts[:-1] == [token["token"] for token in trace[:-1]]
    assert texts[-1] == "", "the token that ends the answer has no text"
    for name, count in routing["tokens"].items():
        expect(reply.locator(".facts")).to_contain_text(f"{name} {count} (")
    expect(reply.locator(".facts")).to_contain_text(f"{routing['handoffs']} handoffs, {routing['discarded']} discarded")


def test_models_differ_by_more_than_colour(chat):
    chat.ask()
    style = "one => getComputedStyle(one).textDecorationStyle"
    assert chat.page.locator(".reply .m0").first.evaluate(style) == "dotted"
    assert chat.page.locator(".reply .m1").first.evaluate(style) == "solid"
    legend = chat.page.get_by_role("list", name="Models and their marks")
    expect(legend.get_by_role("listitem")).to_have_count(2)


def test_hover_shows_score_and_alternatives(chat, complete):
    reply = chat.ask()
    trace = complete({**chat.requests[0], "stream": False})["routing"]["trace"]
    index = next(i for i, token in enumerate(trace) if token["model"] == "demo-large" and token.get("discarded"))
    token = trace[index]

    card = chat.page.get_by_role("tooltip")
    expect(card).to_be_hidden()
    reply.locator(".t").nth(index).hover()
    expect(card).to_be_visible()
    expect(card).to_contain_text("by ab demo-large")
    expect(card.locator("dt", has_text="Score")).to_be_visible()
    expect(card.locator("dd").nth(1)).to_contain_text("threshold 0.025")
    assert abs(token["threshold"] - 0.025) < 1e-9
    expect(card.get_by_role("row")).to_have_count(5)
    assert len(token["alternatives"]) == 5
    expect(card).to_contain_text("In place of")
    expect(card).to_contain_text("by ab demo-small")

    chat.page.mouse.move(5, 5)
    expect(card).to_be_hidden()


def test_walking_along_the_tokens(chat):
    reply = chat.ask()
    walk = reply.get_by_role("slider", name="Tokens of this answer")
    walk.focus()
    expect(chat.page.get_by_role("tooltip")).to_be_visible()
    chat.page.keyboard.press("ArrowRight")
    chat.page.keyboard.press("ArrowRight")
    expect(reply.locator(".t.current")).to_have_attribute("data-i", "2")
    words = walk.get_attribute("aria-valuetext")
    assert re.match(r"3 of \d+: .*; by demo-(small|large); Probability .*; Score .* \(threshold 0.025\); .*also likely: ", words), words
    chat.page.keyboard.press("Escape")
    expect(chat.page.get_by_role("tooltip")).to_be_hidden()


def test_clicking_a_token_goes_there(chat):
    reply = chat.ask()
    reply.locator(".t").nth(4).click()
    expect(reply.get_by_role("slider", name="Tokens of this answer")).to_have_value("4")
    expect(reply.get_by_role("slider", name="Tokens of this answer")).to_be_focused()


def test_thoughts_stand_apart(chat):
    """A model that thinks first: its thoughts are shown as such, and are no part of what is copied or sent along."""
    def event(content: dict, *tokens: str) -> dict:
        trace = [{"token": one, "id": 1, "model": "demo-small", "logprob": -0.1, "entropy": 0.1, "entropy_normalized": 0.01} for one in tokens]
        return {"choices": [{"index": 0, "delta": content, "finish_reason": None}], "routing": {"trace": trace}}

    events = [event({}, "<think>"), event({"reasoning_content": "Let me"}, "Let", " me"), event({"reasoning_content": " see."}, " see."),
              event({"content": "It is"}, "</think>", "It", " is"), event({"content": " 4."}, " 4.")]
    events.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}],
                   "routing": {"route": "demo", "algorithm": "r-stitch", "tokens": {"demo-small": 8, "demo-large": 0}, "discarded": 0, "handoffs": 0}})
    body = "".join(f"data: {json.dumps(one)}\n\n" for one in events) + "data: [DONE]\n\n"
    chat.page.route("**/v1/chat/completions", lambda route: route.fulfill(headers={"Content-Type": "text/event-stream"}, body=body))
    reply = chat.ask()
    expect(reply.get_by_role("group", name="Thoughts")).to_have_text("Let me see.")
    expect(reply.locator(".answer > .text:not(.thoughts)")).to_have_text("It is 4.")
    chat.ask("And then?")
    assert chat.requests[1]["messages"][1] == {"role": "assistant", "content": "It is 4."}


def test_stop_ends_the_answer_here_and_there(relay, visit):
    relay.delay = 0.1
    chat = visit(relay.url)
    chat.question.fill(QUESTION)
    chat.question.press("Enter")
    expect(chat.page.locator(".reply .t").nth(3)).to_be_attached()
    chat.page.get_by_role("button", name="Stop").click()
    reply = chat.end(0)
    expect(reply.locator(".facts")).to_contain_text("Stopped.")
    assert relay.left.wait(10), "the connection stays open"
    written = reply.locator(".t").count()
    assert 4 <= written < 30, "what was there stays, and no more comes"
    expect(chat.question).to_be_focused()
