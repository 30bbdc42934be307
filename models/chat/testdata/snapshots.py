#!/usr/bin/env python3
"""Writes snapshots.json: what Jinja2 makes of templates, under the settings that Transformers renders chat templates with.

    python -m venv .venv && .venv/bin/pip install jinja2==3.1.6 && .venv/bin/python snapshots.py

The *.jinja files are the chat templates inside the GGUF files of the same names.
"""

import json
import pathlib

import jinja2
import jinja2.ext
import jinja2.sandbox

HERE = pathlib.Path(__file__).parent


def raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)


def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def environment():
    env = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[jinja2.ext.loopcontrols])
    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
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
    {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": {"city": "Köln", "days": 2}}}]}
SAID_AND_CALLED = {**CALL, "content": "Let me see."}
RESULT = {"role": "tool", "tool_call_id": "call_1", "content": "{\"sky\": \"grey\"}"}

CONVERSATIONS = {
    "user": {"messages": [HI]},
    "system": {"messages": [SYSTEM, HI]},
    "turns": {"messages": [HI, {"role": "assistant", "content": "Hello!\n"}, {"role": "user", "content": "  bye\n\n"}]},
    "no generation prompt": {"messages": [HI, {"role": "assistant", "content": "yes"}], "add_generation_prompt": False},
    "late system": {"messages": [HI, SYSTEM, HI]},
    "tools": {"messages": [HI], "tools": [WEATHER]},
    "tools and system": {"messages": [SYSTEM, HI], "tools": [WEATHER, {"type": "function", "function": {"name": "x"}}]},
    "tool use": {"messages": [HI, CALL, RESULT], "tools": [WEATHER]},
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
    "set block": "{% set x %}a{{ 1 + 1 }}{% endset %}{{ x | trim }}",
}


def main():
    env = environment()
    out = {"templates": {}, "snippets": {}}
    for path in sorted(HERE.glob("*.jinja")):
        template = env.from_string(path.read_text())
        out["templates"][path.name] = [
            {"name": name, "request": r, "want": template.render(
                {"add_generation_prompt": True, "tools": None, "documents": None, **r})}
            for name, r in CONVERSATIONS.items()]
    for name, source in SNIPPETS.items():
        out["snippets"][name] = {"source": source, "want": env.from_string(source).render(messages=[HI])}
    (HERE / "snapshots.json").write_text(json.dumps(out, ensure_ascii=False, indent=1) + "\n")


if __name__ == "__main__":
    main()
