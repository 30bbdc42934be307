"""A byte-level BPE tokenizer of a few hundred tokens, in the manner of Qwen2's.

It is learnt from the text below, so that the tiny reference models carry a tokenizer which is small, real and the same
on every run. The pre-tokenizer's pattern is Qwen2's (tokenizer.ggml.pre = "qwen2").
"""

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
TEXT = """The river runs under the old bridge, and the road runs over it. When the water is high the miller opens
the gate; when it is low he waits. There are three mills on the river: the first grinds wheat, the second saws timber,
the third stands still. Nobody knows why the third one stopped. They say that its wheel was taken in the winter of the
great flood, and that the stones are still there under the water, turning a little when the moon is full.
"""


def train(vocab_size: int) -> Tokenizer:
    """Returns a tokenizer of exactly vocab_size tokens, the special ones last, as in Qwen2."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PATTERN), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size - len(SPECIAL),
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator([TEXT], trainer)
    tokenizer.add_special_tokens([AddedToken(t, special=True, normalized=False) for t in SPECIAL])
    if tokenizer.get_vocab_size() != vocab_size:
        raise SystemExit(f"the tokenizer has {tokenizer.get_vocab_size()} tokens, expected {vocab_size}")
    return tokenizer
