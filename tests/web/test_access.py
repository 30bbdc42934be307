"""axe-core finds nothing serious, and the page looks right: pictures go to build/web."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from conftest import NARROW, QUESTION, ROOT, WIDE
from playwright.sync_api import expect

PICTURES = ROOT / "build" / "web"
LOOKS = [(width, scheme) for width in ("wide", "narrow") for scheme in ("light", "dark")]


def check(chat, name: str) -> None:
    chat.page.screenshot(path=PICTURES / f"{name}.png")
    # Everything is asked for, best practices included; what is only a hint to a reviewer is not counted.
    found = [f"{one['id']} ({one['impact']}): {one['help']}: {[node['target'] for node in one['nodes']]}"
             for one in Axe().run(chat.page).response["violations"] if one["impact"] in ("moderate", "serious", "critical")]
    assert not found, f"{name}: {found}"


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_axe_and_pictures(visit, server, width, scheme):
    PICTURES.mkdir(parents=True, exist_ok=True)
    chat = visit(server.url, viewport={"wide": WIDE, "narrow": NARROW}[width], color_scheme=scheme, reduced_motion="reduce")
    look = f"{width}-{scheme}"
    chat.page.wait_for_timeout(1200)  # the second look at the subservers
    check(chat, f"{look}-empty")

    reply = chat.ask()
    check(chat, f"{look}-answer")
    reply.locator(".t.m1").first.hover()
    expect(chat.page.get_by_role("tooltip")).to_be_visible()
    check(chat, f"{look}-card")
    chat.page.mouse.move(2, 2)
    expect(chat.page.get_by_role("tooltip")).to_be_hidden()

    chat.page.get_by_label("Algorithm").select_option("r2r")
    chat.page.route("**/v1/chat/completions", lambda route: route.abort("connectionrefused"))
    chat.expected.append("net::ERR_CONNECTION_REFUSED")
    chat.ask()
    check(chat, f"{look}-failure")
    chat.page.get_by_role("button", name="Clear conversation").click()
    check(chat, f"{look}-cleared")

    if width == "narrow":
        chat.page.get_by_role("button", name="Details").click()
    chat.page.get_by_text("What the numbers mean").click()
    check(chat, f"{look}-details")
    chat.page.get_by_text("Settings of answers").click()
    chat.page.get_by_label("API key").scroll_into_view_if_needed()
    check(chat, f"{look}-settings")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_switch_of_colours(visit, server, scheme):
    other = {"light": "dark", "dark": "light"}[scheme]
    ground = "getComputedStyle(document.body).backgroundColor"
    chat = visit(server.url, color_scheme=scheme)
    systems = chat.page.evaluate(ground)
    chat.page.get_by_label("Colours of the page").select_option(other.capitalize())
    chosen = chat.page.evaluate(ground)
    assert chosen != systems
    chat.open()
    assert chat.page.evaluate(ground) == chosen, "the choice outlives a reload"
    chat.page.get_by_label("Colours of the page").select_option("Auto")
    assert chat.page.evaluate(ground) == systems


def test_nothing_is_wider_than_a_small_phone(visit, server):
    chat = visit(server.url, viewport={"width": 320, "height": 640})
    chat.ask(QUESTION + " " + "x" * 300)
    assert chat.page.evaluate("document.documentElement.scrollWidth") <= 320
