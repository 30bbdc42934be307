"""What goes wrong is said in plain words, and nothing is lost by it."""

import json

from conftest import QUESTION
from playwright.sync_api import expect


def refuse(chat, status: int, code: str, message: str, times: int = 1, headers: dict | None = None) -> None:
    """The next requests are refused as the server would."""
    body = json.dumps({"error": {"message": message, "type": "server_error", "param": None, "code": code}})
    chat.page.route("**/v1/chat/completions", lambda route: route.fulfill(
        status=status, headers={"Content-Type": "application/json", **(headers or {})}, body=body), times=times)
    chat.expected.append(f"status of {status}")


def test_a_busy_server(chat):
    refuse(chat, 503, "queue_full", "the server is busy: the queue is full", headers={"Retry-After": "3"})
    reply = chat.ask()
    alert = reply.get_by_role("alert")
    expect(alert).to_contain_text("The server is busy: its queue is full. Try again in 3 s.")
    expect(chat.page.locator(".question .text")).to_have_text(QUESTION)
    alert.get_by_role("button", name="Try again").click()
    reply = chat.end(0)
    expect(reply.locator(".t").first).to_be_attached()
    expect(reply.get_by_role("alert")).to_have_count(0)


def test_a_refused_setting_says_what_the_server_said(chat):
    chat.page.get_by_label("Algorithm").select_option("query")
    chat.page.get_by_label("Strategy").select_option("logprob")
    exact = chat.page.get_by_label("Threshold of log-probability, exact")
    exact.fill("2")
    exact.press("Tab")
    chat.expected.append("status of 400")
    reply = chat.ask()
    expect(reply.get_by_role("alert")).to_contain_text("The server does not accept this setting.")
    expect(reply.get_by_role("alert")).to_contain_text("routing.threshold")


def test_a_question_that_is_too_long_can_be_edited(chat):
    chat.expected.append("status of 400")
    long = "Sam has 3 apples. " * 200
    reply = chat.ask(long)
    expect(reply.get_by_role("alert")).to_contain_text("The conversation is too long for this model.")
    reply.get_by_role("button", name="Edit the question").click()
    expect(chat.question).to_have_value(long)
    expect(chat.question).to_be_focused()
    expect(chat.replies).to_have_count(0)


def test_a_failure_loses_no_earlier_answer(chat):
    before = chat.ask().locator(".answer > .text:not(.thoughts)").text_content()
    refuse(chat, 500, "internal_error", "the answer could not be finished")
    chat.page.get_by_role("button", name="Answer again").click()
    alert = chat.page.get_by_role("alert")
    expect(alert).to_contain_text("Something went wrong in the server.")
    alert.get_by_role("button", name="Edit the question").click()
    expect(chat.question).to_have_value(QUESTION)
    expect(chat.replies).to_have_count(1)
    chat.ask("Go on.")
    assert [m["content"] for m in chat.requests[2]["messages"]] == [QUESTION, before, "Go on."]
    chat.replies.nth(0).get_by_role("button", name="earlier").click()
    assert chat.replies.nth(0).locator(".answer > .text:not(.thoughts)").text_content() == before


def test_a_failed_question_is_no_part_of_the_conversation(chat):
    refuse(chat, 500, "internal_error", "the answer could not be finished")
    chat.ask("first")
    chat.ask()
    assert [m["content"] for m in chat.requests[1]["messages"]] == [QUESTION]


def test_a_cut_connection_keeps_what_came(relay, visit):
    relay.cut = 6
    chat = visit(relay.url)
    reply = chat.ask()
    expect(reply.get_by_role("alert")).to_contain_text("The connection broke before the answer was complete.")
    assert reply.locator(".t").count() >= 3
    relay.cut = None
    reply.get_by_role("alert").get_by_role("button", name="Try again").click()
    expect(chat.end(0).get_by_role("group", name="This answer")).to_contain_text("2 of 2")


def test_an_error_within_a_stream(chat):
    chat.page.route("**/v1/chat/completions", lambda route: route.fulfill(
        headers={"Content-Type": "text/event-stream"},
        body='data: {"error":{"message":"the answer could not be finished: no memory","type":"server_error","param":null,"code":"internal_error"}}\n\n'))
    alert = chat.ask().get_by_role("alert")
    expect(alert).to_contain_text("Something went wrong in the server.")
    expect(alert).to_contain_text("no memory")


def test_a_server_that_is_gone(chat):
    chat.page.route("**/v1/chat/completions", lambda route: route.abort("connectionrefused"))
    chat.expected.append("net::ERR_CONNECTION_REFUSED")
    expect(chat.ask().get_by_role("alert")).to_contain_text("The server cannot be reached.")
    expect(chat.page.locator(".question .text")).to_have_text(QUESTION)


def test_an_api_key_is_asked_for_and_sent(visit, server):
    chat = visit(server.url, opened=False)
    wanted = "Bearer secret-key-of-mine"

    def guard(route):
        if route.request.headers.get("authorization") == wanted:
            route.continue_()
        else:
            route.fulfill(status=401, content_type="application/json",
                          body='{"error":{"message":"no valid API key","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}')

    chat.page.route("**/v1/**", guard)
    chat.expected.append("status of 401")
    chat.page.goto(server.url)
    expect(chat.page.get_by_text("The server wants a valid API key.")).to_be_visible()
    field = chat.page.get_by_label("API key, if the server wants one")
    expect(field).to_be_focused()
    field.fill("secret-key-of-mine")
    chat.page.get_by_role("button", name="Connect").click()
    chat.page.locator("#target option").first.wait_for(state="attached")
    expect(chat.ask().locator(".t").first).to_be_attached()


def test_models_that_are_being_loaded(visit, server):
    chat = visit(server.url, opened=False)
    loading = '{"error":{"message":"the models are being loaded; see /readyz","type":"server_error","param":null,"code":"model_loading"}}'
    chat.page.route("**/v1/routes", lambda route: route.fulfill(status=503, content_type="application/json", body=loading), times=1)
    chat.page.route("**/readyz", lambda route: route.fulfill(
        status=503, content_type="application/json", body='{"status":"loading","loading":[{"model":"demo-large","progress":0.42}]}'), times=3)
    chat.expected.append("status of 503")
    chat.page.goto(server.url)
    expect(chat.page.get_by_text("The models are being loaded: demo-large 42%")).to_be_visible()
    expect(chat.page.get_by_role("button", name="Send")).to_be_disabled()
    chat.question.fill(QUESTION)
    chat.question.press("Enter")
    expect(chat.question).to_have_value(QUESTION)
    chat.page.locator("#target option").first.wait_for(state="attached")
    expect(chat.page.get_by_text("The models are being loaded")).to_be_hidden()
