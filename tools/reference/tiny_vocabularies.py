#!/usr/bin/env python3
"""Writes models/tokenizer/testdata/families: a tiny vocabulary of every family of tokenizers, as a GGUF file without tensors,
and what the reference implementations make of texts with it.

    python -m venv .venv && .venv/bin/pip install tokenizers==0.23.3 sentencepiece==0.2.3 gguf==0.19.0
    .venv/bin/python tools/reference/tiny_vocabularies.py

Byte-level families are trained and encoded by Hugging Face's tokenizers, with the pre-tokenizer that the family's
tokenizer.json describes; those of the type "llama" by SentencePiece itself.
"""

import io
import json
import pathlib
import re

import gguf
import sentencepiece
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

HERE = pathlib.Path(__file__).resolve().parent
OUT = HERE.parents[1] / "models/tokenizer/testdata/families"

LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
          r"|\s+(?!\S)|\s+")
QWEN2 = LLAMA3.replace("{1,3}", "")


def split(pattern):
    return pre_tokenizers.Split(Regex(pattern), behavior="isolated")


BYTES = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
GPT2 = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)

# name: (steps of the pre-tokenizer, control tokens, user-defined tokens)
BYTE_LEVEL = {
    "llama-bpe": ([split(LLAMA3), BYTES], ["<|begin_of_text|>", "<|end_of_text|>", "<|eot_id|>"], []),
    "qwen2": ([split(QWEN2), BYTES], ["<|endoftext|>", "<|im_start|>", "<|im_end|>"], ["<tool_call>", "</tool_call>"]),
    "deepseek-r1-qwen": ([split(QWEN2), BYTES], ["<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>", "<｜User｜>"], ["<think>", "</think>"]),
    "smollm": ([pre_tokenizers.Digits(individual_digits=True), GPT2], ["<|endoftext|>", "<|im_start|>", "<|im_end|>"], []),
    "gpt-2": ([GPT2], ["<|endoftext|>"], []),
    "default": ([split(r"[\p{P}\$\+<=>\^~\|]+"),
                 split(r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)"),
                 split(r"\p{N}+"), split("[0-9][0-9][0-9]"), BYTES], ["<|endoftext|>"], []),
}

CORPUS = """The river runs under the old bridge, and the road runs over it. When the water is high the miller opens the gate; when
it is low he waits. There are three mills on the river: the first grinds wheat, the second saws timber, the third stands still.
It's said that they've stopped because we'll never pay: "I'm done", he'd say, "you're late, and don't ask".
In 1847 the flood took 12,350 sacks, 1200 planks and 99 wheels; in 2024 it took 3.14159 litres. 100% of it, at $5 a litre!
Größe, naïve, café, déjà vu, Ωμέγα, Привет, мир! Как дела? 你好，世界。今天天气很好。日本語のテキスト、です。こんにちは世界。한국어 문장입니다.
def mill(river, gate=None):
    for sack in range(10):
        if gate is None or river[sack] >= 42:
            print(f"{sack}: {river[sack] ** 2}")
        return {'sacks': sack, "ok": True}  # done

\tfunc main() {\n\t\tfmt.Println("hello, world")\n\t}
<html><body class="wide"><p>One &amp; two</p></body></html>  🙂🙂 👍🏽 🇩🇪 ½ ² ٣٤٥ x² + y² = z²
""" * 4

TEXTS = [
    "Hello world", " Hello  world ", "the river's gate isn't high; WE'LL wait, they'VE gone", "it's 'sad 'tis", "a'ſs",
    "1 12 123 1234 12345 1234567 3.14159 -42 1,000,000", "x² + y² = ½ ٣٤٥ Ⅷ", "In 2024-10-31 at 23:59:59",
    "  leading", "trailing  ", "   ", " ", "\n", "\n\n\n", " \n \n", "a\n\nb\n", "a\r\nb\r\n", "\t\tif x:\n\t\t\treturn\n", "a \t b",
    "def f(x):\n    return x ** 2  # square\n", "<html>\n<head>\n<title>x</title>", "print(\"hello\\n\")", "a_b__c camelCase SCREAM",
    "Größe naïve café déjà vu", "e\u0301 combining a\u0308", "Привет, мир!", "Ωμέγα", "你好，世界。今天天气很好", "日本語のテキスト、です。", "한국어 문장",
    "हिन्दी ไทย עברית العربية", "🙂", "🙂🙂🙂 👍🏽 👩‍👩‍👧 🇩🇪", "a🙂b", "\u00a0nbsp\u2003em\u3000wide\u200bzero\ufeffbom",
    "...!!!??? --- *** === <<<>>> $$$ ~~~ ^^^ ||| +++", "(a)[b]{c} \"d\" 'e' `f` <g>", "https://example.org/a?b=c&d=%20#e", "\u0000\u0001\u007f",
    "e" * 40, "ab" * 20, "the" * 15, " " * 37, "\n" * 33, "\t" * 9, "word " * 12, "世界" * 10, "😀" * 7,
    "<|im_start|>user\nhi<|im_end|>", "<s>[INST] hi [/INST]</s>", "<|endoftext|>", "<tool_call>{}</tool_call>", "<think>\nok\n</think>\n\nyes",
    "<0x0A><0xFF>", "<unk>", "<start_of_turn>user\nhi<end_of_turn>", "\U000f0000 private \ue000", "mill, mills and millers; grind, grinds",
]


def write(name, kind, pre, pieces, merges=None, scores=None, **keys):
    w = gguf.GGUFWriter(OUT / f"{name}.gguf", "llama")
    w.add_name(f"tiny {name}")
    w.add_tokenizer_model(kind)
    w.add_tokenizer_pre(pre)
    w.add_token_list([text for text, _ in pieces])
    w.add_token_types([t for _, t in pieces])
    if scores is not None:
        w.add_token_scores(scores)
    if merges is not None:
        w.add_token_merges(merges)
    for key, value in keys.items():
        if isinstance(value, bool):
            w.add_bool(f"tokenizer.ggml.{key}", value)
        else:
            w.add_uint32(f"tokenizer.ggml.{key}", value)
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.close()


def byte_level(name):
    steps, control, user = BYTE_LEVEL[name]
    whole = name == "llama-bpe"
    t = Tokenizer(models.BPE(ignore_merges=whole))
    t.pre_tokenizer = pre_tokenizers.Sequence(steps)
    t.decoder = decoders.ByteLevel()
    t.train_from_iterator([CORPUS], trainers.BpeTrainer(
        vocab_size=700, initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()), show_progress=False))
    if whole:  # a word that no merges make: only taking words whole finds it
        state = json.loads(t.to_str())
        state["model"]["vocab"]["Ġisn"] = len(state["model"]["vocab"])
        t = Tokenizer.from_str(json.dumps(state))
    base = t.get_vocab_size()
    plain = {text: t.encode(text).ids for text in TEXTS}
    special = {}
    t.add_tokens([AddedToken(x, special=False, normalized=False) for x in user])
    with_user = {text: t.encode(text, add_special_tokens=False).ids for text in TEXTS}
    t.add_special_tokens([AddedToken(x, special=True, normalized=False) for x in control])
    special = {text: t.encode(text, add_special_tokens=False).ids for text in TEXTS}
    state = json.loads(t.to_str())["model"]
    pieces = [None] * t.get_vocab_size()
    for text, i in t.get_vocab().items():
        pieces[i] = (text, gguf.TokenType.CONTROL if text in control else gguf.TokenType.USER_DEFINED if text in user else gguf.TokenType.NORMAL)
    merges = [m if isinstance(m, str) else " ".join(m) for m in state["merges"]]
    assert base + len(user) + len(control) == len(pieces) and None not in pieces
    bos = pieces.index((control[0], gguf.TokenType.CONTROL))
    write(name, "gpt2", name, pieces, merges, bos_token_id=bos, eos_token_id=bos + len(control) - 1)
    assert user or plain == with_user
    return [{"text": x, "ids": with_user[x], "special": special[x]} for x in TEXTS]


def sentence_piece(name, prefix, user, control):
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(CORPUS.split("\n")), model_writer=model, model_type="bpe", vocab_size=900, byte_fallback=True,
        character_coverage=0.98, normalization_rule_name="identity", remove_extra_whitespaces=False, add_dummy_prefix=prefix,
        split_digits=True, allow_whitespace_only_pieces=True, user_defined_symbols=user, control_symbols=control,
        unk_id=0, bos_id=1, eos_id=2, minloglevel=2)
    p = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    pieces, scores = [], []
    for i in range(p.get_piece_size()):
        kind = gguf.TokenType.NORMAL
        text = p.id_to_piece(i)
        if p.is_unknown(i):
            kind = gguf.TokenType.UNKNOWN
        elif p.is_byte(i):
            kind = gguf.TokenType.BYTE
        elif p.is_control(i):
            kind = gguf.TokenType.CONTROL
        elif text in user:  # files have these with plain spaces
            kind, text = gguf.TokenType.USER_DEFINED, text.replace("▁", " ")
        pieces.append((text, kind))
        scores.append(p.get_score(i))
    keys = {} if prefix else {"add_space_prefix": False}  # True is what a file means that does not say
    write(name, "llama", "default", pieces, None, scores, bos_token_id=1, eos_token_id=2, unknown_token_id=0, **keys)
    cases = []
    for text in TEXTS:
        ids = p.encode(text)
        assert p.decode(ids) == text, text
        cases.append({"text": text, "ids": ids})
    return cases


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    out = {name: byte_level(name) for name in BYTE_LEVEL}
    out["llama"] = sentence_piece("llama", True, [], [])
    out["gemma"] = sentence_piece(
        "gemma", False, [c * n for c in "\n\t▁" for n in range(1 if c != "▁" else 2, 12)] + ["[multimodal]"], ["<start_of_turn>", "<end_of_turn>"])
    lines = [json.dumps(name) + ": [\n" + ",\n".join(json.dumps(c, ensure_ascii=False) for c in cases) + "]" for name, cases in out.items()]
    text = "{" + ",\n".join(lines) + "}\n"
    (OUT / "cases.json").write_text(re.sub(r"(\d), (?=\d)", r"\1,", text))


if __name__ == "__main__":
    main()
