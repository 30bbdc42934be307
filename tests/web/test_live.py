"""The view of the subservers follows what the server does."""

import json
import threading
import urllib.request

import pytest
from conftest import QUESTION
from playwright.sync_api import expect


@pytest.fixture
def load(server):
    """Eight clients that ask all the time."""
    over = threading.Event()
    body = json.dumps({"model": "demo", "messages": [{"role": "user", "content": QUESTION}], "ignore_eos": True, "max_tokens": 300}).encode()

    def client():
        while not over.is_set():
            request = urllib.request.Request(f"{server.url}/v1/chat/completions", body, {"Content-Type": "application/json"})
            urllib.request.urlopen(request, timeout=60).read()

    clients = [threading.Thread(target=client) for _ in range(8)]
    for one in clients:
        one.start()
    yield
    over.set()
    for one in clients:
        one.join()


def value(model, name: str):
    return model.locator("div", has=model.page.get_by_text(name, exact=True)).locator("dd")


def test_the_view_follows_the_load(chat, load):
    small = chat.page.get_by_role("region", name="demo-small")
    large = chat.page.get_by_role("region", name="demo-large")
    for model in (small, large):
        expect(value(model, "Tokens/s")).not_to_have_text("–")
        expect(value(model, "Tokens/s")).not_to_have_text("0")
        for name in ("Running", "Waiting", "Pending", "Batch", "B", "B*", "Steps/s"):
            assert float(value(model, name).inner_text()) >= 0, name
        expect(model.get_by_role("img", name="KV cache")).to_be_visible()
    chat.page.wait_for_function("/[1-9]\\d* being answered/.test(document.getElementById('live-line').textContent)")
    chat.page.wait_for_function("""/: [1-9]\\d* of/.test(document.querySelector('#live .kv').getAttribute('aria-label'))""")
    chat.page.wait_for_function("""[...document.querySelectorAll('#live .model')].some(model => /now [2-9]/.test(model.querySelector('.chart').getAttribute('aria-label')))""")


def test_what_the_server_serves_may_change(chat):
    """A route that comes later is offered without a reload, and what was chosen stays."""
    chat.page.get_by_label("Threshold of uncertainty, exact").fill("0.3")
    chat.page.get_by_label("Threshold of uncertainty, exact").press("Tab")

    def more(route):
        state = route.fetch().json()
        state["data"].insert(1, {**state["data"][0], "id": "another"})
        route.fulfill(json=state)

    chat.page.route("**/v1/routes", more)
    expect(chat.page.get_by_label("Answered by").get_by_role("option", name="another")).to_be_attached()
    expect(chat.page.get_by_label("Answered by")).to_have_value("demo")
    expect(chat.page.get_by_label("Threshold of uncertainty, exact")).to_have_value("0.3")


def test_the_view_can_be_paused(chat):
    asked = []
    chat.page.on("request", lambda request: asked.append(request.url) if request.url.endswith("/v1/routes") else None)
    chat.page.wait_for_timeout(2500)
    assert len(asked) >= 2, "it looks once a second"
    pause = chat.page.get_by_role("button", name="Pause")
    pause.click()
    expect(pause).to_have_attribute("aria-pressed", "true")
    chat.page.wait_for_timeout(200)
    asked.clear()
    chat.page.wait_for_timeout(2500)
    assert asked == []
    pause.click()
    chat.page.wait_for_timeout(500)
    assert asked


def test_nothing_is_asked_for_a_view_that_is_closed(chat):
    chat.page.get_by_role("button", name="Details").click()
    expect(chat.page.get_by_role("region", name="demo-small")).to_be_hidden()
    asked = []
    chat.page.on("request", lambda request: asked.append(request.url))
    chat.page.wait_for_timeout(2500)
    assert asked == []


def test_a_state_that_cannot_be_read_is_said_to_be(chat):
    chat.page.route("**/v1/routes", lambda route: route.abort("connectionrefused"))
    chat.expected.append("net::ERR_CONNECTION_REFUSED")
    expect(chat.page.get_by_text("The state of the server cannot be read now.")).to_be_visible()
    chat.page.unroute("**/v1/routes")
    expect(chat.page.get_by_text("0 in the queue, 0 being answered")).to_be_visible()
