"""What is asked, and when an answer to it is right."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from over_http import right
from problems.sample import problem

NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")
BOXED = re.compile(r"\\boxed\{([^{}]*)\}")
# Of the prompts that heads for such pairs are trained on.
INSTRUCTION = ("Solve the following math problem step by step. Ensure all reasoning is shown clearly in LaTeX format, and you should enclose "
               "your answer with \\boxed{{}}.\nQuestion: {}\nSolution: ")


@dataclass(frozen=True)
class Question:
    question: str
    expected: str
    judge: Callable[[str, str], bool]

    def right(self, answer: str) -> bool:
        return self.judge(answer, self.expected)


def number(text: str) -> float | None:
    """The last number of what is boxed last, or of the whole text if nothing is; None: there is none."""
    boxed = BOXED.findall(text)
    found = NUMBER.findall(boxed[-1] if boxed else text)
    return float(found[-1].replace(",", "")) if found else None


def same_number(answer: str, expected: str) -> bool:
    got = number(answer)
    return got is not None and got == number(expected)


def stated(answer: str, expected: str) -> bool:
    return right(answer, int(expected))


def built_in(count: int) -> list[Question]:
    """The first problems of the built-in pair's test split."""
    return [Question(p.question, str(p.answer), stated) for p in (problem(1, "test", i) for i in range(count))]


def from_file(path: Path, count: int) -> list[Question]:
    """The first lines of a file."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()[:count]]
    if len(rows) < count:
        raise SystemExit(f"{path} has {len(rows)} problems, {count} were asked for")
    return [Question(INSTRUCTION.format(r["problem"]), r["solution"], same_number) for r in rows]
