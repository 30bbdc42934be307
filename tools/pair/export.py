#!/usr/bin/env python3
"""Writes a trained model as GGUF: architecture qwen3, matrices F16, norms F32, with tokenizer, chat template, provenance.

    export.py NAME --recipe recipe.toml --work DIR --out models/pair/small.gguf
"""

import argparse
import json
from pathlib import Path

import gguf
import numpy as np
from tokenizers import Tokenizer

from recipe import load
from shape import CONTEXT, EPSILON, THETA
from tokenizer import CHAT_TEMPLATE, END, SPECIAL

TENSORS = {
    "attn_norm": "attn_norm", "ffn_norm": "ffn_norm", "q_norm": "attn_q_norm", "k_norm": "attn_k_norm", "q": "attn_q", "k": "attn_k",
    "v": "attn_v", "o": "attn_output", "gate": "ffn_gate", "up": "ffn_up", "down": "ffn_down",
}


def tensor_name(name: str) -> str:
    """The name in GGUF of a weight of model.Model."""
    if name == "embedding.weight":
        return "token_embd.weight"
    if name == "norm.weight":
        return "output_norm.weight"
    _, block, part, _ = name.split(".")
    return f"blk.{block}.{TENSORS[part]}.weight"


def write_shape(writer: gguf.GGUFWriter, shape: dict) -> None:
    writer.add_context_length(CONTEXT)
    writer.add_vocab_size(shape["vocabulary"])
    writer.add_embedding_length(shape["width"])
    writer.add_block_count(shape["layers"])
    writer.add_feed_forward_length(shape["feed_forward"])
    writer.add_head_count(shape["heads"])
    writer.add_head_count_kv(shape["kv_heads"])
    writer.add_key_length(shape["head"])
    writer.add_value_length(shape["head"])
    writer.add_rope_freq_base(THETA)
    writer.add_layer_norm_rms_eps(EPSILON)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_F16)


def write_tokenizer(writer: gguf.GGUFWriter, tokenizer: Tokenizer) -> None:
    spec = json.loads(tokenizer.to_str())
    vocabulary = tokenizer.get_vocab(with_added_tokens=True)
    tokens = sorted(vocabulary, key=vocabulary.get)
    merges = [m if isinstance(m, str) else " ".join(m) for m in spec["model"]["merges"]]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(tokens)
    writer.add_token_types([gguf.TokenType.CONTROL if t in SPECIAL else gguf.TokenType.NORMAL for t in tokens])
    writer.add_token_merges(merges)
    writer.add_eos_token_id(vocabulary[END])
    writer.add_pad_token_id(vocabulary[END])
    writer.add_add_bos_token(False)
    writer.add_chat_template(CHAT_TEMPLATE)


def write_provenance(writer: gguf.GGUFWriter, name: str, provenance: dict) -> None:
    writer.add_name(f"TokenRouter word problems, {name}")
    writer.add_license("apache-2.0")
    writer.add_description("Solves generated word problems step by step; trained from random weights by tools/pair of TokenRouter.")
    writer.add_uint32("tokenrouter.training.seed", provenance["seed"])
    writer.add_uint32("tokenrouter.training.steps", provenance["steps"])
    writer.add_uint64("tokenrouter.training.tokens", provenance["tokens"])
    writer.add_string("tokenrouter.training.data_sha256", provenance["data_sha256"])


def export(saved: dict, name: str, tokenizer: Tokenizer, out: Path) -> None:
    """saved is as train.py writes it; the weights may be arrays of NumPy."""
    out.parent.mkdir(parents=True, exist_ok=True)
    writer = gguf.GGUFWriter(out, "qwen3")
    write_provenance(writer, name, saved["provenance"])
    write_shape(writer, saved["shape"])
    write_tokenizer(writer, tokenizer)
    for key, weight in saved["weights"].items():
        value = np.asarray(weight)
        writer.add_tensor(tensor_name(key), value.astype(np.float16) if value.ndim == 2 else value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name")
    parser.add_argument("--recipe", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    a = parser.parse_args()
    load(a.recipe).model(a.name)
    import torch  # here, since all else does without

    export(torch.load(a.work / f"{a.name}.pt", weights_only=True), a.out.stem, Tokenizer.from_file(str(a.work / "tokenizer.json")), a.out)
    print(f"{a.out}: {a.out.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
