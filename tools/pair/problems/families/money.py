"""Families about prices, wages and savings, in whole dollars."""

from ..draft import Draft
from ..words import THINGS, WANTED


def shop(d: Draft) -> None:
    """Two goods at two prices, and the change."""
    d.person("n")
    d.thing("i", THINGS)
    d.thing("j", THINGS)
    a, p, b, q = d.number(2, 9), d.number(3, 24), d.number(2, 9), d.number(3, 24)
    d.say(
        "{n} buys {a} {i} for ${p} each and {b} {j} for ${q} each.", "In a shop {n} takes {a} {i} at ${p} each and {b} {j} at ${q} each.",
        "{n} needs {a} {i} and {b} {j}. One of the {i} costs ${p} and one of the {j} costs ${q}.", a=a, p=p, b=b, q=q,
    )
    x = d.step("All of the {i} cost {} dollars.", a, "*", p)
    y = d.step("All of the {j} cost {} dollars.", b, "*", q)
    z = d.step("Together {n} has to pay {} dollars.", x, "+", y)
    if d.choose(True, True, False):
        paid = d.choose(*[v for v in (100, 200, 300, 400, 500) if v > z][:2])
        d.say("{N} pays with ${v}.", "{N} gives the seller ${v}.", v=paid)
        d.say("How much change does {n} get?", "How much money does {n} get back?", "What is the change?")
        d.step("Then the change for {n} is {} dollars.", paid, "-", z)
    else:
        d.say("How much does {n} pay?", "What does {n} have to pay?", "What does it all cost?")


def wages(d: Draft) -> None:
    """Hours on two days at one wage; some of it is spent."""
    d.person("n")
    d.thing("it", THINGS)
    w, h, g = d.number(6, 29), d.number(2, 9), d.number(2, 9)
    d.say("{n} earns ${w} per hour.", "For an hour of work {n} gets ${w}.", "{n} is paid ${w} an hour.", w=w)
    d.say("{N} works {h} hours on Monday and {g} hours on Friday.", "On Monday {n} works {h} hours and on Friday {g} hours.", "{N} works {h} hours one day and {g} hours the next.", h=h, g=g)
    x = d.step("On both days {n} works {} hours.", h, "+", g)
    y = d.step("For that work {n} earns {} dollars.", x, "*", w)
    if d.choose(True, True, False):
        s = d.number(11, min(y - 3, 149))
        d.say("{N} spends ${s} on {it}.", "Then {n} buys {it} for ${s}.", s=s)
        d.say("How much is left?", "How much money does {n} still have?", "What is left of the money?")
        d.step("After the {it} there are {} dollars left.", y, "-", s)
    else:
        d.say("How much does {n} earn?", "How much money is that?", "What does {n} earn in all?")


def savings(d: Draft) -> None:
    """Some money, a sum saved every week, and a thing that is wanted."""
    d.person("n")
    d.thing("it", WANTED)
    a, s, w = d.number(11, 149), d.number(3, 24), d.number(2, 9)
    d.say("{n} has ${a}.", "{n} owns ${a} at first.", "There are ${a} in the box of {n}.", a=a)
    d.say("{N} saves ${s} every week for {w} weeks.", "For {w} weeks {n} saves ${s} a week.", "Every week {n} puts ${s} aside, for {w} weeks.", s=s, w=w)
    x = d.step("In {w} weeks {n} saves {} dollars.", w, "*", s, w=w)
    y = d.step("With the first money {n} has {} dollars.", a, "+", x)
    if d.choose("left", "missing") == "left":
        p = d.number(11, min(y - 3, 299))
        d.say("Then {n} buys a {it} for ${p}.", "{N} pays ${p} for a {it}.", p=p)
        d.say("How much is left?", "How much money does {n} still have?", "What is left of the money?")
        d.step("After the {it} there are {} dollars left.", y, "-", p)
    else:
        p = y + d.number(6, 149)
        d.say("{N} wants a {it} that costs ${p}.", "A {it} costs ${p}.", p=p)
        d.say("How much money is missing?", "How many dollars does {n} still need?")
        d.step("For the {it} there are {} dollars missing.", p, "-", y)


def tickets(d: Draft) -> None:
    """A group with two kinds of tickets and a bus."""
    d.person("n")
    a, p, c, q = d.number(2, 9), d.number(8, 29), d.number(3, 19), d.number(3, 9)
    d.say(
        "{n} takes a group to the zoo. There are {a} adults and {c} children.", "A group of {a} adults and {c} children goes to the zoo with {n}.",
        "With {n} {a} adults and {c} children want to see the zoo.", a=a, c=c,
    )
    d.say("A ticket costs ${p} for an adult and ${q} for a child.", "Adults pay ${p} each, children pay ${q} each.", "The price is ${p} for each adult and ${q} for each child.", p=p, q=q)
    x = d.step("For the adults the tickets cost {} dollars.", a, "*", p)
    y = d.step("For the children the tickets cost {} dollars.", c, "*", q)
    z = d.step("So all tickets together cost {} dollars.", x, "+", y)
    if d.choose(True, False):
        b = d.number(21, 149)
        d.say("The bus costs ${b}.", "They also pay ${b} for the bus.", b=b)
        d.say("What does the trip cost?", "How much does the whole trip cost?")
        d.step("With the bus the trip costs {} dollars.", z, "+", b)
    else:
        d.say("What do the tickets cost?", "How much do all tickets cost?", "How much does the group pay?")
