"""Checks a problem from its text alone, knowing nothing of how it was made."""

import re

from . import words

LINE = re.compile(r"^[^=]*?(\d+) ([-+*/]) (\d+) = (\d+)\b[^=]*\.$")
NAMES = {name for name, _ in words.NAMES}
SPELLED = {text: n for n, text in words.TIMES.items()}
# The two sides of a rectangle count twice; nobody says so in a question.
UNSAID = {"fence": {2}}


class Wrong(ValueError):
    """What is wrong with a problem."""


def check(family: str, question: str, response: str, answer: int) -> None:
    """Raises Wrong unless every step is arithmetic done right on numbers that were given or worked out before, every
    number that was worked out is used or is the answer, and every name and thing is one of the question's."""
    *lines, last = response.split("\n")
    if last != f"Answer: {answer}":
        raise Wrong(f"the last line is {last!r}, expected 'Answer: {answer}'")
    if not lines:
        raise Wrong("there are no steps")
    given = numbers(question) | UNSAID.get(family, set())
    results: list[int] = []
    unused: list[int] = []
    for line in lines:
        found = LINE.match(line)
        if not found:
            raise Wrong(f"{line!r} is no step: expected one 'x + y = z' and a full stop")
        x, operation, y, z = int(found[1]), found[2], int(found[3]), int(found[4])
        if worked(x, operation, y) != z:
            raise Wrong(f"{line!r}: {x} {operation} {y} is not {z}")
        for n in (x, y):
            if n not in given and n not in results:
                raise Wrong(f"{line!r}: {n} is neither given nor worked out before")
            if n in unused:
                unused.remove(n)
        results.append(z)
        unused.append(z)
    if results[-1] != answer:
        raise Wrong(f"the last step gives {results[-1]}, the answer is {answer}")
    if [n for n in unused if n != answer and n not in given]:
        raise Wrong(f"worked out, but not used: {unused}")
    strangers = names(response) - names(question)
    if strangers:
        raise Wrong(f"names that are not in the question: {', '.join(sorted(strangers))}")
    strangers = {w for w in re.findall(r"\w+", response) if w in words.THINGS + words.BAKED + words.BOXES + words.PLANTS} - set(re.findall(r"\w+", question))
    if strangers:
        raise Wrong(f"things that are not in the question: {', '.join(sorted(strangers))}")


def numbers(text: str) -> set[int]:
    found = {int(n) for n in re.findall(r"\d+", text)}
    return found | {n for word, n in SPELLED.items() if word in text}


def names(text: str) -> set[str]:
    return NAMES & set(re.findall(r"\w+", text))


def worked(x: int, operation: str, y: int) -> int | None:
    """The natural number, or None where there is none."""
    if operation == "/":
        return x // y if y and x % y == 0 else None
    return {"+": x + y, "-": x - y, "*": x * y}[operation]
