"""Conversations and drills as batches of token ids. A stream is a function of its seed and position, so it can be resumed."""

from dataclasses import dataclass
from random import Random

import numpy as np
import torch
from tokenizers import Tokenizer

from problems.conversation import Message, conversation
from problems.drill import drill
from problems.sample import problem
from tokenizer import END, ROLES

DRILL_LINES = 10


@dataclass(frozen=True)
class Document:
    tokens: list[int]
    learnt: list[bool]  # which tokens count in the loss: the assistant's


def encode(tokenizer: Tokenizer, messages: list[Message]) -> Document:
    """As the chat template writes a conversation: a role, its text, and the end after the assistant's."""
    tokens: list[int] = []
    learnt: list[bool] = []
    for role, text in messages:
        body = tokenizer.encode(text).ids
        assistant = role == "assistant"
        ids = [tokenizer.token_to_id(ROLES[role]), *body, *([tokenizer.token_to_id(END)] if assistant else [])]
        tokens += ids
        learnt += [False] + [assistant] * (len(ids) - 1)
    return Document(tokens, learnt)


def encode_drill(tokenizer: Tokenizer, pairs: list[tuple[str, str]]) -> Document:
    """Lines "x + y = z.", of which z is learnt."""
    tokens, learnt = [tokenizer.token_to_id(ROLES["assistant"])], [False]
    for left, right in pairs:
        for text, learn in ((left, False), (right, True), (".\n", False)):
            ids = tokenizer.encode(text).ids
            tokens += ids
            learnt += [learn] * len(ids)
    return Document(tokens, learnt)


def validation(tokenizer: Tokenizer, seed: int, count: int, split: str = "validation") -> list[Document]:
    problems = (problem(seed, split, i) for i in range(count))
    return [encode(tokenizer, [("user", p.question), ("assistant", p.response)]) for p in problems]


def pad(documents: list[Document]) -> tuple[torch.Tensor, torch.Tensor]:
    """Tokens [n, longest], zeros behind each end, and the mask of those that count in the loss."""
    longest = max(len(d.tokens) for d in documents)
    tokens, learnt = np.zeros((len(documents), longest), np.int64), np.zeros((len(documents), longest), bool)
    for i, d in enumerate(documents):
        tokens[i, : len(d.tokens)] = d.tokens
        learnt[i, : len(d.tokens)] = d.learnt
    return torch.from_numpy(tokens), torch.from_numpy(learnt)


class Stream:
    """Batches of about `size` tokens, documents of like length together, from chunks that are shuffled by the seed."""

    CHUNK = 1024

    def __init__(self, tokenizer: Tokenizer, kind: str, seed: int, size: int):
        self.tokenizer, self.kind, self.seed, self.size = tokenizer, kind, seed, size
        self.position = (0, 0)  # chunk, batch in it
        self._batches: list[list[Document]] = []
        self._chunk = -1

    def next(self) -> tuple[torch.Tensor, torch.Tensor]:
        chunk, i = self.position
        if chunk != self._chunk:
            self._batches, self._chunk = self._make(chunk), chunk
        batch = pad(self._batches[i])
        self.position = (chunk, i + 1) if i + 1 < len(self._batches) else (chunk + 1, 0)
        return batch

    def _make(self, chunk: int) -> list[list[Document]]:
        span = range(chunk * self.CHUNK, (chunk + 1) * self.CHUNK)
        if self.kind == "drill":
            documents = [encode_drill(self.tokenizer, drill(self.seed, i, DRILL_LINES)) for i in span]
        else:
            documents = [encode(self.tokenizer, conversation(self.seed, i)) for i in span]
        documents.sort(key=lambda d: len(d.tokens))
        batches: list[list[Document]] = [[]]
        for d in documents:
            if batches[-1] and (len(batches[-1]) + 1) * len(d.tokens) > self.size:
                batches.append([])
            batches[-1].append(d)
        Random(f"batches {self.seed} {chunk}").shuffle(batches)
        return batches
