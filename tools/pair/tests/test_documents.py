"""What the models are trained on, as tokens: the tokenizer, and what of a conversation is learnt. Needs no PyTorch."""

from pathlib import Path

import pytest

from documents import encode, encode_drill
from problems.sample import problem
from recipe import load
from tokenizer import END, SPECIAL, texts, train

RECIPE = load(Path(__file__).resolve().parents[1] / "check.toml")


@pytest.fixture(scope="module")
def tokenizer():
    return train(RECIPE.tokenizer["vocabulary"], texts(RECIPE))


def test_the_tokenizer_has_the_size_that_the_recipe_says_and_loses_nothing(tokenizer):
    assert tokenizer.get_vocab_size() == RECIPE.tokenizer["vocabulary"]
    assert [tokenizer.id_to_token(tokenizer.get_vocab_size() - len(SPECIAL) + i) for i in range(len(SPECIAL))] == SPECIAL
    for p in (problem(1, "validation", i) for i in range(50)):
        for text in (p.question, p.response):
            ids = tokenizer.encode(text).ids
            assert tokenizer.decode(ids) == text
            pieces = [tokenizer.id_to_token(i) for i in ids]
            assert all(len(t) == 1 for t in pieces if any(c.isdigit() for c in t)), "every digit is a token"


def test_the_same_texts_give_the_same_tokenizer(tokenizer):
    assert train(RECIPE.tokenizer["vocabulary"], texts(RECIPE)).to_str() == tokenizer.to_str()


def test_only_the_assistant_is_learnt(tokenizer):
    d = encode(tokenizer, [("system", "Be kind."), ("user", "What is 2 + 3?"), ("assistant", "It is 5.")])
    learnt = [t for t, l in zip(d.tokens, d.learnt) if l]
    assert tokenizer.decode(learnt, skip_special_tokens=False) == "It is 5." + END
    assert not any(d.worked)
    assert tokenizer.decode(d.tokens, skip_special_tokens=False) == "<|system|>Be kind.<|user|>What is 2 + 3?<|assistant|>It is 5." + END


def test_results_are_told_from_what_is_copied(tokenizer):
    d = encode(tokenizer, [("user", "What is 25 + 38 = ?"), ("assistant", "It is 25 + 38 = 63.\nAnswer: 63")])
    assert len(d.tokens) == len(d.learnt) == len(d.worked)
    assert tokenizer.decode([t for t, w in zip(d.tokens, d.worked) if w]) == "63"
    drill = encode_drill(tokenizer, [("25 + 38 =", " 63")])
    assert tokenizer.decode([t for t, w in zip(drill.tokens, drill.learnt) if w]) == " 63"
