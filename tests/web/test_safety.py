"""What users and models write is text, whatever it looks like; the page loads and keeps nothing that it should not."""

import json
import urllib.request

from playwright.sync_api import expect

EVIL = '<img src=x onerror="window.hit=1"><script>window.hit=1</script><a href="javascript:window.hit=1">x</a>&lt;b&gt;\u202e${window.hit=1}'


def test_a_question_is_text(chat):
    chat.ask(EVIL)
    expect(chat.page.locator(".question .text")).to_have_text(EVIL)
    assert chat.page.evaluate("window.hit") is None
    assert chat.page.locator("#turns :is(img, script, a)").count() == 0


def test_what_a_model_writes_is_text(chat):
    pieces = [EVIL[i:i + 7] for i in range(0, len(EVIL), 7)]
    other = {"token": EVIL, "id": 2, "model": EVIL, "logprob": -1, "entropy": 1, "entropy_normalized": 0.1}
    events = []
    for piece in pieces:
        token = {"token": piece, "id": 1, "model": EVIL, "logprob": -0.1, "entropy": 0.1, "entropy_normalized": 0.01,
                 "score": 0.01, "threshold": 0.02, "alternatives": [{"token": EVIL, "id": 2, "logprob": -1}], "discarded": [other]}
        events.append({"choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": None}], "routing": {"trace": [token]}})
    account = {"route": EVIL, "algorithm": EVIL, "tokens": {EVIL: len(pieces)}, "discarded": 0, "handoffs": 0}
    events.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "routing": account})
    body = "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"
    chat.page.route("**/v1/chat/completions", lambda route: route.fulfill(headers={"Content-Type": "text/event-stream"}, body=body))
    reply = chat.ask()
    expect(reply.locator(".answer > .text:not(.thoughts)")).to_have_text(EVIL)
    reply.locator(".t").nth(1).hover()
    expect(chat.page.get_by_role("tooltip")).to_contain_text("<script>window.hit=1</script>")
    assert chat.page.evaluate("window.hit") is None
    assert chat.page.locator("#turns :is(img, script, a), #card :is(img, script, a)").count() == 0


def test_an_error_of_the_server_is_text(chat):
    chat.page.route("**/v1/chat/completions", lambda route: route.fulfill(
        status=400, content_type="application/json", body=json.dumps({"error": {"message": EVIL, "type": "x", "param": None, "code": "x"}})))
    chat.expected.append("status of 400")
    expect(chat.ask().get_by_role("alert")).to_contain_text(EVIL)
    assert chat.page.evaluate("window.hit") is None


def test_even_a_mistake_could_not_make_markup(chat):
    """The policy refuses markup made of text, and programs within the page."""
    chat.expected += ["TrustedHTML", "TrustedScript"]
    assert chat.page.evaluate("""() => {
      try { document.body.innerHTML = '<p>made</p>'; return 'made'; } catch (error) { return error.name; }
    }""") == "TypeError"
    assert chat.page.evaluate("""() => {
      try { document.createElement('img').setAttribute('onerror', 'window.hit = 1'); return 'made'; } catch (error) { return error.name; }
    }""") == "TypeError"


def test_the_policy_is_strict(server):
    with urllib.request.urlopen(server.url) as answer:
        policy = answer.headers["Content-Security-Policy"]
        text = answer.read().decode()
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy and "http" not in policy and "*" not in policy
    assert "://" not in text, "the page names no other server"


def test_a_reload_keeps_nothing_secret(chat):
    chat.page.get_by_text("Settings of answers").click()
    form = chat.page.get_by_role("form", name="Settings of answers")
    form.get_by_label("System prompt").fill("private-system-prompt")
    form.get_by_label("API key, if the server wants one").fill("private-key")
    chat.page.get_by_label("Colours of the page").select_option("Dark")
    chat.ask("private-question")
    chat.open()
    kept = chat.page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie, location.href])")
    assert "private" not in kept
    assert json.loads(kept)[0] == {"theme": "dark"}
    assert chat.page.evaluate("indexedDB.databases().then(all => all.length)") == 0
    assert "private" not in chat.page.locator("body").inner_text()
    expect(chat.page.get_by_label("Your question")).to_have_value("")
    chat.page.get_by_text("Settings of answers").click()
    expect(form.get_by_label("System prompt")).to_have_value("")
    expect(form.get_by_label("API key, if the server wants one")).to_have_value("")
    expect(chat.page.get_by_label("Colours of the page")).to_have_value("dark")
