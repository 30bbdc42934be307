"""Families about ways, books to read, gardens, hens, tanks and fences."""

from ..draft import Draft
from ..words import PLANTS


def trip(d: Draft) -> None:
    """Some hours at a speed, then a walk, then what is left of the way."""
    d.person("n")
    d.words["go"] = d.random.choice(["drives", "rides"])
    v, h, w = d.number(12, 59), d.number(2, 7), d.number(11, 99)
    d.say("{n} {go} {v} km per hour for {h} hours.", "For {h} hours {n} {go} at {v} km per hour.", "{n} {go} for {h} hours, {v} km in each hour.", v=v, h=h)
    d.say("Then {n} walks {w} km.", "After that there is a walk of {w} km.", w=w)
    x = d.step("In {h} hours {n} {go} {} km.", v, "*", h, h=h)
    y = d.step("With the walk the way is {} km.", x, "+", w)
    if d.choose(True, True, False):
        whole = y + d.number(11, 199)
        d.say("The whole way is {t} km.", "The trip is {t} km long.", t=whole)
        d.say("How far is it to the end?", "How many km are left?", "How far does {n} still have to go?")
        d.step("From there to the end it is {} km.", whole, "-", y)
    else:
        d.say("How far does {n} go?", "How many km is that?", "How long is the way of {n}?")


def climb(d: Draft) -> None:
    """Up, down and up again, in metres."""
    d.person("n")
    a, b, c = d.number(51, 299), d.number(11, 149), d.number(11, 199)
    d.say("{n} starts at a height of {a} m.", "The walk of {n} starts at {a} m above the sea.", "A hut where {n} sleeps is at {a} m.", a=a)
    d.say("{N} climbs {b} m.", "First {n} goes up {b} m.", b=b)
    x = d.step("After the first climb {n} is at {} m.", a, "+", b)
    d.say("Then it goes down {c} m.", "After that {n} goes down by {c} m.", c=c)
    x = d.step("After the way down {n} is at {} m.", x, "-", c)
    if d.choose(True, False):
        top = x + d.number(21, 199)
        d.say("The top is at {t} m.", "The top of the hill is {t} m high.", t=top)
        d.say("How many m are missing to the top?", "How far up is it to the top?")
        d.step("From there up to the top it is {} m.", top, "-", x)
    else:
        d.say("How high is {n} now?", "At what height is {n} in the end?")


def reading(d: Draft) -> None:
    """Pages a day for some days; the rest in equal parts."""
    d.person("n")
    p, days = d.number(6, 39), d.number(2, 9)
    r = d.number(2, 9)
    read = p * days
    mode = d.choose("left", "daily")
    pages = read + (r * d.number(4, 29) if mode == "daily" else d.number(11, 249))
    d.say("{n} reads a book of {t} pages.", "A book of {n} has {t} pages.", "There are {t} pages in the book that {n} reads.", t=pages)
    d.say("{N} reads {p} pages a day for {k} days.", "For {k} days {n} reads {p} pages a day.", "On each of {k} days {n} reads {p} pages.", p=p, k=days)
    x = d.step("In {k} days {n} reads {} pages.", p, "*", days, k=days)
    y = d.step("Then in the book there are {} pages left.", pages, "-", x)
    if mode == "daily":
        d.say("The rest takes {r} days.", "{N} wants to read the rest in {r} days.", r=r)
        d.say("How many pages a day is that?", "How many pages does {n} read a day then?")
        d.step("So on each of these days it is {} pages.", y, "/", r)
    else:
        d.say("How many pages are left?", "How many pages does {n} still have to read?")


def garden(d: Draft) -> None:
    """Rows of plants; some die; more are planted."""
    d.person("n")
    d.thing("it", PLANTS)
    x, y = d.number(3, 9), d.number(5, 29)
    d.say("{n} has {x} rows of {it} with {y} in each row.", "In the garden of {n} there are {x} rows with {y} {it} each.", "{n} plants {x} rows of {y} {it}.", x=x, y=y)
    a = d.step("In all the rows there are {} {it}.", x, "*", y)
    b = d.number(3, min(a - 5, 99))
    d.say("In winter {b} of them die.", "A storm breaks {b} of the {it}.", "Then {b} {it} dry out.", b=b)
    a = d.step("After that there are {} {it} left.", a, "-", b)
    if d.choose(True, False):
        c = d.number(11, 149)
        d.say("{N} plants {c} new ones.", "Then {n} buys {c} more {it}.", c=c)
        a = d.step("With the new ones there are {} {it}.", a, "+", c)
    d.say("How many {it} are there now?", "How many {it} does {n} have in the end?", "Now how many {it} are in the garden?")


def farm(d: Draft) -> None:
    """Hens lay eggs for some days; some are sold; the rest has a price."""
    d.person("n")
    hens, each, days = d.number(3, 19), d.number(2, 5), d.number(2, 7)
    d.say("{n} has {h} hens. Each hen lays {e} eggs a week.", "On the farm of {n} each of {h} hens lays {e} eggs a week.", "The {h} hens of {n} lay {e} eggs a week each.", h=hens, e=each)
    d.say("{N} collects them for {k} weeks.", "This goes on for {k} weeks.", k=days)
    x = d.step("In one week the hens lay {} eggs.", hens, "*", each)
    y = d.step("In {k} weeks the hens lay {} eggs.", x, "*", days, k=days)
    s = d.number(5, min(y - 3, 149))
    d.say("{N} sells {s} of the eggs.", "Then {s} eggs are sold.", "At the market {n} sells {s} eggs.", s=s)
    d.say("How many eggs are left?", "How many eggs does {n} keep?")
    d.step("After the sale there are {} eggs left.", y, "-", s)


def tank(d: Draft) -> None:
    """Water runs into a tank and out of it."""
    d.person("n")
    a, v, t = d.number(21, 199), d.number(4, 29), d.number(3, 9)
    d.say("A tank holds {a} litres of water.", "There are {a} litres of water in the tank of {n}.", "{n} has a tank with {a} litres of water.", a=a)
    d.say("Then {v} litres run in every minute for {t} minutes.", "{n} fills in {v} litres a minute for {t} minutes.", "For {t} minutes {v} litres a minute run in.", v=v, t=t)
    x = d.step("In {t} minutes there come {} litres.", v, "*", t, t=t)
    y = d.step("With these the tank has {} litres.", a, "+", x)
    if d.choose("out", "full") == "out":
        o = d.number(11, min(y - 3, 199))
        d.say("{n} uses {o} litres for the garden.", "Then {o} litres are taken out.", o=o)
        d.say("How many litres are left?", "How much water is in the tank now?")
        d.step("After that the tank has {} litres.", y, "-", o)
    else:
        f = y + d.number(11, 199)
        d.say("The tank can hold {f} litres.", "When full, the tank has {f} litres.", f=f)
        d.say("How many litres are missing?", "How much water does it still need to be full?")
        d.step("So the full tank needs {} litres more.", f, "-", y)


def fence(d: Draft) -> None:
    """The way round a rectangle, a gate, and what the fence costs."""
    d.person("n")
    a, b, g = d.number(8, 79), d.number(6, 59), d.number(2, 9)
    d.say("A field of {n} is {a} m long and {b} m wide.", "{n} has a field, {a} m by {b} m.", "The field of {n} has sides of {a} m and {b} m.", a=a, b=b)
    d.say("A fence goes all around it, with a gate of {g} m.", "{N} puts a fence around it but leaves a gate of {g} m.", g=g)
    x = d.step("One long and one short side make {} m.", a, "+", b)
    y = d.step("All the way around it is {} m.", x, "*", 2)
    z = d.step("Without the gate the fence is {} m.", y, "-", g)
    p = d.number(2, 6)
    if z * p <= 600 and d.choose(True, False):
        d.say("Each m costs ${p}.", "The price is ${p} for one m.", p=p)
        d.say("What does the fence cost?", "How much does {n} pay for the fence?")
        d.step("So for the fence {n} pays {} dollars.", z, "*", p)
    else:
        d.say("How long is the fence?", "How many m of fence are needed?")
