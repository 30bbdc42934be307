"""A running server on the pair that the program carries, and a browser that looks at it."""

import json
import os
import shutil
import sys
import urllib.request
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from relay import Relay  # noqa: E402
from serving import DemoServer  # noqa: E402

QUESTION = "Sam earns $6 per hour. On Monday Sam works 8 hours and on Friday 7 hours. How much does Sam earn?"
WIDE, NARROW = {"width": 1440, "height": 900}, {"width": 390, "height": 844}


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    with DemoServer(ROOT / "bin" / "tokenrouter", tmp_path_factory.mktemp("server")) as running:
        running.wait_ready()
        yield running


@pytest.fixture(scope="session")
def browser():
    names = [os.environ.get("CHROMIUM"), "chromium", "chromium-browser", "google-chrome"]
    program = next((found for name in names if name and (found := shutil.which(name))), None)
    assert program, "no Chromium: install it, or name it in CHROMIUM"
    with sync_playwright() as playwright:
        # Chromium's sandbox does not run as root.
        launched = playwright.chromium.launch(executable_path=program, chromium_sandbox=os.geteuid() != 0)
        yield launched
        launched.close()


class Chat:
    """The page, by what a user calls its parts."""

    def __init__(self, page: Page, url: str):
        self.page, self.url = page, url
        self.requests = []  # bodies of what was asked
        self.elsewhere = []  # what was asked of other servers
        self.faults = []  # of the page's programs
        self.expected = []  # parts of console errors that a test provokes
        page.on("request", self._request)
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("console", lambda message: self.faults.append(f"{message.text} ({message.location['url']})") if message.type == "error" else None)

    def _request(self, request) -> None:
        if not request.url.startswith((self.url, "data:")):
            self.elsewhere.append(request.url)
        if request.url.endswith("/v1/chat/completions"):
            self.requests.append(json.loads(request.post_data))

    def open(self) -> "Chat":
        self.page.goto(self.url)
        self.page.locator("#target option").first.wait_for(state="attached")
        return self

    @property
    def question(self):
        return self.page.get_by_role("textbox", name="Your question")

    @property
    def replies(self):
        return self.page.locator(".reply")

    def ask(self, text: str = QUESTION):
        """Asks, waits for the end, and returns the reply."""
        number = self.replies.count()
        self.question.fill(text)
        self.question.press("Enter")
        return self.end(number)

    def end(self, number: int):
        """Waits for a reply's end and returns it."""
        reply = self.replies.nth(number)
        reply.locator(".answer:not(.running)").wait_for()
        return reply

    def check(self) -> None:
        unexpected = [fault for fault in self.faults if not any(part in fault for part in self.expected)]
        assert not unexpected, f"the page reported {unexpected}"
        assert not self.elsewhere, f"the page asked other servers: {self.elsewhere}"


@pytest.fixture
def visit(browser: Browser):
    """visit(url, **options of the browser context) opens the page; at the end it must have had no fault."""
    contexts, chats = [], []

    def go(url: str, opened: bool = True, **options) -> Chat:
        context = browser.new_context(**{"viewport": WIDE, **options})
        context.set_default_timeout(15_000)
        contexts.append(context)
        chats.append(Chat(context.new_page(), url))
        return chats[-1].open() if opened else chats[-1]

    yield go
    for context in contexts:
        context.close()
    for chat in chats:
        chat.check()


@pytest.fixture
def chat(visit, server) -> Chat:
    return visit(server.url)


@pytest.fixture
def relay(server):
    """The server behind a relay that can be slow, or fail."""
    with Relay(server.url) as running:
        yield running


@pytest.fixture
def complete(server):
    """complete(body) asks the server without the page."""

    def ask(body: dict) -> dict:
        request = urllib.request.Request(f"{server.url}/v1/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    return ask
