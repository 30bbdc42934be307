"""The checker finds what is wrong."""

import pytest

from problems.check import Wrong, check

QUESTION = "Mia has 24 apples. She gives 9 to Tom. How many apples does Mia have now?"
RIGHT = "After that Mia has 24 - 9 = 15 apples in all.\nAnswer: 15"


def test_a_right_response_passes():
    check("stock", QUESTION, RIGHT, 15)


@pytest.mark.parametrize(
    ("old", "new", "answer", "complaint"),
    [
        ("= 15", "= 16", 15, "24 - 9 is not 16"),
        ("24 -", "25 -", 15, "25 - 9 is not 15"),
        ("24 - 9 = 15", "25 - 10 = 15", 15, "25 is neither given nor worked out"),
        ("Answer: 15", "Answer: 14", 15, "expected 'Answer: 15'"),
        ("24 - 9 = 15 apples in all.", "24 + 9 = 33 apples.\nAfter that Mia has 24 - 9 = 15 apples.", 15, "not used"),
        ("Mia", "Ben", 15, "names that are not in the question: Ben"),
        ("apples", "pens", 15, "things that are not in the question: pens"),
        ("24 - 9 = 15", "15", 15, "is no step"),
        ("After that Mia has 24 - 9 = 15 apples in all.\n", "", 15, "there are no steps"),
    ],
)
def test_a_wrong_response_is_found(old, new, answer, complaint):
    with pytest.raises(Wrong, match=complaint.replace("+", r"\+")):
        check("stock", QUESTION, RIGHT.replace(old, new), answer)
