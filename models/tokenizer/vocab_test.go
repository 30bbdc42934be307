package tokenizer_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/models/gguf"
	"github.com/tokenrouter/tokenrouter/models/modelstest"
	"github.com/tokenrouter/tokenrouter/models/tokenizer"
)

// without gives a vocabulary without one token.
func without(text string) []string {
	tokens := modelstest.Tokens()
	i := slices.Index(tokens, text)
	tokens[i] = "replaced"
	return tokens
}

func TestVocabulariesThatContradictThemselves(t *testing.T) {
	types := func(last int32) []int32 {
		out := make([]int32, len(modelstest.Tokens()))
		for i := range out {
			out[i] = 1
		}
		out[len(out)-1] = last
		return out
	}
	merges := func(add string) []string { return append(modelstest.Merges(), add) }
	for want, set := range map[string]func(*gguf.Writer){
		`tokenizer type "bert" (tokenizer.ggml.model) is not supported, expected one of gpt2, llama`: func(w *gguf.Writer) {
			w.Set("tokenizer.ggml.model", "bert")
		},
		`pre-tokenizer "smaug-bpe" (tokenizer.ggml.pre) is not supported, expected one of deepseek-r1-qwen, default, gpt-2, llama-bpe, qwen2, smollm`: func(w *gguf.Writer) {
			w.Set("tokenizer.ggml.pre", "smaug-bpe")
		},
		`key "tokenizer.ggml.scores": the file has no such key`: func(w *gguf.Writer) { w.Set("tokenizer.ggml.model", "llama") },
		`the file does not name its pre-tokenizer`:              func(w *gguf.Writer) { w.Set("tokenizer.ggml.pre", "") },
		`is of type uint32, expected string`:                    func(w *gguf.Writer) { w.Set("tokenizer.ggml.model", uint32(1)) },
		`has 0 tokens, expected 1 to`:                           func(w *gguf.Writer) { w.Set("tokenizer.ggml.tokens", []string{}) },
		`is of type array of int32, expected array of string`:   func(w *gguf.Writer) { w.Set("tokenizer.ggml.tokens", []int32{1}) },
		`has 3 entries, but tokenizer.ggml.tokens has 504`:      func(w *gguf.Writer) { w.Set("tokenizer.ggml.token_type", []int32{1, 1, 1}) },
		`token 503 ("[PAD3]") has the unknown type 7`:           func(w *gguf.Writer) { w.Set("tokenizer.ggml.token_type", types(7)) },
		`has the unknown type 0`:                                func(w *gguf.Writer) { w.Set("tokenizer.ggml.token_type", types(0)) },
		`tokens 0 and 504 have the same text "!"`:               func(w *gguf.Writer) { dup(w) },
		`tokenizer.ggml.eos_token_id is 504, expected an id`:    func(w *gguf.Writer) { w.Set("tokenizer.ggml.eos_token_id", uint32(504)) },
		`tokenizer.ggml.fim_pre_token_id is 9999, expected`:     func(w *gguf.Writer) { w.Set("tokenizer.ggml.fim_pre_token_id", uint32(9999)) },
		`is -1, expected a number that is not negative`:         func(w *gguf.Writer) { w.Set("tokenizer.ggml.bos_token_id", int32(-1)) },
		`is of type string, expected bool`:                      func(w *gguf.Writer) { w.Set("tokenizer.ggml.add_bos_token", "yes") },
		`merge 240 is "nospace", expected two tokens`:           func(w *gguf.Writer) { w.Set("tokenizer.ggml.merges", merges("nospace")) },
		`merge 240 is "a ", expected two tokens`:                func(w *gguf.Writer) { w.Set("tokenizer.ggml.merges", merges("a ")) },
		`merge 240 is " a", expected two tokens`:                func(w *gguf.Writer) { w.Set("tokenizer.ggml.merges", merges(" a")) },
		`merge 240 is "a b c", expected two tokens`:             func(w *gguf.Writer) { w.Set("tokenizer.ggml.merges", merges("a b c")) },
		`merge 240 is "日 a", but "日" is not in the vocabulary`:  func(w *gguf.Writer) { w.Set("tokenizer.ggml.merges", merges("日 a")) },
		`merge 240 is "Q Q", but "QQ" is not in the vocabulary`: func(w *gguf.Writer) { w.Set("tokenizer.ggml.merges", merges("Q Q")) },
		`the vocabulary has no token for the byte 0x51 ('Q')`:   func(w *gguf.Writer) { w.Set("tokenizer.ggml.tokens", without("Q")) },
		`add_bos_token is true, but the file has no`:            func(w *gguf.Writer) {},
		`the file has no tokenizer that can be used`:            func(w *gguf.Writer) {},
		`key "tokenizer.ggml.merges": the file has no such key`: func(w *gguf.Writer) {},
	} {
		w := modelstest.Vocabulary()
		switch want {
		case `add_bos_token is true, but the file has no`:
			w = copyOf(t, w, "tokenizer.ggml.bos_token_id").Set("tokenizer.ggml.add_bos_token", true)
		case `the file has no tokenizer that can be used`:
			w = copyOf(t, w, "tokenizer.ggml.model")
		case `key "tokenizer.ggml.merges": the file has no such key`:
			w = copyOf(t, w, "tokenizer.ggml.merges")
		}
		set(w)
		_, err := tokenizer.New(modelstest.File(t, w))
		require.ErrorContains(t, err, want)
	}
}

// A file must not cost much more memory than its size.
func TestSpecialTokensAreBounded(t *testing.T) {
	tokens := modelstest.Tokens()
	types := make([]int32, len(tokens))
	for i := range types {
		types[i] = 1
	}
	tokens, types = append(tokens, strings.Repeat("x", 1<<20), "日"), append(types, 4, 3)
	_, err := tokenizer.New(modelstest.File(t, modelstest.Vocabulary().Set("tokenizer.ggml.tokens", tokens).Set("tokenizer.ggml.token_type", types)))
	require.ErrorContains(t, err, "the special tokens have 1048579 bytes together, expected at most 1048576")
}

func dup(w *gguf.Writer) {
	tokens := append(modelstest.Tokens(), "!")
	types := make([]int32, len(tokens))
	for i := range types {
		types[i] = 1
	}
	w.Set("tokenizer.ggml.tokens", tokens).Set("tokenizer.ggml.token_type", types)
}

// copyOf gives the same metadata without one key.
func copyOf(t *testing.T, w *gguf.Writer, without string) *gguf.Writer {
	f := modelstest.File(t, w)
	out := gguf.NewWriter()
	for _, k := range f.Keys() {
		if k != without {
			v, _ := f.Get(k)
			out.Set(k, v.Any())
		}
	}
	return out
}

// A vocabulary without types is all ordinary tokens.
func TestTypesAreOptional(t *testing.T) {
	tok, err := tokenizer.New(modelstest.File(t, copyOf(t, modelstest.Vocabulary(), "tokenizer.ggml.token_type")))
	require.NoError(t, err)
	_, typ, _ := tok.Token(500)
	require.Equal(t, tokenizer.Normal, typ)
	require.Equal(t, "gpt2", tok.Model())
	require.Equal(t, "qwen2", tok.Pre())
}

// The byte 0xFF is in no UTF-8 text: a vocabulary may lack it, and it then reads as what Decode would make of it.
func TestBytesThatNoTextHasMayBeMissing(t *testing.T) {
	w := modelstest.Vocabulary().Set("tokenizer.ggml.tokens", without("ÿ"))
	tok, err := tokenizer.New(modelstest.File(t, w))
	require.NoError(t, err)
	require.Equal(t, tok.Encode("a\ufffdb\ufffd", tokenizer.Options{}), tok.Encode("a\xffb\xff", tokenizer.Options{}))
}

func TestShared(t *testing.T) {
	a := tiny(t)
	n, err := a.Shared(a)
	require.NoError(t, err)
	require.Equal(t, a.VocabSize(), n)

	more := append(modelstest.Tokens(), "[PAD4]", "[PAD5]")
	types := make([]int32, 0, len(more))
	for i := range more {
		if i >= len(modelstest.Tokens()) {
			types = append(types, 5)
			continue
		}
		_, typ, _ := a.Token(int32(i))
		types = append(types, int32(typ))
	}
	b, err := tokenizer.New(modelstest.File(t, modelstest.Vocabulary().Set("tokenizer.ggml.tokens", more).Set("tokenizer.ggml.token_type", types)))
	require.NoError(t, err)
	for _, p := range [][2]*tokenizer.Tokenizer{{a, b}, {b, a}} {
		n, err = p[0].Shared(p[1])
		require.NoError(t, err)
		require.Equal(t, 504, n, "further ids at the end are allowed")
	}

	swapped := modelstest.Tokens()
	swapped[300], swapped[301] = swapped[301], swapped[300]
	merges := modelstest.Merges()
	merges[7], merges[8] = merges[8], merges[7]
	otherTypes := slices.Clone(types[:504])
	otherTypes[496] = 4
	for want, w := range map[string]*gguf.Writer{
		"the tokenizers differ: token 300 is": modelstest.Vocabulary().Set("tokenizer.ggml.tokens", swapped),
		`token 496 is "<|endoftext|>" (control) in one and "<|endoftext|>" (user-defined) in the other`: modelstest.Vocabulary().Set("tokenizer.ggml.token_type", otherTypes),
		"merge 7 is": modelstest.Vocabulary().Set("tokenizer.ggml.merges", merges),
		"the number of merges is 240 in one and 239 in the other": modelstest.Vocabulary().Set("tokenizer.ggml.merges", modelstest.Merges()[:239]),
	} {
		b, err := tokenizer.New(modelstest.File(t, w))
		require.NoError(t, err)
		_, err = a.Shared(b)
		var m *tokenizer.MismatchError
		require.ErrorAs(t, err, &m)
		require.ErrorContains(t, err, want)
	}
}
