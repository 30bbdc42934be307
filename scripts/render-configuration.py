#!/usr/bin/env python3
"""Writes docs/configuration.md from server/config/schema.json. With --check it only says whether the page is up to date."""

import json
import sys

from generated import ROOT, publish

PAGE = ROOT / "docs" / "configuration.md"
UNITS = {"budget": "`auto`, or size, such as `512MiB`", "byte-size": "size, such as `512MiB`", "time-span": "time, such as `30s`", "wait": "`auto`, or time, such as `200ms`"}


def resolved(node: dict, schema: dict) -> dict:
    """A node with what it refers to; what stands beside the reference wins."""
    if "$ref" not in node:
        return node
    target = schema
    for key in node["$ref"].removeprefix("#/").split("/"):
        target = target[key]
    return {**resolved(target, schema), **{k: v for k, v in node.items() if k != "$ref"}}


def kind(node: dict, schema: dict) -> str:
    """What a value may be, in words."""
    node = resolved(node, schema)
    if "enum" in node:
        return ", ".join(f"`{v}`" if v else '`""`' for v in node["enum"])
    if node.get("format") in UNITS:
        return UNITS[node["format"]]
    if isinstance(node["type"], list):  # a mapping, or one word for all of it
        inner = node["additionalProperties"]
        return f"{words(node)}, or names with {kind({'type': inner['type'][0], 'minimum': inner['minimum']}, schema)} or {words(inner)}"
    if node["type"] == "array":
        items = resolved(node["items"], schema)
        least = f", at least {node['minItems']}" if "minItems" in node else ""
        return ("list of mappings" if items.get("properties") else f"list: {kind(items, schema)}") + least
    if node["type"] == "object":
        return "mapping"
    return {"string": "text", "boolean": "`true`, `false`", "integer": "whole number", "number": "number"}[node["type"]] + bounds(node)


def words(node: dict) -> str:
    """The texts that a pattern of alternatives allows."""
    return ", ".join(f"`{w}`" for w in node["pattern"].strip("^$").split("|"))


def bounds(node: dict) -> str:
    low, high = node.get("minimum"), node.get("maximum")
    if low is not None and high is not None:
        return f", {low} to {high}"
    if low is not None:
        return f", {low} or more"
    return f", {node['minLength']} characters or more" if node.get("minLength", 0) > 1 else ""


def default(node: dict) -> str:
    if "default" not in node:
        return ""
    value = node["default"]
    return f"`{json.dumps(value) if not isinstance(value, str) or not value else value}`"


def cell(text: str) -> str:
    return text.replace("|", "\\|")


def table(node: dict, schema: dict, path: str) -> list[str]:
    """The keys of a mapping, then those of the mappings within it."""
    lines = ["| key | | default | |", "|---|---|---|---|"]
    required = node.get("required", [])
    deeper = []
    for name, raw in node["properties"].items():
        inner = resolved(raw, schema)
        text = inner.get("description", "")
        must = "*required*" if name in required else default(inner)
        lines.append(f"| `{name}` | {cell(kind(raw, schema))} | {must} | {cell(text)} |")
        items = resolved(inner.get("items", {}), schema)
        if path and items.get("properties"):
            raise SystemExit(f"render-configuration: {path}.{name} is a list of mappings within a mapping, which this page does not show yet")
        if path and inner.get("properties"):
            deeper += ["", f"### {path}.{name}", "", *table(inner, schema, f"{path}.{name}")]
    return lines + deeper


def render(schema: dict) -> str:
    lines = ["# Configuration", "", "Made by `scripts/render-configuration.py` from [server/config/schema.json](../server/config/schema.json), which editors that know YAML "
             "schemas complete and check by:", "", "```yaml", "# yaml-language-server: $schema=server/config/schema.json", "```", "",
             "One YAML file, for `serve --config` and `run --config`; without the flag `./tokenrouter.yaml`, then `~/.config/tokenrouter/config.yaml`. An unknown key, a wrong "
             "type or a name that nothing has is an error with line and column. Paths are relative to the file. `tokenrouter doctor --config FILE` checks a file as "
             "`serve` would. [examples/config](../examples/config) has complete files, [operations.md](operations.md) says what a running server takes over on SIGHUP.", "",
             *table(schema, schema, "")]
    for name, raw in schema["properties"].items():
        node = resolved(raw, schema)
        listed = "items" in node
        lines += ["", f"## {name}", "", *table(resolved(node["items"], schema) if listed else node, schema, name + "[]" if listed else name)]
    return "\n".join(lines) + "\n"


def main() -> int:
    return publish({PAGE: render(json.loads((ROOT / "server" / "config" / "schema.json").read_text()))}, "the schema")


if __name__ == "__main__":
    sys.exit(main())
