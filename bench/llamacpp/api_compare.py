"""Compares two answers to one request: status, shape, and the values that both must agree on."""

import json
import math
from dataclasses import dataclass

# Leads that decide a greedy choice only by how numbers are rounded, in nats; the golden tests draw the line there, too.
TIE = 0.25
# Largest difference of a token's probability that is taken for rounding: the two multiply quantized weights in their own ways.
ROUNDING = 0.05


@dataclass
class Answer:
    """What a server answered: the status, and an object, or the objects of a stream."""
    status: int
    objects: list
    done: bool = False  # the stream ended with [DONE]

    @property
    def body(self):
        return self.objects[0] if self.objects else {}


@dataclass
class Found:
    """The outcome of one check: same, tie or differs."""
    check: str
    verdict: str
    ours: object = None
    peer: object = None


def parse(status: int, text: str) -> Answer:
    """Reads a body: one JSON object, or server-sent events."""
    if not text.startswith("data:"):
        return Answer(status, [json.loads(text)] if text else [])
    events = [line[5:].strip() for line in text.splitlines() if line.startswith("data:")]
    return Answer(status, [json.loads(e) for e in events if e != "[DONE]"], bool(events) and events[-1] == "[DONE]")


KINDS = {dict: "object", list: "array", str: "string", bool: "boolean", int: "number", float: "number", type(None): "null"}


def shape(answer: Answer) -> dict[str, set[str]]:
    """The types found at each path, over all objects; elements of arrays are one path."""
    found: dict[str, set[str]] = {}

    def walk(value, path: str) -> None:
        found.setdefault(path, set()).add(KINDS[type(value)])
        if isinstance(value, dict):
            for key, inner in value.items():
                walk(inner, f"{path}.{key}" if path else key)
        elif isinstance(value, list):
            for inner in value:
                walk(inner, path + "[]")

    for value in answer.objects:
        walk(value, "")
    return found


def below(path: str, prefixes) -> str | None:
    """The prefix that a path is or lies below."""
    return next((p for p in prefixes if path == p or path.startswith((p + ".", p + "["))), None)


def shapes(ours: Answer, peer: Answer, absent: dict, retyped: dict) -> dict[str, list[str]]:
    """Paths that only one has, and those whose types have nothing in common; each apart from what is known."""
    a, b = shape(ours), shape(peer)
    missing = [p for p in b if p not in a and set(b[p]) != {"null"}]
    # A field whose parent is missing, or is null here, is not a difference of its own.
    missing = [p for p in missing if not any(below(p, [q]) for q in missing if q != p)]
    types = [p for p in b if p in a and not a[p] & b[p]]
    extra = [p for p in a if p not in b and not any(below(p, [q]) for q in a if q != p and q not in b)]
    return {"missing": sorted(p for p in missing if not below(p, absent)), "types": sorted(p for p in types if not below(p, retyped)),
            "known": sorted({below(p, absent) for p in missing} - {None} | {below(p, retyped) for p in types} - {None}), "extra": sorted(extra)}


def choices(answer: Answer) -> list[dict]:
    """The choices of an answer, streams put together: text, finish, calls, tokens with their log-probabilities."""
    found: dict[int, dict] = {}
    for choice in (c for o in answer.objects for c in o.get("choices", [])):
        whole = found.setdefault(choice["index"], {"text": "", "finish": None, "calls": {}, "tokens": []})
        part = choice.get("message") or choice.get("delta") or choice
        whole["text"] += part.get("content") or part.get("text") or ""
        whole["finish"] = choice.get("finish_reason") or whole["finish"]
        for at, call in enumerate(part.get("tool_calls") or []):
            name, arguments = whole["calls"].get(call.get("index", at), ("", ""))
            function = call["function"]
            whole["calls"][call.get("index", at)] = (name + (function.get("name") or ""), arguments + (function.get("arguments") or ""))
        whole["tokens"] += tokens(choice.get("logprobs") or {})
    return [found[i] for i in sorted(found)]


def tokens(logprobs: dict) -> list[tuple[str, float, list[float]]]:
    """Text, log-probability and the best log-probabilities of each token, in either of the two forms."""
    if "content" in logprobs:
        return [(t["token"], t["logprob"], [x["logprob"] for x in t["top_logprobs"]]) for t in logprobs["content"]]
    return [(t, p, sorted(best.values(), reverse=True)) for t, p, best in
            zip(logprobs.get("tokens", []), logprobs.get("token_logprobs", []), logprobs.get("top_logprobs", []))]


def compare(check: str, ours: Answer, peer: Answer) -> Found:
    """One check by its name."""
    a, b = VALUES[check](ours), VALUES[check](peer)
    if check == "logprobs":
        return close(a, b)
    return Found(check, "same" if a == b else "differs", a, b)


def close(ours: list, peer: list) -> Found:
    """Log-probabilities: the same probabilities but for rounding, as far as the tokens are the same."""
    furthest, compared = 0.0, 0
    for a, b in zip(ours, peer, strict=True):
        for (token, p, best), (other, q, others) in zip(a, b):
            if token != other:
                break
            pairs = [(p, q), *zip(best, others, strict=True)]
            furthest = max([furthest, *(abs(math.exp(x) - math.exp(y)) for x, y in pairs)])
            compared += 1
    verdict = "same" if compared and furthest <= ROUNDING else "differs"
    return Found("logprobs", verdict, f"{compared} tokens", f"probabilities within {furthest:.3f}")


def tied(ours: Answer, peer: Answer) -> bool:
    """Whether answers with log-probabilities part where the likeliest tokens are nearly as likely, for both."""
    for a, b in zip(choices(ours), choices(peer)):
        for (token, _, best), (other, _, others) in zip(a["tokens"], b["tokens"]):
            if token != other:
                if max(best[0] - best[1], others[0] - others[1]) > TIE:
                    return False
                break
        else:
            if a["text"] != b["text"]:
                return False
    return True


def usage(name: str):
    return lambda answer: next((o["usage"][name] for o in reversed(answer.objects) if o.get("usage")), None)


def content_shape(answer: Answer):
    """What the answer's JSON is made of; it need not be the same text, which grammars space in their own ways."""
    found = []
    for c in choices(answer):
        value = json.loads(c["text"])
        found.append({k: KINDS[type(v)] for k, v in value.items()} if isinstance(value, dict) else KINDS[type(value)])
    return found


def calls(answer: Answer):
    return [[(name, json.loads(arguments)) for name, arguments in c["calls"].values()] for c in choices(answer)]


def ends(answer: Answer):
    """How a stream ends: [DONE], and before it the chunk of the usage, if any."""
    last = answer.objects[-1]
    return {"done": answer.done, "usage alone": last["choices"] == [] and bool(last.get("usage"))}


VALUES = {
    "status": lambda a: a.status,
    "error": lambda a: (a.body.get("error") or {}).get("type"),
    "text": lambda a: [c["text"] for c in choices(a)],
    "finish": lambda a: [c["finish"] for c in choices(a)],
    "prompt_tokens": usage("prompt_tokens"),
    "completion_tokens": usage("completion_tokens"),
    "logprobs": lambda a: [c["tokens"] for c in choices(a)],
    "json": content_shape,
    "calls": calls,
    "ends": ends,
    "names": lambda a: [m["id"] for m in a.body["data"]],
    "tokens": lambda a: a.body["tokens"],
    "content": lambda a: a.body["content"],
    "prompt": lambda a: a.body["prompt"],
}
