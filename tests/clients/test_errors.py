"""Errors as the official client reads them, and what they leave behind: nothing."""

import json
import threading
import time
import urllib.error
import urllib.request

import openai
import pytest
from serving import ROUTE, SMALL

QUESTION = [{"role": "user", "content": "Count from one to three hundred, in words, one number per line."}]


def works(client) -> None:
    answer = client.completions.create(model=ROUTE, prompt="The capital of France is", max_tokens=2, temperature=0)
    assert answer.choices[0].text.startswith(" Paris")


def post(server, body: bytes, path: str = "/v1/chat/completions") -> tuple[int, dict]:
    request = urllib.request.Request(server.url + path, body, {"Content-Type": "application/json"})
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(request, timeout=60)
    return caught.value.code, json.loads(caught.value.read())


def test_an_unknown_model_is_not_found(client):
    with pytest.raises(openai.NotFoundError) as caught:
        client.chat.completions.create(model="gpt-7", messages=QUESTION)
    assert caught.value.code == "model_not_found"
    assert "gpt-7" in caught.value.message
    works(client)


def test_a_prompt_beyond_the_context_is_refused(client):
    with pytest.raises(openai.BadRequestError) as caught:
        client.chat.completions.create(model=ROUTE, messages=[{"role": "user", "content": "word " * 3000}])
    assert caught.value.code == "context_length_exceeded"
    assert "2048" in caught.value.message
    works(client)


@pytest.mark.parametrize("options, param", [
    ({"temperature": -1}, "temperature"),
    ({"top_p": 2}, "top_p"),
    ({"max_tokens": 0}, "max_tokens"),
    ({"n": 0}, "n"),
    ({"top_logprobs": 50, "logprobs": True}, "top_logprobs"),
    ({"logit_bias": {"99999999": 1}}, "logit_bias"),
    ({"extra_body": {"temprature": 0.5}}, "temprature"),
])
def test_a_wrong_field_is_named(client, options, param):
    with pytest.raises(openai.BadRequestError) as caught:
        client.chat.completions.create(model=ROUTE, messages=QUESTION, **{"max_tokens": 4, **options})
    assert caught.value.param is not None and caught.value.param.startswith(param)
    works(client)


@pytest.mark.parametrize("body", [b"{", b"", b"[]", b'{"model": "x"', b"\xff\xfe", b'{"model": 3, "messages": []}'])
def test_a_broken_body_is_a_bad_request(server, client, body):
    status, answer = post(server, body)
    assert status == 400
    assert answer["error"]["type"] == "invalid_request_error" and answer["error"]["message"]
    works(client)


def test_an_unknown_path_is_not_found(server):
    status, answer = post(server, b"{}", "/v1/nothing")
    assert status == 404 and answer["error"]["message"]


def test_a_client_that_leaves_frees_its_request_and_harms_nobody(client):
    """Many clients leave in the middle of long answers; the ones beside them get what they would have got alone."""
    expected = client.chat.completions.create(model=ROUTE, messages=QUESTION, max_tokens=24, temperature=0).choices[0].message.content
    results: list[str] = []

    def stay():
        answer = client.chat.completions.create(model=ROUTE, messages=QUESTION, max_tokens=24, temperature=0)
        results.append(answer.choices[0].message.content)

    def leave():
        stream = client.chat.completions.create(model=ROUTE, messages=QUESTION, max_tokens=1000, temperature=0, stream=True)
        for i, _ in enumerate(stream):
            if i == 3:
                stream.close()
                break

    threads = [threading.Thread(target=f) for f in (stay, leave, leave, leave, stay, leave)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(300)
    assert results == [expected, expected]
    # Had the four gone on, they would hold the machine for 4,000 tokens, minutes of work.
    start = time.monotonic()
    works(client)
    assert time.monotonic() - start < 20


def test_a_deadline_of_the_client_cancels(client):
    # An answer that cannot end by itself: with both end tokens forbidden, 1,500 tokens are seconds of work on any processor.
    endless = {"151643": -100, "151645": -100}
    with pytest.raises(openai.APITimeoutError):
        client.with_options(timeout=0.5, max_retries=0).chat.completions.create(
            model=SMALL, messages=QUESTION, max_tokens=1500, logit_bias=endless)
    works(client)
