package tinygguf

import (
	"fmt"
	"strings"
)

// Token types of tokenizer.ggml.token_type.
const (
	tokenNormal  = 1
	tokenControl = 3
	tokenUnused  = 5
)

// merges of the tokenizer, in rank order, in the byte alphabet ("Ġ" is a space).
var merges = []string{
	"Ġ t", "h e", "Ġt he", "i n", "r e", "o n", "e r", "a t", "Ġ a", "e n", "Ġ w", "o r", "i t", "i s", "o u",
	"in g", "a n", "e s", "Ġ s", "Ġ o", "Ġo f", "n d", "a nd", "Ġ and",
}

// Control tokens, after the merges.
var controls = []string{"<|endoftext|>", "<|im_start|>", "<|im_end|>"}

// chatTemplate is ChatML, the layout of conversations of the Qwen2 family.
const chatTemplate = `{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n' }}{% endfor %}` +
	`{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}`

func smallestVocab() int { return 256 + len(merges) + len(controls) }

// byteAlphabet maps each byte to the character that stands for it in a byte-level BPE vocabulary (GPT-2): printable
// Latin-1 characters stand for themselves, the others for U+0100 onwards, in order.
func byteAlphabet() [256]rune {
	var a [256]rune
	next := rune(0x100)
	for b := range a {
		switch {
		case b >= '!' && b <= '~', b >= 0xA1 && b <= 0xAC, b >= 0xAE:
			a[b] = rune(b)
		default:
			a[b] = next
			next++
		}
	}
	return a
}

// tokenizerMetadata describes a vocabulary of n tokens: 256 bytes, the merges, the control tokens, padding.
func tokenizerMetadata(n int) []pair {
	tokens := make([]string, 0, n)
	kinds := make([]int32, 0, n)
	add := func(token string, kind int32) { tokens, kinds = append(tokens, token), append(kinds, kind) }
	for _, r := range byteAlphabet() {
		add(string(r), tokenNormal)
	}
	for _, m := range merges {
		add(strings.ReplaceAll(m, " ", ""), tokenNormal)
	}
	first := uint32(len(tokens)) // id of the first control token
	for _, c := range controls {
		add(c, tokenControl)
	}
	for i := 0; len(tokens) < n; i++ {
		add(fmt.Sprintf("[PAD%d]", i), tokenUnused)
	}
	return []pair{
		{"tokenizer.ggml.model", "gpt2"},
		{"tokenizer.ggml.pre", "qwen2"},
		{"tokenizer.ggml.tokens", tokens},
		{"tokenizer.ggml.token_type", kinds},
		{"tokenizer.ggml.merges", merges},
		{"tokenizer.ggml.bos_token_id", first},
		{"tokenizer.ggml.eos_token_id", first + 2},
		{"tokenizer.ggml.padding_token_id", first},
		{"tokenizer.ggml.add_bos_token", false},
		{"tokenizer.chat_template", chatTemplate},
	}
}
