"""Heads as train.py and convert.py write them: the native library's score is that of the formulas in docs/heads.md. Needs no PyTorch."""

import math

import gguf
import numpy as np
import pytest

import heads

TOKENS = [(37 * i + 11) % 300 for i in range(48)]
TOP = 100


def embeddings(path) -> np.ndarray:
    tensor = next(t for t in gguf.GGUFReader(path).tensors if t.name == "token_embd.weight")
    return np.array(gguf.quants.dequantize(tensor.data, tensor.tensor_type), np.float64)


def draws(**shapes) -> dict[str, np.ndarray]:
    """Random weights by name with the sizes given; variances are positive."""
    random = np.random.default_rng(4)
    made = {k: (random.standard_normal(s) / math.sqrt(s[-1])).astype(np.float32) for k, s in shapes.items()}
    return {k: abs(v) + 0.1 if "running_var" in k else v for k, v in made.items()}


def norm(x, weight, bias):
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * weight + bias


def gelu(x):
    return x * 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


def citer(e: int) -> tuple[dict, object]:
    w = draws(**{"mlp.0.weight": (2 * e, e), "mlp.0.bias": (2 * e,), "mlp.4.weight": (e, 2 * e), "mlp.4.bias": (e,), "linear.weight": (1, e), "linear.bias": (1,),
                 **{f"mlp.1.{k}": (2 * e,) for k in ("weight", "bias", "running_mean", "running_var")}})

    def score(hidden, embedding, top):
        x = hidden @ w["mlp.0.weight"].T + w["mlp.0.bias"]
        x = (x - w["mlp.1.running_mean"]) / np.sqrt(w["mlp.1.running_var"] + 1e-5) * w["mlp.1.weight"] + w["mlp.1.bias"]
        x = np.maximum(x, 0) @ w["mlp.4.weight"].T + w["mlp.4.bias"]
        return (x @ w["linear.weight"].T + w["linear.bias"])[:, 0]

    return w | {"mlp.1.num_batches_tracked": np.array(9)}, score


def r2r(e: int, width: int = 48, blocks: int = 3) -> tuple[dict, object]:
    linear = {"logits_projection": (e, TOP), "combined_projection": (width, 3 * e), "backbone.input_projection": (width, width), "backbone.output_layer.1": (1, width)}
    norms = ["backbone.output_layer.0"]
    for i in range(blocks):
        b = f"backbone.blocks.{i}"
        linear |= {f"{b}.mlp.0": (2 * width, width), f"{b}.mlp.3": (width, 2 * width)}
        norms.append(f"{b}.layer_norm")
    w = draws(**{f"{k}.weight": s for k, s in linear.items()}, **{f"{k}.bias": (s[0],) for k, s in linear.items()},
              **{f"{k}.{part}": (width,) for k in norms for part in ("weight", "bias")})

    def apply(name, x):
        return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]

    def score(hidden, embedding, top):
        x = np.concatenate([hidden, embedding, apply("logits_projection", top)], -1)
        x = apply("backbone.input_projection", apply("combined_projection", x))
        for i in range(blocks):
            b = f"backbone.blocks.{i}"
            x = x + apply(f"{b}.mlp.3", gelu(apply(f"{b}.mlp.0", norm(x, w[f"{b}.layer_norm.weight"], w[f"{b}.layer_norm.bias"]))))
        return apply("backbone.output_layer.1", norm(x, w["backbone.output_layer.0.weight"], w["backbone.output_layer.0.bias"]))[:, 0]

    return w, score


def co_llm(e: int) -> tuple[dict, object]:
    w = draws(**{"row.weight": (1, e), "row.bias": (1,)})
    return w, lambda hidden, embedding, top: (hidden @ w["row.weight"].T + w["row.bias"])[:, 0]


@pytest.mark.parametrize("algorithm, network", [("citer", citer), ("r2r", r2r), ("co-llm", co_llm)])
@pytest.mark.parametrize("half", [False, True])
def test_the_score_is_that_of_the_formulas(engine, model, tmp_path, algorithm, network, half):
    weights, score = network(engine.info.n_embd)
    heads.write(tmp_path / "h.gguf", algorithm, weights, 0.25, "a head", {"seed": 3, "validation_recall": 0.5, "label": "answer"}, half)
    found = engine.scores(tmp_path / "h.gguf", TOKENS, TOP)
    want = score(found["hidden"].astype(np.float64), embeddings(model)[found["token"]], found["top_logits"].astype(np.float64))
    assert np.std(want) > 1e-2, "the scores say nothing"
    np.testing.assert_allclose(found["score"], want, rtol=1e-2 if half else 1e-3, atol=2e-2 if half else 1e-3)
    meta = {k: f.contents() for k, f in gguf.GGUFReader(tmp_path / "h.gguf").fields.items()}
    assert (meta["general.architecture"], meta["general.name"]) == ("router-head", "a head")
    assert (meta["router-head.algorithm"], meta["router-head.threshold"]) == (algorithm, 0.25)
    assert (meta["tokenrouter.training.seed"], meta["tokenrouter.training.label"]) == (3, "answer")


def test_what_is_no_such_network_is_refused(tmp_path):
    weights, _ = citer(8)
    del weights["mlp.4.bias"]
    with pytest.raises(heads.Unsupported, match="mlp.4.bias"):
        heads.write(tmp_path / "h.gguf", "citer", weights, 0.5, "", {})
    weights, _ = r2r(8)
    with pytest.raises(heads.Unsupported, match="layer_norm_token.weight"):
        heads.write(tmp_path / "h.gguf", "r2r", weights | {"layer_norm_token.weight": np.ones(8)}, 0.5, "", {})
    weights["backbone.output_layer.1.weight"] = np.ones((3, 48), np.float32)
    with pytest.raises(heads.Unsupported, match="several classes"):
        heads.write(tmp_path / "h.gguf", "r2r", weights, 0.5, "", {})
    weights, _ = co_llm(8)
    weights["row.weight"][0, 3] = np.inf
    with pytest.raises(heads.Unsupported, match="not finite"):
        heads.write(tmp_path / "h.gguf", "co-llm", weights, 0.5, "", {})
