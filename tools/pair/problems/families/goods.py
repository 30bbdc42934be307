"""Families about things that are had, packed, baked and shared."""

from ..draft import Draft
from ..words import BAKED, BOXES, THINGS


def stock(d: Draft) -> None:
    """Somebody has things; two to four times some come or go."""
    d.person("n", "m")
    d.thing("it", THINGS)
    a = d.number(15, 199)
    d.say("{n} has {a} {it}.", "At first {n} has {a} {it}.", "There are {a} {it} in the room of {n}.", a=a)
    for _ in range(d.choose(2, 2, 3)):
        a = event(d, a)
    d.say("How many {it} does {n} have now?", "How many {it} does {n} have in the end?", "Now how many {it} are there?")


def event(d: Draft, a: int) -> int:
    kind = d.choose("more", "fewer", "fewer", "boxes") if a >= 30 else d.choose("more", "boxes")
    if kind == "more":
        b = d.number(11, 149)
        d.say("{N} buys {b} more.", "Then {n} finds {b} {it}.", "{m} brings {n} another {b} {it}.", "{N} gets {b} {it} from {m}.", b=b)
        return d.step("After that {n} has {} {it} in all.", a, "+", b)
    if kind == "fewer":
        b = d.number(11, min(a - 5, 149))
        d.say("{N} loses {b} of them.", "{N} gives {b} {it} to {m}.", "Then {m} takes {b} of the {it}.", "{N} sells {b} {it}.", b=b)
        return d.step("After that {n} has {} {it} in all.", a, "-", b)
    d.thing("box", BOXES)
    x, y = d.number(2, 9), d.number(3, 24)
    d.say("{N} gets {x} {box} with {y} {it} each.", "Then {x} {box} of {y} {it} arrive.", "{N} buys {x} {box}, each with {y} {it}.", x=x, y=y)
    b = d.step("So the {box} hold {} {it} in all.", x, "*", y)
    del d.words["box"]
    return d.step("After that {n} has {} {it} in all.", a, "+", b)


def share(d: Draft) -> None:
    """Two put their things together and pack them in equal parts."""
    d.person("n", "m")
    d.thing("it", THINGS)
    d.thing("box", BOXES)
    k, each = d.number(2, 9), d.number(5, 29)
    a = d.number(3, k * each - 3)
    b = k * each - a
    d.say("{n} has {a} {it} and {m} has {b} {it}.", "{n} brings {a} {it} and {m} brings {b}.", "There are {a} {it} from {n} and {b} from {m}.", a=a, b=b)
    d.say("They put them in {k} equal {box}.", "All of them go into {k} {box}, the same number in each.", "They fill {k} {box} equally with them.", k=k)
    both = d.step("Together {n} and {m} have {} {it}.", a, "+", b)
    each = d.step("So each of the {box} gets {} {it}.", both, "/", k)
    if d.choose(True, False):
        c = d.number(6, 149)
        d.say("Then {c} {it} are added to one of the {box}.", "Later {n} puts {c} more {it} into one of the {box}.", c=c)
        d.say("How many {it} are in it?", "How many {it} does it hold then?")
        d.step("With the new ones it holds {} {it}.", each, "+", c)
    else:
        d.say("How many {it} are in each?", "How many {it} does each hold?")


def baking(d: Draft) -> None:
    """Trays of baked goods; some are eaten; the rest is packed."""
    d.person("n")
    d.thing("it", BAKED)
    d.thing("box", BOXES)
    x, y = d.number(3, 9), d.number(6, 24)
    d.say("{n} bakes {x} trays of {it} with {y} on each tray.", "On each of {x} trays {n} bakes {y} {it}.", "{n} bakes {it} on {x} trays, {y} on each.", x=x, y=y)
    made = d.step("On all the trays there are {} {it}.", x, "*", y)
    k = d.number(2, 6)
    eaten = d.number(4, made - 2)
    d.say("The family eats {e} of them.", "Then {e} {it} are eaten.", "{N} gives {e} of them to her school." if d.words["N"] == "She" else "{N} gives {e} of them to his school.", e=eaten)
    rest = d.step("Then there are {} {it} left over.", made, "-", eaten)
    if rest % k == 0:
        d.say("The rest goes into {k} {box} equally.", "{N} packs the others into {k} equal {box}.", k=k)
        d.say("How many {it} go into each?", "How many {it} does each hold?")
        d.step("So each of the {box} gets {} {it}.", rest, "/", k)
    else:
        d.say("How many {it} are left?", "How many {it} does {n} still have?", "What is the number of {it} left over?")
