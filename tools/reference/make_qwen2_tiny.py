#!/usr/bin/env python3
"""Makes the reference data of the `qwen2` architecture in native/tests/data.

Two tiny models with random weights are built with Transformers' Qwen2ForCausalLM, run in float64 on a few prompts, and
exported as GGUF:

    qwen2-tiny-tied.gguf    F32 weights, output matrix tied to the embedding
    qwen2-tiny-untied.gguf  F16 weights (rounded before the run, so both sides hold the same numbers), own output matrix
    qwen2-tiny-*.golden     logits and hidden states after the final norm (layout: golden.write_golden)
    qwen2-tiny-tokens.json  texts with their token ids, from the tokenizer that both files carry

tools/reference/remake.sh makes an environment and runs this. The files are committed; only a change of this script is
a reason to make them again.
"""

import argparse
import json
from pathlib import Path

import gguf
import numpy as np
import torch
from transformers import Qwen2Config, Qwen2ForCausalLM

from golden import write_golden
from tiny_tokenizer import train

VOCAB, HIDDEN, LAYERS, HEADS, KV_HEADS, FFN, CONTEXT = 320, 64, 2, 4, 2, 96, 512
# RoPE base and epsilon of the norms: Qwen2.5's in one model, others in the other one, so that neither can be taken from
# anywhere but the file.
CONSTANTS = {"tied": (1e6, 1e-6), "untied": (1e4, 1e-2)}
CHAT_TEMPLATE = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>\\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)
TEXTS = [
    "The river runs under the old bridge.",
    "the third stands still",
    " Three mills; 42 stones, and the miller's gate?!\n\n  ok",
    "Größe, naïve café, 水車, 🌊!",
    "<|im_start|>user\nwhy?<|im_end|>\n",
    "",
]


def build(name: str, tied: bool, half: bool, seed: int) -> Qwen2ForCausalLM:
    """A model with weights large enough that attention is not uniform and the logits are spread over several nats, and
    small enough that half-precision keys and values, as the engine keeps them, stay well below the tolerance."""
    theta, eps = CONSTANTS[name]
    config = Qwen2Config(
        vocab_size=VOCAB, hidden_size=HIDDEN, intermediate_size=FFN, num_hidden_layers=LAYERS,
        num_attention_heads=HEADS, num_key_value_heads=KV_HEADS, max_position_embeddings=CONTEXT,
        rms_norm_eps=eps, rope_theta=theta, tie_word_embeddings=tied, attn_implementation="eager",
    )
    model = Qwen2ForCausalLM(config).eval()
    random = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, p in model.named_parameters():
            noise = torch.randn(p.shape, generator=random)
            if "norm" in name:
                value = 1 + 0.2 * noise
            elif name.endswith("bias"):
                value = 0.3 * noise
            elif "embed_tokens" in name:
                value = noise / (4 if tied else 1)
            else:
                value = noise / p.shape[-1] ** 0.5
            # Norms and biases stay F32 in GGUF files, whatever the weights are.
            p.copy_(value.half().float() if half and p.dim() == 2 else value)
    return model


def write_tokenizer(writer: gguf.GGUFWriter, tokenizer) -> None:
    spec = json.loads(tokenizer.to_str())
    vocab = tokenizer.get_vocab(with_added_tokens=True)
    special = {t["content"] for t in spec["added_tokens"]}
    tokens = sorted(vocab, key=vocab.get)
    types = [gguf.TokenType.CONTROL if t in special else gguf.TokenType.NORMAL for t in tokens]
    merges = [m if isinstance(m, str) else " ".join(m) for m in spec["model"]["merges"]]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(tokens)
    writer.add_token_types(types)
    writer.add_token_merges(merges)
    writer.add_eos_token_id(vocab["<|im_end|>"])
    writer.add_bos_token_id(vocab["<|endoftext|>"])
    writer.add_pad_token_id(vocab["<|endoftext|>"])
    writer.add_add_bos_token(False)
    writer.add_chat_template(CHAT_TEMPLATE)


def gguf_name(name: str) -> str:
    """Transformers' parameter name to GGUF's."""
    for a, b in [
        ("model.embed_tokens", "token_embd"), ("model.norm", "output_norm"), ("lm_head", "output"),
        ("model.layers.", "blk."), ("input_layernorm", "attn_norm"), ("post_attention_layernorm", "ffn_norm"),
        ("self_attn.q_proj", "attn_q"), ("self_attn.k_proj", "attn_k"), ("self_attn.v_proj", "attn_v"),
        ("self_attn.o_proj", "attn_output"), ("mlp.gate_proj", "ffn_gate"), ("mlp.up_proj", "ffn_up"),
        ("mlp.down_proj", "ffn_down"),
    ]:
        name = name.replace(a, b)
    return name


def export(path: Path, name: str, model: Qwen2ForCausalLM, tokenizer, half: bool) -> None:
    theta, eps = CONSTANTS[name]
    writer = gguf.GGUFWriter(path, "qwen2")
    writer.add_name(path.stem)
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(HIDDEN)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(FFN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_rope_freq_base(theta)
    writer.add_layer_norm_rms_eps(eps)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_F16 if half else gguf.LlamaFileType.ALL_F32)
    write_tokenizer(writer, tokenizer)
    for name, p in model.named_parameters():  # a tied output matrix appears once, as the embedding
        value = p.detach().float().numpy()
        writer.add_tensor(gguf_name(name), value.astype(np.float16) if half and value.ndim == 2 else value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main() -> None:
    here = Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=here / "native/tests/data")
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    tokenizer = train(VOCAB)
    for name, tied, half, seed in [("tied", True, False, 1), ("untied", False, True, 2)]:
        model = build(name, tied, half, seed)
        export(out / f"qwen2-tiny-{name}.gguf", name, model, tokenizer, half)
        write_golden(out / f"qwen2-tiny-{name}.golden", model)
    rows = [{"text": t, "ids": tokenizer.encode(t).ids} for t in TEXTS]
    lines = ",\n".join(json.dumps(r, ensure_ascii=False) for r in rows)
    (out / "qwen2-tiny-tokens.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
