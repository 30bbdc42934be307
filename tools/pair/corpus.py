"""Conversations and drills as batches of token ids. A stream is a function of its seed and position, so it can be resumed."""

from random import Random
from typing import NamedTuple

import numpy as np
import torch
from tokenizers import Tokenizer

from documents import Document, encode, encode_drill
from problems.conversation import conversation
from problems.drill import drill
from problems.sample import problem

DRILL_LINES = 10


class Batch(NamedTuple):
    """A Document's fields of several, [documents, longest]."""

    tokens: torch.Tensor
    learnt: torch.Tensor
    worked: torch.Tensor


def validation(tokenizer: Tokenizer, seed: int, count: int, split: str = "validation") -> list[Document]:
    problems = (problem(seed, split, i) for i in range(count))
    return [encode(tokenizer, [("user", p.question), ("assistant", p.response)]) for p in problems]


def pad(documents: list[Document]) -> Batch:
    """Zeros stand behind each end."""
    longest = max(len(d.tokens) for d in documents)
    tokens, learnt, worked = (np.zeros((len(documents), longest), t) for t in (np.int64, bool, bool))
    for i, d in enumerate(documents):
        tokens[i, : len(d.tokens)] = d.tokens
        learnt[i, : len(d.tokens)] = d.learnt
        worked[i, : len(d.tokens)] = d.worked
    return Batch(*map(torch.from_numpy, (tokens, learnt, worked)))


class Stream:
    """Batches of about `size` tokens, documents of like length together, from chunks that are shuffled by the seed."""

    CHUNK = 1024

    def __init__(self, tokenizer: Tokenizer, kind: str, seed: int, size: int):
        self.tokenizer, self.kind, self.seed, self.size = tokenizer, kind, seed, size
        self.position = (0, 0)  # chunk, batch in it
        self._batches: list[list[Document]] = []
        self._chunk = -1

    def next(self) -> Batch:
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
