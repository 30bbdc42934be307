"""Text completions through the official client."""

import pytest
from serving import ROUTE, SMALL

PROMPT = "The capital of France is"
PROMPT_IDS = [785, 6722, 315, 9625, 374]  # of this text in the Qwen2 vocabulary


@pytest.mark.parametrize("prompt", [PROMPT, PROMPT_IDS], ids=["text", "token ids"])
def test_completes_text_and_token_ids(client, prompt):
    answer = client.completions.create(model=ROUTE, prompt=prompt, max_tokens=8, temperature=0)
    assert answer.object == "text_completion"
    assert answer.choices[0].text.startswith(" Paris")
    assert answer.usage.prompt_tokens == len(PROMPT_IDS)
    assert answer.usage.completion_tokens == 8
    assert answer.choices[0].finish_reason == "length"


def test_streams(client):
    whole = client.completions.create(model=ROUTE, prompt=PROMPT, max_tokens=12, temperature=0).choices[0].text
    chunks = list(client.completions.create(model=ROUTE, prompt=PROMPT, max_tokens=12, temperature=0, stream=True))
    assert "".join(c.choices[0].text for c in chunks if c.choices) == whole


def test_streams_no_half_character(client):
    """Chinese and emoji are several bytes and often several tokens; every piece must be whole text, and all of it come."""
    prompt = "Repeat exactly: 水車 🌊🦊 naïve\nRepeat exactly: 水車 🌊🦊 naïve\nRepeat exactly:"
    options = dict(model=SMALL, prompt=prompt, max_tokens=14, temperature=0)
    whole = client.completions.create(**options).choices[0].text
    pieces = [c.choices[0].text for c in client.completions.create(**options, stream=True) if c.choices]
    assert "".join(pieces) == whole
    assert "水車" in whole
    assert not any("\ufffd" in piece for piece in pieces)


def test_logprobs(client):
    answer = client.completions.create(model=SMALL, prompt=PROMPT_IDS, max_tokens=4, temperature=0, logprobs=2)
    logprobs = answer.choices[0].logprobs
    assert "".join(logprobs.tokens) == answer.choices[0].text
    assert len(logprobs.tokens) == len(logprobs.token_logprobs) == len(logprobs.top_logprobs) == 4
    assert logprobs.text_offset[0] in (0, len(PROMPT)) and logprobs.text_offset == sorted(logprobs.text_offset)
    # llama.cpp gives the first token of this prompt -0.0972 on the same file (tests/testdata).
    assert logprobs.tokens[0] == " Paris"
    assert logprobs.token_logprobs[0] == pytest.approx(-0.0972, abs=0.05)
