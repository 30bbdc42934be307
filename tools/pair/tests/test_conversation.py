"""Training documents: roles, small talk, drills, and streams that go on where they stopped."""

import re

from problems.conversation import conversation
from problems.drill import drill
from problems.sample import split_of
from problems.talk import REPLY


def test_roles_alternate_and_end_with_the_assistant():
    kinds = set()
    for i in range(2000):
        roles = [role for role, _ in conversation(1, i)]
        kinds.add(tuple(roles))
        turns = roles[1:] if roles[0] == "system" else roles
        assert turns == ["user", "assistant"] * (len(turns) // 2)
    assert {("user", "assistant"), ("system", "user", "assistant"), ("user", "assistant", "user", "assistant")} <= kinds


def test_small_talk_has_one_answer():
    replies = sum(("assistant", REPLY) in conversation(1, i) for i in range(2000))
    assert 60 < replies < 160  # 5 of 100 are meant


def test_drills_are_right():
    operations = set()
    for i in range(200):
        pairs = drill(1, i, 10)
        assert len(pairs) == 10
        for left, right in pairs:
            x, operation, y = re.fullmatch(r"(\d+) ([-+*/]) (\d+) =", left).groups()
            operations.add(operation)
            assert eval(f"{x}{operation.replace('/', '//')}{y}") == int(right)
    assert operations == set("+-*/")


def test_conversations_are_reproducible():
    assert conversation(3, 5) == conversation(3, 5)
    assert conversation(3, 5) != conversation(4, 5)
