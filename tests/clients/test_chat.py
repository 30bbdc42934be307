"""Chat completions through the official client, without special handling."""

import pytest
from serving import LARGE, ROUTE, SMALL

QUESTION = [{"role": "user", "content": "Name the four seasons of the year in order, separated by commas."}]


def ask(client, **options):
    return client.chat.completions.create(model=ROUTE, messages=QUESTION, temperature=0, max_tokens=40, **options)


def stream(client, **options):
    chunks = list(ask(client, stream=True, **options))
    text = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
    return chunks, text


def test_models_list_names_models_and_routes(client):
    names = [m.id for m in client.models.list()]
    assert set(names) == {SMALL, LARGE, ROUTE}
    assert client.models.retrieve(ROUTE).id == ROUTE


@pytest.mark.parametrize("model", [SMALL, LARGE, ROUTE])
def test_every_name_answers(client, model):
    answer = client.chat.completions.create(model=model, messages=QUESTION, temperature=0, max_tokens=40)
    assert answer.object == "chat.completion"
    assert answer.model == model
    choice = answer.choices[0]
    assert choice.message.role == "assistant"
    assert "summer" in choice.message.content.lower()
    assert choice.finish_reason == "stop"
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens
    tokens = answer.model_extra["routing"]["tokens"]
    assert sum(tokens.values()) == answer.usage.completion_tokens
    if model != ROUTE:
        assert {name for name, count in tokens.items() if count} == {model}


def test_a_stream_is_the_same_answer_in_pieces(client):
    whole = ask(client)
    chunks, text = stream(client, stream_options={"include_usage": True})
    assert text == whole.choices[0].message.content
    assert chunks[0].choices[0].delta.role == "assistant"
    assert {c.object for c in chunks} == {"chat.completion.chunk"}
    assert len({c.id for c in chunks}) == 1
    finishes = [c.choices[0].finish_reason for c in chunks if c.choices]
    assert finishes[-1] == "stop" and set(finishes[:-1]) == {None}
    # The usage comes last, on a chunk without choices, as the API says.
    assert chunks[-1].choices == [] and chunks[-1].usage.total_tokens == whole.usage.total_tokens
    assert chunks[-1].usage.prompt_tokens_details.cached_tokens == (whole.usage.prompt_tokens - 1) // 32 * 32  # pages of 32; the last token is read again
    assert chunks[-1].usage.completion_tokens_details.reasoning_tokens == 0
    assert all(c.usage is None for c in chunks[:-1])


def test_a_stream_without_usage_carries_none(client):
    chunks, _ = stream(client)
    assert all(c.usage is None for c in chunks)


def test_the_routing_object_comes_with_the_stream(client):
    chunks, text = stream(client, extra_body={"routing": {"trace": True, "alternatives": 2}})
    pieces = [c.model_extra["routing"] for c in chunks if (c.model_extra or {}).get("routing")]
    routing = pieces[-1]
    assert routing["route"] == ROUTE and routing["algorithm"] == "r-stitch"
    assert all(set(p) == {"trace"} for p in pieces[:-1])
    trace = [t for p in pieces for t in p.get("trace", [])]
    assert sum(routing["tokens"].values()) == len(trace)
    for name in (SMALL, LARGE):
        assert sum(t["model"] == name for t in trace) == routing["tokens"].get(name, 0)
    assert "".join(t["token"] for t in trace).startswith(text)
    for t in trace:
        assert t["score"] == pytest.approx(t["entropy_normalized"]) and t["threshold"] == 0.1
        assert len(t["alternatives"]) == 2 and t["alternatives"][0]["token"] == t["token"]  # greedy


@pytest.mark.parametrize("threshold, writer", [(1.0, SMALL), (0.0, LARGE)])
def test_a_request_overrides_the_threshold(client, threshold, writer):
    """Above 1 no entropy is high, so the small model writes all; at 0 every one is, so the large one does."""
    answer = ask(client, extra_body={"routing": {"threshold": threshold}})
    tokens = answer.model_extra["routing"]["tokens"]
    assert {name for name, count in tokens.items() if count} == {writer}


def test_stop_strings_end_an_answer_before_they_show(client):
    whole = ask(client).choices[0].message.content
    stop = whole[len(whole) // 2:][:4]
    want = whole[:whole.index(stop)]
    answer = ask(client, stop=[stop, "never in it"]).choices[0]
    assert (answer.message.content, answer.finish_reason) == (want, "stop")
    _, text = stream(client, stop=stop)
    assert text == want


def test_max_tokens_ends_an_answer(client):
    answer = client.chat.completions.create(model=ROUTE, messages=QUESTION, temperature=0, max_completion_tokens=3)
    assert answer.choices[0].finish_reason == "length"
    assert answer.usage.completion_tokens == 3


def test_a_seed_makes_sampling_repeatable(client):
    def sample(seed):
        return client.chat.completions.create(
            model=ROUTE, messages=[{"role": "user", "content": "Invent a name for a small island and describe it."}],
            temperature=1.2, top_p=0.95, seed=seed, max_tokens=24).choices[0].message.content
    assert sample(1) == sample(1)
    assert len({sample(seed) for seed in range(1, 5)}) > 1


def test_logprobs(client):
    answer = ask(client, logprobs=True, top_logprobs=3)
    content = answer.choices[0].logprobs.content
    assert "".join(t.token for t in content) == answer.choices[0].message.content
    for token in content:
        assert token.logprob <= 0
        assert bytes(token.bytes).decode() == token.token
        assert len(token.top_logprobs) == 3
        values = [t.logprob for t in token.top_logprobs]
        assert values == sorted(values, reverse=True)
        # Greedy without bias and penalties: the token is the likeliest one.
        assert token.token == token.top_logprobs[0].token
        assert token.logprob == pytest.approx(token.top_logprobs[0].logprob, abs=1e-5)


def test_logit_bias_forbids_a_token(client):
    # Id 11 is "," in this vocabulary; without it there is no list separated by commas.
    assert "," in ask(client).choices[0].message.content
    biased = ask(client, logit_bias={"11": -100}, logprobs=True).choices[0]
    assert "," not in [t.token for t in biased.logprobs.content]
