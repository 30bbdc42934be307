"""JSON, tools and several answers through the official client, on the real pair."""

import json
import urllib.request

import pytest
from serving import ROUTE, SMALL

PERSON = {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer", "minimum": 0, "maximum": 130},
                                           "city": {"enum": ["London", "Paris", "Bonn"]}},
          "required": ["name", "age", "city"], "additionalProperties": False}
WEATHER = [{"type": "function", "function": {"name": "get_weather", "description": "The weather in a city", "parameters": {
    "type": "object", "properties": {"city": {"type": "string"}, "unit": {"enum": ["celsius", "fahrenheit"]}}, "required": ["city", "unit"]}}}]


def ask(client, text, **options):
    return client.chat.completions.create(model=ROUTE, messages=[{"role": "user", "content": text}], max_tokens=120, **{"temperature": 0, **options})


@pytest.mark.parametrize("options", [{}, {"temperature": 1.5, "seed": 3}, {"extra_body": {"routing": {"threshold": 0.0}}}, {"extra_body": {"routing": {"threshold": 1.0}}}])
def test_a_schema_holds_whoever_writes(client, options):
    answer = ask(client, "Ada Lovelace was 36 and lived in London. Who is this?", **options,
                 response_format={"type": "json_schema", "json_schema": {"name": "person", "strict": True, "schema": PERSON}})
    assert answer.choices[0].finish_reason == "stop"
    person = json.loads(answer.choices[0].message.content)
    assert list(person) == ["name", "age", "city"]
    assert isinstance(person["name"], str) and 0 <= person["age"] <= 130 and person["city"] in ("London", "Paris", "Bonn")


def test_json_mode_gives_an_object(client):
    answer = ask(client, "Name two colours as JSON.", response_format={"type": "json_object"})
    assert isinstance(json.loads(answer.choices[0].message.content), dict)


@pytest.mark.parametrize("choice", ["required", {"type": "function", "function": {"name": "get_weather"}}])
def test_a_required_call_is_made_and_valid(client, choice):
    answer = ask(client, "Hello!", tools=WEATHER, tool_choice=choice, parallel_tool_calls=False)
    message = answer.choices[0].message
    assert answer.choices[0].finish_reason == "tool_calls" and message.content is None
    [call] = message.tool_calls
    assert call.type == "function" and call.id and call.function.name == "get_weather"
    arguments = json.loads(call.function.arguments)
    assert arguments["unit"] in ("celsius", "fahrenheit") and isinstance(arguments["city"], str)


def test_a_streamed_call_is_the_same_in_pieces(client):
    whole = ask(client, "Weather in Rome?", tools=WEATHER, tool_choice="required", parallel_tool_calls=False).choices[0].message.tool_calls[0]
    name, arguments, finish = "", "", None
    for chunk in ask(client, "Weather in Rome?", tools=WEATHER, tool_choice="required", parallel_tool_calls=False, stream=True):
        for choice in chunk.choices:
            for call in choice.delta.tool_calls or []:
                name += call.function.name or ""
                arguments += call.function.arguments or ""
            finish = choice.finish_reason or finish
    assert (name, arguments, finish) == (whole.function.name, whole.function.arguments, "tool_calls")


def test_an_answer_of_a_tool_is_part_of_the_prompt(client, server):
    def conversation(weather):
        return [{"role": "user", "content": "What is the weather in Bonn?"},
                {"role": "assistant", "content": None, "tool_calls": [
                    {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Bonn", "unit": "celsius"}'}}]},
                {"role": "tool", "tool_call_id": "call_1", "content": weather}]

    def answer(weather):
        return client.chat.completions.create(model=ROUTE, temperature=0, max_tokens=4, tools=WEATHER, tool_choice="none", messages=conversation(weather))

    short, long = answer("17 degrees"), answer("17 degrees and rain all day long")
    assert short.choices[0].message.tool_calls is None and short.choices[0].message.content
    assert long.usage.prompt_tokens == short.usage.prompt_tokens + 5  # " and rain all day long"
    body = json.dumps({"model": ROUTE, "messages": conversation("17 degrees")}).encode()
    request = urllib.request.Request(f"{server.url}/apply-template", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as response:
        prompt = json.load(response)["prompt"]
    assert "<tool_response>\n17 degrees\n</tool_response>" in prompt
    assert '{"name": "get_weather", "arguments": {"city": "Bonn", "unit": "celsius"}}' in prompt


def test_several_answers(client):
    answer = client.chat.completions.create(model=SMALL, messages=[{"role": "user", "content": "Invent a name."}], n=3, seed=5, max_tokens=8, temperature=1.5)
    assert [c.index for c in answer.choices] == [0, 1, 2]
    assert len({c.message.content for c in answer.choices}) > 1
    assert answer.usage.completion_tokens <= 24
