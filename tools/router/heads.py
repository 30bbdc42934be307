"""Writes heads in the format of docs/heads.md from weights that are named as the official checkpoints name them."""

from pathlib import Path

import gguf
import numpy as np

BATCH_NORM_EPSILON = 1e-5


class Unsupported(ValueError):
    """A checkpoint that is not of the form that docs/heads.md has."""


def take(weights: dict, known: list[str]) -> None:
    missing, strange = [k for k in known if k not in weights], [k for k in weights if k not in known]
    if missing or strange:
        raise Unsupported(f"weights missing: {missing or 'none'}; weights that this form does not have: {strange or 'none'}")


def citer(weights: dict) -> dict:
    """CITER: batch norm goes into the first layer, the last two layers become one."""
    w = {k: np.asarray(v, np.float64) for k, v in weights.items() if not k.endswith("num_batches_tracked")}
    norm = [f"mlp.1.{k}" for k in ("weight", "bias", "running_mean", "running_var")]
    take(w, ["mlp.0.weight", "mlp.0.bias", *norm, "mlp.4.weight", "mlp.4.bias", "linear.weight", "linear.bias"])
    gain, bias, mean, variance = (w[k] for k in norm)
    scale = gain / np.sqrt(variance + BATCH_NORM_EPSILON)
    return {
        "hidden.weight": w["mlp.0.weight"] * scale[:, None],
        "hidden.bias": (w["mlp.0.bias"] - mean) * scale + bias,
        "out.weight": (w["linear.weight"] @ w["mlp.4.weight"])[0],
        "out.bias": w["linear.weight"] @ w["mlp.4.bias"] + w["linear.bias"],
    }


def r2r(weights: dict) -> dict:
    """R2R: names only. The embedding of the token is that of the small model, so a copy of it is left out."""
    w = {k: np.asarray(v) for k, v in weights.items() if k != "token_embeddings.weight"}
    names = {"logits_projection": "logits", "combined_projection": "combine", "backbone.input_projection": "input"}
    for i in range(sum(k.endswith(".layer_norm.weight") and k.startswith("backbone.blocks.") for k in w)):
        block = f"backbone.blocks.{i}"
        names |= {f"{block}.layer_norm": f"block.{i}.norm", f"{block}.mlp.0": f"block.{i}.up", f"{block}.mlp.3": f"block.{i}.down"}
    names |= {"backbone.output_layer.0": "norm", "backbone.output_layer.1": "out"}
    take(w, [f"{n}.{part}" for n in names for part in ("weight", "bias")])
    if len(w["backbone.output_layer.1.weight"]) != 1:
        raise Unsupported("the router has several classes; a head has one score")
    out = {f"{new}.{part}": w[f"{old}.{part}"] for old, new in names.items() for part in ("weight", "bias")}
    out["out.weight"] = out["out.weight"][0]
    return out


def co_llm(weights: dict) -> dict:
    """Co-LLM: the row, and a bias where there is one."""
    return {"out.weight": np.asarray(weights["row.weight"])[0]} | ({"out.bias": np.asarray(weights["row.bias"])} if "row.bias" in weights else {})


FORMS = {"citer": ("mlp", citer), "r2r": ("residual", r2r), "co-llm": ("linear", co_llm)}


def write(path: Path, algorithm: str, weights: dict, threshold: float, name: str, provenance: dict, half: bool = True) -> None:
    """Matrices in half precision unless that would lose them, vectors in full. Provenance: int, float and str by key."""
    kind, form = FORMS[algorithm]
    arrays = form(weights)
    path.parent.mkdir(parents=True, exist_ok=True)
    writer = gguf.GGUFWriter(path, "router-head")
    writer.add_name(name)
    writer.add_string("router-head.kind", kind)
    writer.add_string("router-head.algorithm", algorithm)
    writer.add_float32("router-head.threshold", float(threshold))
    for key, value in provenance.items():
        add = {int: writer.add_uint64, float: writer.add_float32, str: writer.add_string}[type(value)]
        add(f"tokenrouter.training.{key}", value)
    for key, value in arrays.items():
        if not np.isfinite(value).all():
            raise Unsupported(f"{key} has values that are not finite")
        small = half and value.ndim == 2 and np.abs(value).max() < 65504
        writer.add_tensor(key, np.ascontiguousarray(value, np.float16 if small else np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
