"""The form of exported files, of models with random weights and of the pair that the program carries. Needs no PyTorch."""

import json
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer

import forward
from documents import encode
from export import export, tensor_name
from problems.sample import problem
from recipe import load
from shape import CONTEXT, Shape
from tokenizer import CHAT_TEMPLATE, END, SPECIAL, texts, train

RECIPE = load(Path(__file__).resolve().parents[1] / "check.toml")
PAIR = Path(__file__).resolve().parents[3] / "models/pair"
SHAPE = Shape(vocabulary=384, width=32, layers=2, heads=2, kv_heads=1, feed_forward=64)


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    tokenizer = train(RECIPE.tokenizer["vocabulary"], texts(RECIPE))
    random = np.random.default_rng(1)
    weights = {k: random.standard_normal(s).astype(np.float32) for k, s in SHAPE.weights().items()}
    provenance = {"seed": 7, "steps": 5, "tokens": 1 << 33, "data_sha256": "ab" * 32}
    path = tmp_path_factory.mktemp("export") / "m.gguf"
    export({"weights": weights, "shape": SHAPE.__dict__, "provenance": provenance}, "m", tokenizer, path)
    return tokenizer, weights, forward.File(path)


def test_matrices_are_halves_and_norms_as_they_were(exported):
    _, weights, file = exported
    assert set(file.tensors) == {tensor_name(k) for k in weights}
    for key, value in weights.items():
        want = value.astype(np.float16) if value.ndim == 2 else value
        np.testing.assert_array_equal(file.tensors[tensor_name(key)], want.astype(np.float64))


def test_the_header_says_what_the_model_is(exported):
    tokenizer, _, file = exported
    m = file.meta
    sizes = {"block_count": 2, "embedding_length": 32, "attention.head_count": 2, "attention.head_count_kv": 1, "feed_forward_length": 64,
             "attention.key_length": 32, "attention.value_length": 32, "context_length": CONTEXT, "vocab_size": 384}
    assert {k: m[f"qwen3.{k}"] for k in sizes} == sizes
    assert m["general.license"] == "apache-2.0"
    assert (m["tokenrouter.training.seed"], m["tokenrouter.training.steps"], m["tokenrouter.training.tokens"]) == (7, 5, 1 << 33)
    assert m["tokenrouter.training.data_sha256"] == "ab" * 32
    assert [tokenizer.token_to_id(t) for t in m["tokenizer.ggml.tokens"]] == list(range(384))
    assert m["tokenizer.ggml.tokens"][m["tokenizer.ggml.eos_token_id"]] == END
    assert m["tokenizer.ggml.pre"] == "qwen2"
    control = [t for t, kind in zip(m["tokenizer.ggml.tokens"], m["tokenizer.ggml.token_type"]) if kind == 3]
    assert control == SPECIAL
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    assert [x.split(" ") for x in m["tokenizer.ggml.merges"]] == [list(x) if not isinstance(x, str) else x.split(" ") for x in merges]
    assert m["tokenizer.chat_template"] == CHAT_TEMPLATE


def test_logits_are_finite_and_see_no_token_to_come(exported):
    _, _, file = exported
    tokens = [3, 1, 4, 1, 5, 9, 2, 6]
    logits = file.logits(tokens)
    assert logits.shape == (len(tokens), 384) and np.isfinite(logits).all()
    np.testing.assert_allclose(file.logits(tokens[:5]), logits[:5], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name, least", [("small", 0.95), ("large", 0.995)])
def test_the_carried_models_know_their_trade(name, least):
    """Behind the right words, the share of tokens of solved problems that the file finds the likeliest (in the trainer's log: 98.7 and
    99.9 %)."""
    file = forward.File(PAIR / f"{name}.gguf")
    ids = {t: i for i, t in enumerate(file.meta["tokenizer.ggml.tokens"])}
    tokenizer = Tokenizer.from_str(carried(file.meta))
    assert all(tokenizer.token_to_id(t) == i for t, i in ids.items())
    right = count = 0
    for p in (problem(1, "validation", i) for i in range(25)):
        d = encode(tokenizer, [("user", p.question), ("assistant", p.response)])
        likeliest = file.logits(d.tokens).argmax(-1)
        for at, learnt in enumerate(d.learnt):
            if learnt:
                right += likeliest[at - 1] == d.tokens[at]
                count += 1
    assert right / count >= least


def carried(meta: dict) -> str:
    """The tokenizer in a file's header, as tokenizer.py writes it."""
    spec = json.loads(train(RECIPE.tokenizer["vocabulary"], texts(RECIPE)).to_str())
    tokens = meta["tokenizer.ggml.tokens"]
    spec["model"]["vocab"] = {t: i for i, t in enumerate(tokens) if t not in SPECIAL}
    spec["model"]["merges"] = [m.split(" ") for m in meta["tokenizer.ggml.merges"]]
    for added in spec["added_tokens"]:
        added["id"] = tokens.index(added["content"])
    return json.dumps(spec)
