"""One problem in the making: numbers drawn, sentences said, steps worked."""

from dataclasses import dataclass
from random import Random

from . import words

LARGEST = 999  # no number of a problem has more than three digits


class Redraw(Exception):
    """The numbers drawn so far do not make a problem (a result below 1 or above LARGEST): start again."""


@dataclass(frozen=True)
class Problem:
    family: str
    key: tuple  # numbers and operations in order; names, things and wordings are not in it
    question: str
    response: str
    answer: int


class Draft:
    """Families draw numbers and structure from it, which make the key, and names and wordings, which do not."""

    def __init__(self, family: str, random: Random):
        self.family, self.random = family, random
        self.key: list = []
        self.sentences: list[str] = []
        self.steps: list[str] = []
        self.words: dict[str, str] = {}
        self.result = 0
        self.names = random.sample(words.NAMES, 3)

    def person(self, *fields: str) -> None:
        """Takes the next name under the given field: {n} is the name, {N} the pronoun that starts a sentence."""
        for field in fields:
            name, pronoun = self.names.pop()
            self.words[field], self.words[field.upper()] = name, pronoun

    def thing(self, field: str, choices: list[str]) -> None:
        """One of the choices that no other field holds yet."""
        self.words[field] = self.random.choice([c for c in choices if c not in self.words.values()])

    def number(self, low: int, high: int) -> int:
        """A number from low to high, both included."""
        if low > high:
            raise Redraw
        n = self.random.randint(low, high)
        self.key.append(n)
        return n

    def choose(self, *choices):
        """A choice that changes the operations."""
        c = self.random.choice(choices)
        self.key.append(c)
        return c

    def say(self, *wordings: str, **values) -> None:
        """Adds one of several wordings of the same fact to the question."""
        self.sentences.append(self.random.choice(wordings).format(**self.words, **values))

    def step(self, sentence: str, x: int, operation: str, y: int, **values) -> int:
        """Works one step; {} in the sentence is where "x + y = z" stands. Returns z."""
        z = calculate(x, operation, y)
        if not 1 <= z <= LARGEST:
            raise Redraw
        self.key.append(operation)
        self.steps.append(sentence.format(f"{x} {operation} {y} = {z}", **self.words, **values))
        self.result = z
        return z

    def finish(self) -> Problem:
        """The last step's result is the answer."""
        response = "\n".join([*self.steps, f"Answer: {self.result}"])
        return Problem(self.family, (self.family, *self.key), " ".join(self.sentences), response, self.result)


def calculate(x: int, operation: str, y: int) -> int:
    if operation == "+":
        return x + y
    if operation == "-":
        return x - y
    if operation == "*":
        return x * y
    if operation == "/" and y and x % y == 0:
        return x // y
    raise ValueError(f"{x} {operation} {y} is no natural number, expected +, -, * or an exact /")
