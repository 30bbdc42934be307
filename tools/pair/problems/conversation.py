"""Conversations to learn from: mostly one problem; some with a system message, some of two turns, some of small talk."""

from random import Random

from .sample import problem
from .talk import REPLY, remark

Message = tuple[str, str]  # role, text
SYSTEM = [
    "You are a helpful assistant.", "You are a helpful, honest assistant.", "Answer briefly.", "Think step by step.", "You are good at mathematics.",
    "Solve the problem and show your work.", "You are a friendly teacher. Be clear and concise.", "Help the user with the task.", "Be precise.",
]


def conversation(seed: int, index: int) -> list[Message]:
    """Conversation number index for training; its problems are of the training split."""
    random = Random(f"conversation {seed} {index}")
    kind = random.random()
    system = [("system", random.choice(SYSTEM))] if 0.90 <= kind < 0.95 or kind >= 0.985 else []
    if kind < 0.04:
        return [("user", remark(random)), ("assistant", REPLY)]
    turns = turn(seed, 2 * index)
    if kind < 0.07:
        turns = turns + turn(seed, 2 * index + 1)
    elif kind < 0.08:
        turns = [("user", remark(random)), ("assistant", REPLY)] + turns
    return system + turns


def turn(seed: int, index: int) -> list[Message]:
    p = problem(seed, "train", index)
    return [("user", p.question), ("assistant", p.response)]
