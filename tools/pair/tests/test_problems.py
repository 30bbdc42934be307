"""The generator: right arithmetic, disjoint splits, the same bytes from the same seed."""

import hashlib
import re
from collections import Counter

import pytest

from problems import words
from problems.check import Wrong, check
from problems.families import FAMILIES
from problems.sample import SPLITS, problem, split_of

COUNT = 3000
# Computed once; a change means that all models have to be trained again.
DIGEST = "538ce530c8fe686180b26febf67d53ea8eb7e61e2e56c05af2ed03102e879f56"


@pytest.fixture(scope="module")
def problems():
    return {split: [problem(1, split, i) for i in range(COUNT)] for split in SPLITS}


def blank(text: str) -> str:
    """The question without names, things and pronouns: what is left is numbers and wording."""
    gone = {n for n, _ in words.NAMES} | {"She", "He", "her", "his"}
    gone |= set(words.THINGS + words.BOXES + words.PLANTS + words.BAKED + words.WANTED)
    return re.sub(r"\w+", lambda m: "_" if m[0] in gone else m[0], text)


def test_every_step_is_right(problems):
    for split in SPLITS:
        for p in problems[split]:
            try:
                check(p.family, p.question, p.response, p.answer)
            except Wrong as e:
                pytest.fail(f"{e}\n{p.question}\n{p.response}")


def test_every_family_is_drawn_often(problems):
    seen = Counter(p.family for p in problems["test"])
    assert len(FAMILIES) >= 12
    assert set(seen) == {f.__name__ for f in FAMILIES}
    assert min(seen.values()) > COUNT / len(FAMILIES) / 2


def test_questions_of_a_family_come_in_many_wordings(problems):
    forms: dict[str, set[str]] = {}
    for p in problems["train"]:
        forms.setdefault(p.family, set()).add(re.sub(r"\d+", "#", blank(p.question)))
    assert min(map(len, forms.values())) >= 12


def test_names_fit_their_pronouns(problems):
    pronouns = dict(words.NAMES)
    for p in problems["train"]:
        used = set(re.findall(r"\b(?:She|He)\b", p.question))
        people = {pronouns[n] for n in re.findall(r"\w+", p.question) if n in pronouns}
        assert used <= people, p.question


def test_no_problem_is_in_two_splits(problems):
    keys = {split: {p.key for p in problems[split]} for split in SPLITS}
    texts = {split: {blank(p.question) for p in problems[split]} for split in SPLITS}
    for a, b in (("train", "validation"), ("train", "test"), ("validation", "test")):
        assert not keys[a] & keys[b]
        assert not texts[a] & texts[b]
    for split in SPLITS:
        assert {split_of(k) for k in keys[split]} == {split}


def test_the_split_does_not_depend_on_names_or_wording(problems):
    """Equal numbers and operations in other words are the same problem, hence in the same split."""
    owners: dict[str, set[str]] = {}
    for split in SPLITS:
        for p in problems[split]:
            owners.setdefault(p.family + repr(re.findall(r"\d+ [-+*/] \d+", p.response)), set()).add(split)
    shared = [k for k, v in owners.items() if len(v) > 1]
    # Keys hold more than the steps show (say, which of two events took place), so a few steps may agree by chance.
    assert len(shared) < 0.01 * len(owners)


def test_the_response_is_a_function_of_the_question(problems):
    responses: dict[str, str] = {}
    for split in SPLITS:
        for p in problems[split]:
            assert responses.setdefault(p.question, p.response) == p.response


def test_the_same_seed_gives_the_same_bytes(problems):
    digest = hashlib.sha256()
    for split in SPLITS:
        for p in problems[split][:500]:
            digest.update(f"{p.question}\0{p.response}\0".encode())
    assert digest.hexdigest() == DIGEST
    assert problem(1, "test", 7) == problem(1, "test", 7)
    assert problem(2, "test", 7) != problem(1, "test", 7)


def test_a_split_that_is_none_is_an_error():
    with pytest.raises(ValueError, match="expected one of train, validation, test"):
        problem(1, "training", 0)
