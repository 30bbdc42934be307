"""The parts of the page that are only computation."""

import pytest


@pytest.fixture(scope="module")
def module(browser, server):
    """module(name, body): what a program with the module as m and an argument as x says."""
    with browser.new_page() as page:
        page.goto(server.url)

        def run(name: str, body: str, argument=None):
            return page.evaluate(f"async (x) => {{ const m = await import('/web/{name}'); {body} }}", argument)

        yield run


SSE = """
const encoder = new TextEncoder();
const body = new ReadableStream({ start(c) { for (const piece of x) c.enqueue(Uint8Array.from(piece)); c.close(); } });
const out = [];
for await (const data of m.events(body)) out.push(data);
return out;
"""


@pytest.mark.parametrize("size", [1, 2, 3, 1000])
@pytest.mark.parametrize(("text", "events"), [
    ("data: a\n\ndata: b\n\n", ["a", "b"]),
    ("data: a\r\n\r\ndata: b\r\n\r\n", ["a", "b"]),
    ("data: a\r\rdata: b\r\r\n", ["a", "b"]),
    (": still working\n\ndata: a\n\n", ["a"]),
    ("data: a\ndata: b\n\n", ["a\nb"]),
    ("data:a\nevent: x\nid: 1\n\n", ["a"]),
    ("data: \u00e9\U0001f600\n\n", ["\u00e9\U0001f600"]),
    ("data: a\n\ndata: cut", ["a"]),
])
def test_events_however_they_are_cut(module, text, events, size):
    raw = text.encode()
    assert module("sse.js", SSE, [list(raw[i:i + size]) for i in range(0, len(raw), size)]) == events


@pytest.mark.parametrize(("key", "asks"), [("schl\u00fcssel", True), ("key", False)])
def test_a_key_that_cannot_be_sent_is_asked_for_again(module, key, asks):
    assert module("server.js", """
      m.session.key = x;
      try { await m.get('/v1/routes'); return false; } catch (error) { return m.explain(error).key; } finally { m.session.key = ''; }""", key) is asks


ALIGN = """
const aligner = new m.Aligner();
const out = [];
let next = 0;
for (const [tokens, text] of x) {
  aligner.add(tokens, next, text, (index, part) => out.push([index, part]));
  next += tokens.length;
}
return out;
"""


@pytest.mark.parametrize(("chunks", "parts"), [
    ([(["a", "b"], "ab")], [[0, "a"], [1, "b"]]),
    ([([], "x"), (["a"], "a")], [[-1, "x"], [0, "a"]]),
    # The text comes later than its tokens, as with a stop string that it may begin.
    ([(["ab"], ""), (["cd"], "abc"), ([], "d")], [[0, "ab"], [1, "c"], [1, "d"]]),
    # A character of three tokens is the last one's.
    ([(["\\xf0\\x9f", "\\x98", "\\x80"], "\U0001f600")], [[2, "\U0001f600"]]),
    ([(["\\xf0\\x9f"], ""), (["\\x98"], ""), (["\\x80"], "\U0001f600")], [[2, "\U0001f600"]]),
    # A model may write what bytes are spelled like.
    ([(["\\x41"], "\\x41")], [[0, "\\x41"]]),
    # A stop string has cut within the second token.
    ([(["ab", "cd"], "abc")], [[0, "ab"], [1, "c"]]),
    # Bytes that are no text become a mark.
    ([(["a"], "a"), (["\\xff"], "\ufffd")], [[0, "a"], [1, "\ufffd"]]),
    # The token that ends an answer has no text.
    ([(["a"], "a"), (["<|im_end|>"], "")], [[0, "a"]]),
])
def test_text_goes_to_its_tokens(module, chunks, parts):
    assert module("tokens.js", ALIGN, chunks) == parts


@pytest.mark.parametrize(("value", "text"), [(0, "0"), (0.025, "0.025"), (0.123456, "0.123"), (7654.3, "7654"), (0.00003, "<0.0001"), (-0.69, "-0.69")])
def test_numbers(module, value, text):
    assert module("tokens.js", "return m.number(x)", value) == text


@pytest.mark.parametrize(("p", "text"), [(1, "100%"), (0.9999, "100%"), (0.998, "99.8%"), (0.5, "50%"), (0.012, "1.2%"), (0.0001, "<0.1%"), (0, "0.0%")])
def test_percentages(module, p, text):
    assert module("tokens.js", "return m.percent(x)", p) == text


@pytest.mark.parametrize(("text", "shown"), [(" a", "␣a"), ("\n", "↵"), ("", "(no text)"), ("\u0007", "U+0007"), ("\u202e", "U+202E"), ("é", "é")])
def test_white_space_and_control_characters_are_shown(module, text, shown):
    assert module("tokens.js", "return m.visible(x)", text) == shown


@pytest.mark.parametrize("algorithm", ["r-stitch", "citer", "r2r", "co-llm", "query", "random"])
def test_the_slider_reaches_every_threshold_and_comes_back(module, algorithm):
    for strategy, scale in module("algorithms.js", """
      return [...new Set(["", ...m.strategies(x, {algorithm: x, strategy: ""})])].map(name => [name, m.scale(x, name)])""", algorithm):
        low, high, usual = module("algorithms.js", "return [m.at(x, 0), m.at(x, 1), m.at(x, m.position(x, x.usual))]", scale)
        assert (low, high) == (scale["low"], scale["high"]), strategy
        assert usual == pytest.approx(scale["usual"], rel=0.01), strategy
