"""The page of the configuration, from a schema small enough to be read at a glance."""

import json

import pytest

SCHEMA = {
    "$defs": {
        "name": {"type": "string"},
        "model": {"type": "object", "required": ["name"], "properties": {
            "name": {"$ref": "#/$defs/name", "description": "What it is | called."},
            "size": {"type": "string", "format": "byte-size", "default": "1GiB"},
            "kind": {"enum": ["", "a"], "default": ""},
        }},
        "server": {"type": "object", "properties": {
            "keys": {"type": "array", "items": {"type": "string", "minLength": 8}, "default": []},
            "level": {"type": "integer", "minimum": 1, "maximum": 3, "default": 2},
            "tls": {"type": "object", "required": ["cert"], "description": "HTTPS.", "properties": {"cert": {"type": "string", "minLength": 1}}},
            "waits": {"type": ["object", "string"], "pattern": "^auto$", "additionalProperties": {"type": ["integer", "string"], "minimum": 1, "pattern": "^auto$"}},
        }},
    },
    "required": ["models"],
    "properties": {
        "models": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/model"}, "description": "The models."},
        "server": {"$ref": "#/$defs/server"},
    },
}


def test_every_key_has_a_row(configuration):
    lines = configuration.render(SCHEMA).splitlines()
    for row in ("| `models` | list of mappings, at least 1 | *required* | The models. |", "| `server` | mapping |  |  |",
                "| `name` | text | *required* | What it is \\| called. |", "| `size` | size, such as `512MiB` | `1GiB` |  |", '| `kind` | `""`, `a` | `""` |  |',
                "| `keys` | list: text, 8 characters or more | `[]` |  |", "| `level` | whole number, 1 to 3 | `2` |  |", "| `tls` | mapping |  | HTTPS. |",
                "| `cert` | text | *required* |  |", "| `waits` | `auto`, or names with whole number, 1 or more or `auto` |  |  |"):
        assert lines.count(row) == 1, row
    assert [line for line in lines if line.startswith("##")] == ["## models", "## server", "### server.tls"]


def test_the_schema_of_the_server_is_whole(configuration):
    """Whatever keys the schema has, each stands on the configuration."""
    schema = json.loads((configuration.ROOT / "server" / "config" / "schema.json").read_text())
    text = configuration.render(schema)
    keys = [k for d in ("model", "route", "device", "batching", "server") for k in schema["$defs"][d]["properties"]]
    assert len(keys) > 30
    for key in keys:
        assert f"| `{key}` |" in text


def test_what_it_cannot_show_is_an_error(configuration):
    schema = json.loads(json.dumps(SCHEMA))
    schema["$defs"]["server"]["properties"]["more"] = {"type": "array", "items": {"$ref": "#/$defs/model"}}
    with pytest.raises(SystemExit, match="server.more"):
        configuration.render(schema)
