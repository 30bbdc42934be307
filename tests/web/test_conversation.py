"""Conversations of several turns; again, copy, clear, settings."""

import re

from conftest import QUESTION
from playwright.sync_api import expect

SECOND = "Mia has 12 apples. She gives 5 to Tom and buys 9 more. How many apples does Mia have?"


def text_of(reply) -> str:
    return reply.locator(".answer > .text:not(.thoughts)").text_content()


def test_the_conversation_is_sent_along(chat):
    first = text_of(chat.ask())
    chat.ask(SECOND)
    assert [(m["role"], m["content"]) for m in chat.requests[1]["messages"]] == [("user", QUESTION), ("assistant", first), ("user", SECOND)]


def test_answering_again_keeps_the_first_answer(chat):
    before = text_of(chat.ask())
    chat.page.get_by_role("slider", name="Threshold of uncertainty").press("Home")
    chat.page.get_by_role("button", name="Answer again").click()
    reply = chat.end(0)
    expect(reply.get_by_role("group", name="This answer")).to_contain_text("2 of 2")
    assert chat.requests[1]["messages"] == chat.requests[0]["messages"]
    assert chat.requests[1]["routing"]["threshold"] == 0
    reply.get_by_role("button", name="earlier").click()
    expect(reply.get_by_role("group", name="This answer")).to_contain_text("1 of 2")
    assert text_of(reply) == before
    expect(reply.get_by_role("button", name="earlier")).to_be_focused()


def test_an_earlier_question_can_be_answered_again(chat):
    chat.ask()
    chat.ask(SECOND)
    first = chat.replies.nth(0)
    first.get_by_role("button", name="Answer again").click()
    expect(first.get_by_role("group", name="This answer")).to_contain_text("2 of 2")
    assert len(chat.requests[2]["messages"]) == 1, "what came later is not part of it"
    expect(chat.replies).to_have_count(2)


def test_copy(visit, server):
    chat = visit(server.url, permissions=["clipboard-read", "clipboard-write"])
    reply = chat.ask()
    reply.get_by_role("button", name="Copy").click()
    expect(reply.get_by_role("button", name="Copied")).to_be_visible()
    assert chat.page.evaluate("navigator.clipboard.readText()") == text_of(reply)


def test_clearing_can_be_undone(chat):
    chat.ask()
    chat.page.get_by_role("button", name="Clear conversation").click()
    expect(chat.replies).to_have_count(0)
    expect(chat.page.get_by_text("Several models write one answer together.")).to_be_visible()
    chat.page.get_by_role("button", name="Undo").click()
    expect(chat.replies).to_have_count(1)
    chat.ask(SECOND)
    assert len(chat.requests[1]["messages"]) == 3


def test_examples_are_asked_at_once(chat):
    chat.page.get_by_role("group", name="Examples").get_by_role("button").first.click()
    chat.end(0)
    assert chat.requests[0]["messages"][0]["content"] == QUESTION


def test_settings_are_sent(chat):
    chat.page.get_by_text("Settings of answers").click()
    form = chat.page.get_by_role("form", name="Settings of answers")
    form.get_by_label("System prompt").fill("Be brief.")
    form.get_by_label("Temperature").fill("0.5")
    form.get_by_label("Seed").fill("7")
    form.get_by_label("Most tokens").fill("12")
    form.get_by_label("Stop at").fill("dollars\nnever")
    reply = chat.ask()
    body = chat.requests[0]
    assert body["messages"][0] == {"role": "system", "content": "Be brief."}
    assert (body["temperature"], body["seed"], body["max_completion_tokens"], body["stop"]) == (0.5, 7, 12, ["dollars", "never"])
    assert "top_p" not in body, "what was not set is the server's choice"
    expect(reply.locator(".facts")).to_contain_text("The answer was cut")


def test_a_setting_that_cannot_be_is_shown(chat):
    chat.page.get_by_text("Settings of answers").click()
    temperature = chat.page.get_by_role("form", name="Settings of answers").get_by_label("Temperature")
    temperature.fill("3")
    chat.question.fill(QUESTION)
    chat.question.press("Enter")
    expect(temperature).to_be_focused()
    expect(chat.question).to_have_value(QUESTION)
    assert chat.requests == []


def test_a_stop_string_cuts_within_the_answer(chat):
    whole = text_of(chat.ask())
    assert "hours" in whole
    chat.page.get_by_role("button", name="Clear conversation").click()
    chat.page.get_by_text("Settings of answers").click()
    chat.page.get_by_role("form", name="Settings of answers").get_by_label("Stop at").fill("ours")
    reply = chat.ask()
    assert text_of(reply) == re.split("ours", whole)[0]
