#!/usr/bin/env python3
"""Trains the pair's tokenizer: byte-level BPE, split as Qwen2 splits (every digit is a token).

    tokenizer.py --recipe recipe.toml --work DIR     writes DIR/tokenizer.json
"""

import argparse
import os
from pathlib import Path

os.environ["TOKENIZERS_PARALLELISM"] = "false"  # one thread: the order of merges must not depend on the machine

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from problems.conversation import conversation
from recipe import Recipe, load

PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
END = "<|end|>"
ROLES = {role: f"<|{role}|>" for role in ("system", "user", "assistant")}
SPECIAL = [END, *ROLES.values()]
CHAT_TEMPLATE = (
    "{%- for message in messages %}"
    "{%- if message['role'] == 'system' or message['role'] == 'developer' %}{{- '<|system|>' + message['content'] | trim }}"
    "{%- elif message['role'] == 'user' %}{{- '<|user|>' + message['content'] | trim }}"
    "{%- elif message['role'] == 'assistant' %}{{- '<|assistant|>' + message['content'] | trim + '<|end|>' }}"
    "{%- else %}{{- raise_exception('the roles that this model knows are system, user and assistant, not ' + message['role']) }}"
    "{%- endif %}{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '<|assistant|>' }}{%- endif %}"
)


def train(vocabulary: int, texts: list[str]) -> Tokenizer:
    """A tokenizer of exactly that many tokens; the special ones come last."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(PATTERN), behavior="isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary - len(SPECIAL), initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()), show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.add_special_tokens([AddedToken(t, special=True, normalized=False) for t in SPECIAL])
    if tokenizer.get_vocab_size() != vocabulary:
        raise SystemExit(f"the text gives {tokenizer.get_vocab_size()} tokens, expected {vocabulary}: lower tokenizer.vocabulary in the recipe")
    return tokenizer


def texts(recipe: Recipe) -> list[str]:
    conversations = (conversation(recipe.seed, i) for i in range(recipe.tokenizer["conversations"]))
    return [text for c in conversations for _, text in c]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recipe", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    a = parser.parse_args()
    recipe = load(a.recipe)
    a.work.mkdir(parents=True, exist_ok=True)
    train(recipe.tokenizer["vocabulary"], texts(recipe)).save(str(a.work / "tokenizer.json"))


if __name__ == "__main__":
    main()
