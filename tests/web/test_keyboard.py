"""Everything can be done without a pointer."""

from conftest import NARROW, QUESTION
from playwright.sync_api import expect

FOCUS = "document.activeElement.id || document.activeElement.className || document.activeElement.tagName"


def from_the_top(page) -> None:
    """Puts the keyboard where it is when a document has just been opened."""
    page.evaluate("const root = document.documentElement; root.tabIndex = -1; root.focus(); root.removeAttribute('tabindex')")


def tab_to(page, found, most: int = 60) -> list[str]:
    """Presses Tab until found() holds, and says where it went."""
    went = []
    for _ in range(most):
        if found():
            return went
        page.keyboard.press("Tab")
        went.append(page.evaluate(FOCUS))
    raise AssertionError(f"not reached by Tab: {went}")


def focused(locator) -> bool:
    return locator.evaluate("one => one === document.activeElement")


def test_from_the_beginning_to_an_answer_and_its_tokens(chat):
    page = chat.page
    from_the_top(page)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the question")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.type("Sam earns $6 per hour.")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("Sam works 5 hours. How much does Sam earn?")
    page.keyboard.press("Enter")
    reply = chat.end(0)
    assert chat.requests[0]["messages"][0]["content"] == "Sam earns $6 per hour.\nSam works 5 hours. How much does Sam earn?"
    expect(chat.question).to_be_focused()

    walk = reply.get_by_role("slider", name="Tokens of this answer")
    from_the_top(page)
    tab_to(page, lambda: focused(walk))
    expect(page.get_by_role("tooltip")).to_be_visible()
    page.keyboard.press("End")
    expect(reply.locator(".t").last).to_have_class("t m0 silent current")
    page.keyboard.press("Tab")
    expect(page.get_by_role("tooltip")).to_be_hidden()
    expect(reply.get_by_role("button", name="Copy")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # answer again
    expect(reply.get_by_role("group", name="This answer")).to_contain_text("2 of 2")
    expect(reply.get_by_role("button", name="Answer again")).to_be_focused()

    slider = page.get_by_role("slider", name="Threshold of uncertainty")
    went = tab_to(page, lambda: focused(slider))
    assert {"target", "algorithm", "by"} <= set(went)
    page.keyboard.press("Home")
    page.keyboard.press("Tab")
    expect(page.get_by_label("Threshold of uncertainty, exact")).to_be_focused()
    went = tab_to(page, lambda: focused(chat.question))
    page.keyboard.type(QUESTION)
    page.keyboard.press("Tab")
    page.keyboard.press("Space")  # on Send
    chat.end(1)
    assert chat.requests[2]["routing"]["threshold"] == 0


def test_every_stop_can_be_seen(chat):
    """Each element that takes the focus shows it."""
    page = chat.page
    chat.ask()
    page.get_by_text("Settings of answers").click()
    from_the_top(page)
    unseen = []
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement === document.body"):
            break
        if page.evaluate("(() => { const s = getComputedStyle(document.activeElement); return s.outlineStyle === 'none' || s.outlineWidth === '0px'; })()"):
            unseen.append(page.evaluate(FOCUS))
    else:
        raise AssertionError("Tab does not come to an end")
    assert unseen == []


def test_escape_stops(relay, visit):
    relay.delay = 0.1
    chat = visit(relay.url)
    chat.question.fill(QUESTION)
    chat.question.press("Enter")
    expect(chat.page.locator(".reply .t").nth(2)).to_be_attached()
    chat.page.keyboard.press("Escape")
    expect(chat.end(0).locator(".facts")).to_contain_text("Stopped.")


def test_the_details_on_a_narrow_screen(visit, server):
    chat = visit(server.url, viewport=NARROW)
    toggle = chat.page.get_by_role("button", name="Details")
    expect(toggle).to_have_attribute("aria-expanded", "false")
    expect(chat.page.get_by_role("complementary", name="Details")).to_be_hidden()
    toggle.press("Enter")
    expect(chat.page.get_by_role("complementary", name="Details")).to_be_focused()
    chat.page.keyboard.press("Tab")
    expect(chat.page.get_by_role("button", name="Pause")).to_be_focused()
    chat.page.keyboard.press("Escape")
    expect(chat.page.get_by_role("complementary", name="Details")).to_be_hidden()
    expect(toggle).to_be_focused()


def test_a_screen_reader_hears_of_the_end(chat):
    expect(chat.page.locator("#announce")).to_have_text("")
    chat.ask()
    expect(chat.page.locator("#announce")).to_contain_text("The answer is complete: ")
    assert chat.page.locator("[aria-live]").count() == 1, "one place speaks"
