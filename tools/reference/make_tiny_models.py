#!/usr/bin/env python3
"""Makes the reference data of the architectures llama, qwen3, qwen3moe and gemma3 in native/tests/data.

Tiny models with random weights are built with Transformers' own implementation, run in float64 on a few prompts, and
exported as GGUF without a tokenizer. What each one is there for is said where it is described, below.

    *-tiny*.gguf     F32 weights, or F16 (rounded before the run, so both sides hold the same numbers)
    *-tiny*.golden   logits and hidden states after the final norm (layout: golden.write_golden)

tools/reference/remake.sh makes an environment and runs this. The files are committed; only a change of this script is a
reason to make them again.
"""

import argparse
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

import gguf
import numpy as np
import torch
from transformers import (
    Gemma3ForCausalLM, Gemma3TextConfig, LlamaConfig, LlamaForCausalLM, Qwen3Config, Qwen3ForCausalLM, Qwen3MoeConfig,
    Qwen3MoeForCausalLM,
)

from golden import write_golden

VOCAB, CONTEXT = 96, 512
COMMON = dict(
    vocab_size=VOCAB, hidden_size=64, intermediate_size=96, num_attention_heads=4, num_key_value_heads=2,
    max_position_embeddings=CONTEXT, attn_implementation="eager",
)


@dataclass
class Tiny:
    name: str
    architecture: str
    model: Callable
    config: object
    half: bool = False                            # F16 weights
    keys: dict = field(default_factory=dict)      # GGUF metadata beyond what all have
    factors: np.ndarray | None = None             # rope_freqs.weight
    absent: tuple[str, ...] = ()                  # parameters that the format has no place for: zero


def llama3_factors(theta: float, head_dim: int, rope: dict) -> np.ndarray:
    """What Llama 3.1 divides each frequency by: nothing for short wavelengths, `factor` for long ones, a ramp between."""
    out = []
    for i in range(head_dim // 2):
        wavelength = 2 * math.pi * theta ** (2 * i / head_dim)
        turns = rope["original_max_position_embeddings"] / wavelength
        low, high = rope["low_freq_factor"], rope["high_freq_factor"]
        smooth = min(1.0, max(0.0, (turns - low) / (high - low)))
        out.append(1 / ((1 - smooth) / rope["factor"] + smooth))
    return np.array(out, np.float32)


def models() -> list[Tiny]:
    llama3 = dict(rope_type="llama3", rope_theta=1e4, factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
                  original_max_position_embeddings=128)
    linear = dict(rope_type="linear", rope_theta=1e4, factor=4.0)
    yarn = dict(rope_type="yarn", rope_theta=1e4, factor=4.0, original_max_position_embeddings=128)
    plain = dict(rope_type="default", rope_theta=1e6)
    yarn_keys = {"rope.scaling.type": "yarn", "rope.scaling.factor": 4.0, "rope.scaling.original_context_length": 128}
    linear_keys = {"rope.scaling.type": "linear", "rope.scaling.factor": 4.0}
    return [
        # Rows of queries and keys in Llama's order, Llama 3.1's factors, a tied output matrix.
        Tiny("llama-tiny-llama3", "llama", LlamaForCausalLM,
             LlamaConfig(**COMMON, num_hidden_layers=2, tie_word_embeddings=True, rms_norm_eps=1e-5, rope_parameters=llama3),
             factors=llama3_factors(1e4, 16, llama3)),
        # Linear scaling, biases in Llama's order, an output matrix of its own.
        Tiny("llama-tiny-linear", "llama", LlamaForCausalLM,
             LlamaConfig(**COMMON, num_hidden_layers=2, tie_word_embeddings=False, rms_norm_eps=1e-5, rope_parameters=linear,
                         attention_bias=True),
             half=True, keys=linear_keys, absent=("o_proj.bias",)),
        # Heads wider than the embedding shared out, norms of heads.
        Tiny("qwen3-tiny-tied", "qwen3", Qwen3ForCausalLM,
             Qwen3Config(**COMMON, num_hidden_layers=2, head_dim=32, tie_word_embeddings=True, rms_norm_eps=1e-6, rope_parameters=plain),
             half=True),
        # YaRN.
        Tiny("qwen3-tiny-yarn", "qwen3", Qwen3ForCausalLM,
             Qwen3Config(**COMMON, num_hidden_layers=2, head_dim=32, tie_word_embeddings=False, rms_norm_eps=1e-6, rope_parameters=yarn),
             half=True, keys=yarn_keys),
        # Three of eight experts.
        Tiny("qwen3moe-tiny", "qwen3moe", Qwen3MoeForCausalLM,
             Qwen3MoeConfig(**COMMON, num_hidden_layers=2, head_dim=16, tie_word_embeddings=False, rms_norm_eps=1e-6, rope_parameters=plain,
                            num_experts=8, num_experts_per_tok=3, moe_intermediate_size=32, norm_topk_prob=True, decoder_sparse_step=1, experts_implementation="eager"),
             half=True,
             keys={"expert_count": 8, "expert_used_count": 3, "expert_feed_forward_length": 32}),
        # A window of 48 in all layers but the sixth, which has linear scaling; norms after each part; GELU; scaled embeddings.
        Tiny("gemma3-tiny", "gemma3", Gemma3ForCausalLM,
             Gemma3TextConfig(**COMMON, num_hidden_layers=7, head_dim=32, query_pre_attn_scalar=32, sliding_window=48, rms_norm_eps=1e-6,
                              hidden_activation="gelu_pytorch_tanh",
                              layer_types=["full_attention" if (i + 1) % 6 == 0 else "sliding_attention" for i in range(7)],
                              rope_parameters={"full_attention": dict(rope_type="linear", rope_theta=1e6, factor=4.0),
                                               "sliding_attention": dict(rope_type="default", rope_theta=1e4)}),
             half=True, keys={"attention.sliding_window": 48, **linear_keys}),
    ]


def randomize(tiny: Tiny, model, seed: int) -> None:
    """Weights large enough that attention is not uniform and the logits are spread over several nats, and small enough
    that half-precision keys and values, as the engine keeps them, stay well below the tolerance."""
    random = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, p in model.named_parameters():
            noise = torch.randn(p.shape, generator=random)
            if name.endswith(tiny.absent) and tiny.absent:
                value = torch.zeros_like(noise)
            elif "norm" in name:
                value = 0.2 * noise + (0 if tiny.architecture == "gemma3" else 1)
            elif name.endswith("bias"):
                value = 0.3 * noise
            elif "embed_tokens" in name:
                value = noise / (4 if tiny.config.tie_word_embeddings else 1)
            else:
                value = noise / p.shape[-1] ** 0.5
            p.copy_(value.half().float() if tiny.half and p.dim() >= 2 else value)


NAMES = [
    ("model.embed_tokens", "token_embd"), ("model.norm", "output_norm"), ("lm_head", "output"), ("model.layers.", "blk."),
    ("self_attn.q_norm", "attn_q_norm"), ("self_attn.k_norm", "attn_k_norm"), ("self_attn.q_proj", "attn_q"),
    ("self_attn.k_proj", "attn_k"), ("self_attn.v_proj", "attn_v"), ("self_attn.o_proj", "attn_output"),
    ("mlp.gate_proj", "ffn_gate"), ("mlp.up_proj", "ffn_up"), ("mlp.down_proj", "ffn_down"), ("mlp.gate.", "ffn_gate_inp."),
    ("input_layernorm", "attn_norm"), ("pre_feedforward_layernorm", "ffn_norm"), ("post_feedforward_layernorm", "post_ffw_norm"),
]


def gguf_name(tiny: Tiny, name: str) -> str:
    """Transformers' parameter name to GGUF's."""
    for a, b in NAMES:
        name = name.replace(a, b)
    return name.replace("post_attention_layernorm", "post_attention_norm" if tiny.architecture == "gemma3" else "ffn_norm")


def tensors(tiny: Tiny, model):
    """(name, values) as GGUF files hold them."""
    for name, p in model.named_parameters():  # a tied output matrix appears once, as the embedding
        if tiny.absent and name.endswith(tiny.absent):
            continue
        value = p.detach().float().numpy()
        target = gguf_name(tiny, name)
        if tiny.architecture == "llama" and ("q_proj" in name or "k_proj" in name):
            heads = tiny.config.num_attention_heads if "q_proj" in name else tiny.config.num_key_value_heads
            halves = value.reshape(heads, 2, -1, *value.shape[1:])  # [head][half][pair]: neighbours in the file
            value = np.ascontiguousarray(halves.swapaxes(1, 2)).reshape(value.shape)
        if tiny.architecture == "gemma3" and "norm" in name:
            value = value + 1
        if name.endswith("experts.gate_up_proj"):  # [expert][gate rows, then up rows][n_embd]
            block = target.split(".mlp")[0]
            gate, up = np.split(value, 2, axis=1)
            yield f"{block}.ffn_gate_exps.weight", np.ascontiguousarray(gate)
            yield f"{block}.ffn_up_exps.weight", np.ascontiguousarray(up)
        elif name.endswith("experts.down_proj"):
            yield f"{target.split('.mlp')[0]}.ffn_down_exps.weight", value
        else:
            yield target, value


def export(path: Path, tiny: Tiny, model) -> None:
    c = tiny.config
    writer = gguf.GGUFWriter(path, tiny.architecture)
    writer.add_name(tiny.name)
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(c.hidden_size)
    writer.add_block_count(c.num_hidden_layers)
    writer.add_feed_forward_length(c.intermediate_size)
    writer.add_head_count(c.num_attention_heads)
    writer.add_head_count_kv(c.num_key_value_heads)
    writer.add_key_length(c.head_dim)
    writer.add_value_length(c.head_dim)
    rope = c.rope_parameters
    writer.add_rope_freq_base(rope.get("full_attention", rope)["rope_theta"])
    writer.add_layer_norm_rms_eps(c.rms_norm_eps)
    for key, value in tiny.keys.items():
        add = {int: writer.add_uint32, float: writer.add_float32, str: writer.add_string}[type(value)]
        add(f"{tiny.architecture}.{key}", value)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_F16 if tiny.half else gguf.LlamaFileType.ALL_F32)
    if tiny.factors is not None:
        writer.add_tensor("rope_freqs.weight", tiny.factors)
    for name, value in tensors(tiny, model):
        writer.add_tensor(name, value.astype(np.float16) if tiny.half and value.ndim >= 2 else value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main() -> None:
    here = Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=here / "native/tests/data")
    out = parser.parse_args().out
    for seed, tiny in enumerate(models(), 11):
        model = tiny.model(tiny.config).eval()
        randomize(tiny, model, seed)
        export(out / f"{tiny.name}.gguf", tiny, model)
        write_golden(out / f"{tiny.name}.golden", model)


if __name__ == "__main__":
    main()
