"""Families about ages, passengers, points and classes."""

from ..draft import Draft, Redraw
from ..words import TIMES


def ages(d: Draft) -> None:
    """Three ages, one given, each of the others by the one before."""
    d.person("n", "m", "o")
    a, b, k = d.number(8, 59), d.number(3, 29), d.number(2, 5)
    older = d.choose(True, False)
    d.say("{n} is {a} years old.", "The age of {n} is {a} years.", "Today {n} is {a} years old.", a=a)
    d.say("{m} is {b} years {s} than {n}.", "{m} is {s} than {n} by {b} years.", b=b, s="older" if older else "younger")
    d.say("{o} is {k} as old as {m}.", "The age of {o} is {k} the age of {m}.", k=TIMES[k])
    x = d.step("By that {m} is {} years old.", a, "+" if older else "-", b)
    y = d.step("By that {o} is {} years old.", x, "*", k)
    what = d.choose("one", "sum", "difference")
    if what == "one":
        d.say("How old is {o}?", "What is the age of {o}?")
    elif what == "sum":
        d.say("How old are they together?", "What is the sum of their ages?")
        z = d.step("The ages of {n} and {m} make {} years.", a, "+", x)
        d.step("All three ages together make {} years.", z, "+", y)
    else:
        d.say("How many years older is {o} than {n}?", "By how many years is {o} older than {n}?")
        d.step("So {o} is older than {n} by {} years.", y, "-", a)


def bus(d: Draft) -> None:
    """Passengers get on and off at two or three stops."""
    d.person("n")
    a = d.number(14, 99)
    d.say("A train with {a} people leaves the city.", "{n} drives a train with {a} people in it.", "There are {a} people in the train of {n}.", a=a)
    for name in ("first", "second", "third")[: d.choose(1, 2, 2)]:
        off, on = d.number(3, min(a - 2, 79)), d.number(11, 149)
        d.say("At the {s} stop {x} get off and {y} get on.", "Then {x} people leave it at the {s} stop and {y} come in.", "At the {s} stop {x} people go out and {y} come in.", s=name, x=off, y=on)
        left = d.step("At the {s} stop {} people stay in.", a, "-", off, s=name)
        a = d.step("Then there are {} people in the train.", left, "+", on)
    d.say("How many people are in the train now?", "How many people does it carry then?", "Now how many people are there?")


def points(d: Draft) -> None:
    """A game of three rounds, and how far another player is ahead or behind."""
    d.person("n", "m")
    a, b, c = d.number(11, 149), d.number(11, 149), d.number(6, 99)
    up = d.choose(True, False)
    d.say("In a game {n} gets {a} points in the first round and {b} in the second.", "{n} plays a game: {a} points in the first round, {b} points in the second.", "In the first round {n} makes {a} points and in the second {b}.", a=a, b=b)
    x = d.step("After two rounds {n} has {} points.", a, "+", b)
    if up:
        d.say("In the third round {n} wins {c} more.", "In the last round there are {c} more points for {n}.", c=c)
    else:
        d.say("In the third round {n} loses {c} points.", "In the last round {c} points are taken from {n}.", c=c)
    x = d.step("After the last round {n} has {} points.", x, "+" if up else "-", c)
    if d.choose(True, False):
        gap = d.number(5, 149)
        other = x + gap if d.choose(True, False) else x - gap
        if other < 1:
            raise Redraw
        d.say("{m} has {p} points.", "The points of {m} are {p}.", p=other)
        if other > x:
            d.say("How many points more does {m} have than {n}?", "By how many points does {m} beat {n}?")
            d.step("So {m} is in front by {} points.", other, "-", x)
        else:
            d.say("How many points more does {n} have than {m}?", "By how many points does {n} beat {m}?")
            d.step("So {n} is in front by {} points.", x, "-", other)
    else:
        d.say("How many points does {n} have?", "What is the score of {n}?")


def school(d: Draft) -> None:
    """Classes of equal size; some children are away; the rest makes teams."""
    d.person("n")
    k, size = d.number(2, 9), d.number(12, 29)
    d.say("A school has {k} classes with {s} children each.", "{n} leads a school of {k} classes, each with {s} children.", "In the school of {n} there are {k} classes of {s} children.", k=k, s=size)
    total = d.step("In all classes there are {} children.", k, "*", size)
    away = d.number(3, min(total - 10, 99))
    d.say("Today {x} of them are at home.", "{x} children are sick today.", x=away)
    here = d.step("So today {} children are at school.", total, "-", away)
    team = d.choose(*([t for t in range(2, 10) if here % t == 0] or [0]))
    if team:
        d.say("The others play in {t} equal teams.", "Those at school make {t} teams of the same size.", t=team)
        d.say("How many children are in each team?", "How many children does a team have?")
        d.step("So each of the teams has {} children.", here, "/", team)
    else:
        d.say("How many children are at school?", "How many children are there today?")
