"""The comparison itself, on answers written by hand: what is the same is found so, and each kind of difference is found."""

import json
import math
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import api_compare as compare  # noqa: E402
from api_requests import REQUESTS  # noqa: E402


def answer(*objects, status=200, done=False):
    return compare.Answer(status, list(objects), done)


def chat(text="a b", finish="stop", logprobs=None, **message):
    return {"choices": [{"index": 0, "message": {"role": "assistant", "content": text, **message}, "finish_reason": finish, "logprobs": logprobs}],
            "usage": {"prompt_tokens": 3, "completion_tokens": 2}}


def lead(*tokens):
    """Log-probabilities in the form of chats: each token with its probability and that of the next best."""
    return {"content": [{"token": t, "logprob": math.log(p), "top_logprobs": [{"logprob": math.log(x)} for x in best]} for t, p, best in tokens]}


def test_an_object_and_a_stream_are_read():
    assert compare.parse(400, '{"error": {}}').objects == [{"error": {}}]
    stream = compare.parse(200, 'data: {"a": 1}\n\ndata: {"a": 2}\n\ndata: [DONE]\n\n')
    assert stream.objects == [{"a": 1}, {"a": 2}] and stream.done
    assert not compare.parse(200, 'data: {"a": 1}\n\n').done


def test_shapes():
    ours = answer({"a": 1, "b": [{"c": None}], "d": "x", "own": {"e": 1}})
    peer = answer({"a": 1.5, "b": [{"c": "s", "f": 1}], "d": 2, "g": {"h": {}}, "i": 1})
    found = compare.shapes(ours, peer, {"i": "why"}, {})
    assert found == {"missing": ["b[].f", "g"], "types": ["b[].c", "d"], "known": ["i"], "extra": ["own"]}
    assert compare.shapes(ours, peer, {"b": "", "g": "", "i": ""}, {"b": "", "d": ""}) == {"missing": [], "types": [], "known": ["b", "d", "g", "i"], "extra": ["own"]}
    # A field that the peer leaves null need not be here; one of the two types is enough.
    assert compare.shapes(answer({}), answer({"a": None}), {}, {})["missing"] == []
    assert compare.shapes(answer({"a": None}, {"a": "x"}), answer({"a": "x"}), {}, {})["types"] == []


def test_a_stream_is_put_together():
    def piece(**c):
        return {"choices": [{"index": 0, "finish_reason": None, **c}]}

    calls = [piece(delta={"role": "assistant", "content": ""}), piece(delta={"tool_calls": [{"index": 0, "function": {"name": "f", "arguments": ""}}]}),
             piece(delta={"tool_calls": [{"index": 0, "function": {"arguments": '{"a":'}}]}),
             piece(delta={"tool_calls": [{"index": 0, "function": {"arguments": "1}"}}]}, finish_reason="tool_calls")]
    assert compare.VALUES["calls"](answer(*calls)) == [[("f", {"a": 1})]]
    assert compare.VALUES["finish"](answer(*calls)) == ["tool_calls"]
    texts = answer(piece(text="a"), piece(text=" b", finish_reason="stop"), {"choices": [], "usage": {"prompt_tokens": 3}}, done=True)
    assert compare.VALUES["text"](texts) == ["a b"] and compare.VALUES["prompt_tokens"](texts) == 3
    assert compare.VALUES["ends"](texts) == {"done": True, "usage alone": True}


@pytest.mark.parametrize("check, ours, peer", [
    ("text", chat("a"), chat("b")), ("finish", chat(), chat(finish="length")), ("error", {"error": {"type": "a"}}, {"error": {"type": "b"}}),
    ("json", chat('{"a": 1}'), chat('{"a": "1"}')), ("tokens", {"tokens": [1]}, {"tokens": [2]}),
    ("calls", chat(tool_calls=[{"function": {"name": "f", "arguments": "{}"}}]), chat(tool_calls=[{"function": {"name": "g", "arguments": "{}"}}])),
])
def test_values_that_differ_are_found(check, ours, peer):
    assert compare.compare(check, answer(ours), answer(peer)).verdict == "differs"
    assert compare.compare(check, answer(ours), answer(ours)).verdict == "same"


def test_log_probabilities():
    ours = answer(chat(logprobs=lead(("a", 0.9, [0.9, 0.05]), ("b", 0.5, [0.5, 0.4]))))
    assert compare.compare("logprobs", ours, answer(chat(logprobs=lead(("a", 0.87, [0.87, 0.09]), ("b", 0.5, [0.5, 0.4]))))).verdict == "same"
    assert compare.compare("logprobs", ours, answer(chat(logprobs=lead(("a", 0.8, [0.8, 0.05]), ("b", 0.5, [0.5, 0.4]))))).verdict == "differs"
    # Where not even the first token is the same, nothing has been compared.
    assert compare.compare("logprobs", ours, answer(chat(logprobs=lead(("x", 0.9, [0.9, 0.05]), ("b", 0.5, [0.5, 0.4]))))).verdict == "differs"
    old = {"tokens": ["a"], "token_logprobs": [-1.0], "top_logprobs": [{"b": -2.0, "a": -1.0}]}
    assert compare.tokens(old) == [("a", -1.0, [-1.0, -2.0])]


def test_ties():
    def pair(first, second):
        return answer(chat("a", logprobs=lead(first))), answer(chat("b", logprobs=lead(second)))

    assert compare.tied(*pair(("a", 0.5, [0.5, 0.45]), ("b", 0.48, [0.48, 0.47])))
    assert not compare.tied(*pair(("a", 0.5, [0.5, 0.45]), ("b", 0.6, [0.6, 0.3])))
    # The same tokens and another text: no tie explains that.
    assert not compare.tied(*pair(("a", 0.5, [0.5, 0.45]), ("a", 0.5, [0.5, 0.45])))


def test_requests_name_checks_that_there_are():
    names = [r.name for r in REQUESTS]
    assert len(names) == len(set(names)) >= 30
    for r in REQUESTS:
        assert set(r.checks) | set(r.differs) <= set(compare.VALUES) | {"repeats"}, r.name
        assert isinstance(r.body, (bytes, dict, type(None))) and (r.body is None or isinstance(r.body, bytes) or json.dumps(r.body))
