"""Conversations and drills as token ids, with what of them is learnt. Needs no PyTorch."""

import re
from dataclasses import dataclass

from tokenizers import Tokenizer

from problems.conversation import Message
from tokenizer import END, ROLES

RESULT = re.compile(r"= (\d+)")


@dataclass(frozen=True)
class Document:
    tokens: list[int]
    learnt: list[bool]  # which tokens count in the loss: the assistant's
    worked: list[bool]  # which of them are digits of a step's result, which have to be worked out; all others are copied


def encode(tokenizer: Tokenizer, messages: list[Message]) -> Document:
    """As the chat template writes a conversation: a role, its text, and the end after the assistant's."""
    d = Document([], [], [])
    for role, text in messages:
        body = tokenizer.encode(text)
        assistant = role == "assistant"
        ids = [tokenizer.token_to_id(ROLES[role]), *body.ids, *([tokenizer.token_to_id(END)] if assistant else [])]
        d.tokens.extend(ids)
        d.learnt.extend([False] + [assistant] * (len(ids) - 1))
        results = {i for m in RESULT.finditer(text) for i in range(*m.span(1))} if assistant else set()
        worked = [start in results for start, _ in body.offsets]
        d.worked.extend([False, *worked] + [False] * (len(ids) - 1 - len(worked)))
    return d


def encode_drill(tokenizer: Tokenizer, pairs: list[tuple[str, str]]) -> Document:
    """Lines "x + y = z.", of which z is learnt."""
    d = Document([tokenizer.token_to_id(ROLES["assistant"])], [False], [False])
    for left, right in pairs:
        for text, learn in ((left, False), (right, True), (".\n", False)):
            ids = tokenizer.encode(text).ids
            d.tokens.extend(ids)
            d.learnt.extend([learn] * len(ids))
            d.worked.extend([learn] * len(ids))
    return d
