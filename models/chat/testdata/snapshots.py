#!/usr/bin/env python3
"""Writes snapshots.json: what Jinja2 makes of templates, under the settings that Transformers renders chat templates with.

    python -m venv .venv && .venv/bin/pip install jinja2==3.1.6 && .venv/bin/python snapshots.py

The *.jinja files are the chat templates inside the GGUF files of the same names. Those in families/ are written for these
tests: they have the turns of their families and what their templates use of Jinja.
"""

import datetime
import json
import pathlib

import jinja2
import jinja2.ext
import jinja2.sandbox

HERE = pathlib.Path(__file__).parent


def raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)


def strftime_now(format):
    return datetime.datetime(2024, 7, 6, 15, 4, 5, 678900).strftime(format)


def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def environment():
    env = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[jinja2.ext.loopcontrols])
    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = strftime_now
    return env


WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather of a \"city\" <now> & here: é 日本",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer", "minimum": 1, "default": 1.0}},
            "required": ["city"],
            "zeta": None, "alpha": [True, 0.5, 1e-7, 1e16, []], "empty": {},
        },
    },
}
SYSTEM = {"role": "system", "content": "Be brief."}
HI = {"role": "user", "content": "hi"}
CALL = {"role": "assistant", "content": None, "tool_calls": [
    {"id": "call00001", "type": "function", "function": {"name": "get_weather", "arguments": {"city": "Köln", "days": 2}}}]}
SAID_AND_CALLED = {**CALL, "content": "Let me see."}
RESULT = {"role": "tool", "tool_call_id": "call00001", "content": "{\"sky\": \"grey\"}"}

THOUGHT = {"role": "assistant", "content": "no", "reasoning_content": "let me think"}

CONVERSATIONS = {
    "user": {"messages": [HI]},
    "system": {"messages": [SYSTEM, HI]},
    "turns": {"messages": [HI, {"role": "assistant", "content": "Hello!\n"}, {"role": "user", "content": "  bye\n\n"}]},
    "no generation prompt": {"messages": [HI, {"role": "assistant", "content": "yes"}], "add_generation_prompt": False},
    "late system": {"messages": [HI, SYSTEM, HI]},
    "tools": {"messages": [HI], "tools": [WEATHER]},
    "tools and system": {"messages": [SYSTEM, HI], "tools": [WEATHER, {"type": "function", "function": {"name": "x"}}]},
    "tool use": {"messages": [HI, CALL, RESULT], "tools": [WEATHER]},
    "result answered": {"messages": [HI, CALL, RESULT, {"role": "assistant", "content": "Grey."}, HI], "tools": [WEATHER]},
    "thoughts": {"messages": [HI, THOUGHT, HI, {"role": "assistant", "content": "<think>\nhm\n</think>\n\nyes"}]},
    "thought and called": {"messages": [HI, {**CALL, "reasoning_content": "\nthe weather\n"}, RESULT], "tools": [WEATHER]},
    "no thinking": {"messages": [HI], "vars": {"enable_thinking": False}},
    "thinking": {"messages": [SYSTEM, HI], "vars": {"enable_thinking": True}},
    "options": {"messages": [HI], "tools": [WEATHER], "vars": {"functions_in_question": False, "today": "never"}},
    "two results": {"messages": [HI, SAID_AND_CALLED, RESULT, RESULT, HI], "tools": [WEATHER]},
}

# What engines are known to get wrong, one line each.
SNIPPETS = {
    "trim_blocks": "{% if true %}\nx\n{% endif %}\ny\n",
    "lstrip_blocks": "a\n   {% if true %}b{% endif %}\n   {{ 'c' }}\n\t{# gone #}\nd",
    "spaces inside a line stay": "{{ 'a' }} {% if true %} b {% endif %} c",
    "newline behind an expression stays": "{% if true %}{{ 'b' }}\nX{% endif %}",
    "minus before an expression": "{% if true -%}{{ 'b' }}\n\nX{%- endif %}",
    "minus on both sides": "a \n {{- 'b' -}} \n c \n {%- if true -%} \n d {%- endif -%} \n e",
    "plus": "a\n  {%+ if true +%}\nb{% endif %}",
    "comment": "a {#- {{ x }} ' -#} b",
    "raw": "a\n {% raw %} {{ x }} {% if %} {% endraw %}\nb",
    "raw with minus": "a {%- raw -%} {{ x }} {%- endraw -%} b",
    "last newline goes": "a\n\n",
    "windows lines": "a\r\n{% if true %}\r\nb\r{% endif %}c",
    "braces in an expression": "{{ {'a': {'b': 1}} | tojson }}{{ {'c': {}} | tojson }}",
    "closers in strings": "{{ '}}' ~ \"%}\" ~ '{{' }}",
    "escapes": r"""{{ 'a\tb\n\'\"\\ \x41\u00e9\U0001f642\101 \d' }}{{ "\"'" }}""",
    "multi-line tag": "{%- set x = [\n  1,\n  2\n] -%}\n{{ x | tojson }}",
    "tojson": "{{ {'b': 1, 'a': [1.0, 2.5, 1.0e22, true, none, 'é\"\\\\\\n<&>\\u2028\\x7f\\x01']} | tojson }}",
    "tojson indent": "{{ {'b': {}, 'a': [1, {'c': []}]} | tojson(indent=4) }}",
    "tojson options": "{{ {'b': 'é🙂', 'a': 1} | tojson(ensure_ascii=true, sort_keys=true, separators=(',', ':')) }}",
    "for else": "{% for x in [] %}a{% else %}b{% endfor %}",
    "loop": "{% for x in [1, 2, 3] %}{{ loop.index }}/{{ loop.length }}{{ ',' if not loop.last }}{% endfor %}",
    "break and continue": "{% for x in range(9) %}{% if x == 1 %}{% continue %}{% endif %}{% if x == 4 %}{% break %}{% endif %}{{ x }}{% endfor %}",
    "namespace": "{% set ns = namespace(n=0) %}{% for x in range(4) %}{% set ns.n = ns.n + x %}{% endfor %}{{ ns.n }}",
    "macro": "{% macro m(a, b='y') -%}\n  [{{ a }}{{ b }}]\n{%- endmacro %}\n{{ m('x') }}{{ m('x', b='z') }}",
    "recursion": "{% macro f(n) %}{% if n > 0 %}{{ n }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(5) }}",
    "range": "{{ range(3) | list | tojson }}{{ range(1, 3) | list | tojson }}{{ range(5, 1, -2) | list | tojson }}",
    "strings": "{{ ' a '.strip() }}{{ 'abc'[1:] }}{{ 'a-b'.split('-')[-1] }}{{ 'ABC' | lower }}{{ 'x' in 'xyz' }}",
    "undefined": "{{ missing }}{{ missing is defined }}{{ messages[7] is defined }}",
    "strftime_now": "{{ strftime_now('%d %b %Y') }}|{{ strftime_now('%Y-%m-%d %H:%M:%S.%f') }}|{{ strftime_now('%A %B %a %b %-d %e %I %p %j %y %Z%z%% %w') }}",
    "string methods": "{{ ' a b '.strip() }}{{ 'xxa'.lstrip('x') }}{{ 'axx'.rstrip('x') }}{{ 'a,b,c'.split(',', 1) | join('|') }}{{ 'Ab'.upper() }}{{ 'Ab'.lower() }}{{ 'ab cd'.title() }}{{ 'aXa'.replace('a', 'b') }}{{ 'abc'.startswith('ab') }}{{ 'abc'.endswith('bc') }}{{ 'ab cd'.capitalize() }}{{ 'abc'.find('c') }}{{ 'abca'.count('a') }}",
    "split on white space": "{{ ' a  b\\n c '.split() | join('|') }}{{ 'a\\nb'.splitlines() | join('|') }}{{ '-'.join(['a', 'b']) }}",
    "split from the right": "{{ 'a.b.c'.rsplit('.', 1) | join('|') }}",
    "startswith a tuple": "{{ 'abc'.startswith(('x', 'ab')) }}{{ 'abc'.endswith(('x', 'y')) }}",
    "slices": "{{ messages[1:] | length }}{{ [1, 2, 3, 4][::-1] | tojson }}{{ [1, 2, 3, 4][1:3] | tojson }}{{ [1, 2, 3][:-1] | tojson }}{{ 'abcd'[::2] }}{{ 'héllo'[1:3] }}{{ [1, 2, 3][-2:] | tojson }}",
    "tests": "{{ 1 is defined }}{{ none is none }}{{ {} is mapping }}{{ [] is mapping }}{{ [] is sequence }}{{ 'a' is string }}{{ 1 is number }}{{ [] is iterable }}{{ true is boolean }}{{ 3 is odd }}{{ 4 is even }}{{ 1 is integer }}{{ 1.5 is float }}{{ true is true }}{{ false is false }}{{ x is undefined }}{{ 'a' is in 'abc' }}{{ 1 is eq(1) }}{{ 'a' is not string }}",
    "filters": "{{ [3, 1, 2] | sort | tojson }}{{ ['a', 'b'] | first }}{{ ['a', 'b'] | last }}{{ 'a b' | upper }}{{ 'a' | default('x') }}{{ y | default('x') }}{{ '' | default('x', true) }}{{ [1, 2] | sum }}{{ [1, 1, 2] | unique | list | tojson }}{{ 'abc' | length }}{{ [1, 2] | reverse | list | tojson }}{{ ' a ' | trim }}{{ 3.7 | int }}{{ '5' | int + 1 }}{{ 'a,b' | replace(',', ';') }}{{ 'ab' | list | tojson }}{{ 'x' | string }}{{ -3 | abs }}{{ [1, 2, 3] | max }}{{ [1, 2, 3] | min }}",
    "select and map": "{{ [{'a': 1, 'b': 'x'}, {'a': 2}] | map(attribute='a') | list | tojson }}{{ [{'a': 1}, {'b': 2}] | selectattr('a', 'defined') | list | length }}{{ [{'a': 1}, {'a': 2}] | rejectattr('a', 'equalto', 1) | list | tojson }}{{ ['a', 'B'] | map('lower') | join }}{{ [1, 2, 3] | select('odd') | list | tojson }}{{ [1, 2, 3] | reject('odd') | list | tojson }}",
    "dicts": "{{ {'a': 1}.get('b', 2) }}{{ {'a': 1}['a'] }}{% for k, v in {'x': 1, 'y': 2}.items() %}{{ k }}{{ v }}{% endfor %}{{ {'b': 1, 'a': 2} | dictsort | tojson }}{{ {'a': 1}.keys() | list | tojson }}{{ {'a': 1}.values() | list | tojson }}{{ 'a' in {'a': 1} }}{% for k, v in {'x': 1} | items %}{{ k }}{{ v }}{% endfor %}{{ dict(a=1) | tojson }}",
    "if expressions": "{{ 'a' if false }}|{{ 'a' if true else 'b' }}|{{ ('x' if not messages[0].name else 'y') }}",
    "loops": "{% for x in [1, 2, 3] if x != 2 %}{{ loop.index0 }}{{ loop.first }}{{ loop.revindex }}{{ loop.previtem is defined }}{{ loop.nextitem }}{{ loop.cycle('a', 'b') }};{% endfor %}",
    "nested loops": "{% for a in [1, 2] %}{% set outer = loop %}{% for b in [1, 2] %}{{ outer.index }}{{ loop.index }} {% endfor %}{% endfor %}",
    "scopes": "{% set x = 1 %}{% for a in [1] %}{% set x = 2 %}{% endfor %}{{ x }}{% if true %}{% set x = 3 %}{% endif %}{{ x }}",
    "tuples": "{% set a, b = 1, 2 %}{{ a }}{{ b }}{{ (1, 2)[1] }}{{ 1 in (1, 2) }}{% for a, b in [(1, 2), (3, 4)] %}{{ a + b }}{% endfor %}",
    "numbers": "{{ 7 // 2 }} {{ 7 % 3 }} {{ 7 / 2 }} {{ 1 + 2 * 3 }} {{ 1.0 }} {{ 10 | float }}",
    "comparisons": "{{ 1 < 2 < 3 }}{{ 'a' < 'b' }}{{ [1] == [1] }}{{ {'a': 1} == {'a': 1} }}{{ 1 == 1.0 }}{{ not true or true and false }}{{ 1 != 2 }}",
    "concatenation": "{{ 'a' ~ 1 ~ true ~ 1.5 }}{{ 'a' 'b' }}{{ 'ab' * 2 }}{{ [1] + [2] }}",
    "filter block": "{% filter upper %}a{{ 'b' }}{% endfilter %}",
    "call block": "{% macro m(x) %}<{{ caller() }}{{ x }}>{% endmacro %}{% call m(1) %}in{% endcall %}",
    "macro keywords": "{% macro m(a, b=2, c='z') %}{{ a }}{{ b }}{{ c }}{% endmacro %}{{ m(1) }}{{ m(1, c=3) }}{{ m(a=5) }}",
    "macro sees globals": "{% set g = 'g' %}{% macro m() %}{{ g }}{{ messages[0].role }}{% endmacro %}{{ m() }}",
    "nested printed values": "{{ {'a': [1.0, {'b': none}], 'q': \"it's\", 'r': '\\\\\"', 's': '\\n é \\x01 \\u200b'} }}{{ [] }}{{ {} | string }}{{ 1.0 | string }}{{ none | string }}{{ true | string }}",
    "printed values": "{{ [1, 'a', none, true, 1.5] }}{{ {'a': 'b'} }}{{ none }}{{ true }}",
    "namespace of strings": "{% set ns = namespace(text='') %}{% for c in 'abc' %}{% set ns.text = ns.text + c %}{% endfor %}{{ ns.text }}",
    "do not escape": "{{ '<a href=\"x\">' }}{{ '<b>' | safe }}{{ '<b>' | e }}",
    "indent": "{{ 'a\\nb' | indent(2) }}{{ 'a\\nb' | indent(2, true) }}",
    "set block": "{% set x %}a{{ 1 + 1 }}{% endset %}{{ x | trim }}",
}


# The special tokens of the vocabulary that the tests render with.
TOKENS = {"bos_token": "<|endoftext|>", "eos_token": "<|im_end|>", "pad_token": "<|endoftext|>"}


def render(template, request):
    """What becomes of a conversation: text, or the words in which the template refuses it."""
    values = {k: v for k, v in request.items() if k != "vars"}
    try:
        return {"want": template.render(
            {**TOKENS, "add_generation_prompt": True, "tools": None, "documents": None, **values, **request.get("vars", {})})}
    except jinja2.exceptions.TemplateError as e:
        if type(e) is not jinja2.exceptions.TemplateError:
            raise
        return {"raises": str(e)}


def main():
    env = environment()
    out = {"templates": {}, "snippets": {}}
    for path in sorted(HERE.rglob("*.jinja")):
        template = env.from_string(path.read_text())
        cases = []
        for name, request in CONVERSATIONS.items():
            try:
                cases.append({"name": name, "request": request, **render(template, request)})
            except (TypeError, jinja2.exceptions.UndefinedError):
                pass  # not a conversation for this template: it fails on it
        out["templates"][str(path.relative_to(HERE))] = cases
    for name, source in SNIPPETS.items():
        out["snippets"][name] = {"source": source, "want": env.from_string(source).render(messages=[HI])}
    (HERE / "snapshots.json").write_text(json.dumps(out, ensure_ascii=False, indent=1) + "\n")


if __name__ == "__main__":
    main()
