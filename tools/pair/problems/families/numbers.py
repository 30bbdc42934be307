"""Plain sums, as a visitor might try them first."""

from ..draft import Draft


def sums(d: Draft) -> None:
    """One or two operations on bare numbers."""
    kind = d.choose("+", "-", "*", "/")
    if kind == "+":
        a, b = d.number(6, 399), d.number(6, 199)
        d.say("What is {a} + {b}?", "{a} + {b} = ?", "What is {a} plus {b}?", "How much is {a} and {b} together?", a=a, b=b)
    elif kind == "-":
        a, b = d.number(21, 599), d.number(6, 299)
        d.say("What is {a} - {b}?", "{a} - {b} = ?", "What is {a} minus {b}?", "How much is left when {b} is taken from {a}?", a=a, b=b)
    elif kind == "*":
        a, b = d.number(3, 39), d.number(2, 9)
        d.say("What is {a} * {b}?", "{a} * {b} = ?", "What is {a} times {b}?", "How much is {a} times {b}?", a=a, b=b)
    else:
        b, c = d.number(2, 9), d.number(3, 39)
        a = b * c
        d.say("What is {a} / {b}?", "{a} / {b} = ?", "What is {a} divided by {b}?", "How much is each part when {a} is cut into {b} equal parts?", a=a, b=b)
    d.step("The result of this is {}.", a, kind, b)
