package models_test

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/models"
	"github.com/tokenrouter/tokenrouter/models/chat"
	"github.com/tokenrouter/tokenrouter/models/gguf"
	"github.com/tokenrouter/tokenrouter/models/modelstest"
	"github.com/tokenrouter/tokenrouter/models/tokenizer"
)

func TestVocabularyOnlyFile(t *testing.T) {
	m, err := models.Open("testdata/tiny-vocab.gguf")
	require.NoError(t, err)
	require.Equal(t, models.Info{
		Path: "testdata/tiny-vocab.gguf", Size: m.Info().Size, Architecture: "qwen2", Name: "tiny vocabulary", VocabSize: 504,
	}, m.Info())
	st, err := os.Stat("testdata/tiny-vocab.gguf")
	require.NoError(t, err)
	require.Equal(t, st.Size(), m.Info().Size)
	require.Equal(t, []int32{496, 498}, m.EndIDs()) // <|endoftext|> and <|im_end|>, behind 256 bytes and 240 merges

	ids, err := m.Prompt(chat.Request{Messages: []chat.Message{chat.User("hello")}})
	require.NoError(t, err)
	text, err := m.Tokenizer().Decode(ids, tokenizer.DecodeOptions{})
	require.NoError(t, err)
	require.Equal(t, "<|im_start|>user\nhello<|im_end|>\n<|im_start|>assistant\n", text)
}

// whole is a vocabulary with the numbers and the embedding of a model.
func whole() *gguf.Writer {
	return modelstest.Vocabulary().
		Set("qwen2.context_length", uint32(128)).Set("qwen2.block_count", uint32(2)).
		Set("qwen2.embedding_length", uint32(32)).Set("qwen2.attention.head_count", uint32(4)).
		Set("qwen2.attention.head_count_kv", uint32(2)).Set("qwen2.rope.freq_base", float32(10000)).
		Set("qwen2.attention.layer_norm_rms_epsilon", float32(1e-6)).
		Tensor("token_embd.weight", 8, []uint64{32, 504}, make([]byte, 504*34)).
		Tensor("output_norm.weight", gguf.TensorF32, []uint64{32}, make([]byte, 128))
}

func TestWholeModel(t *testing.T) {
	m, err := models.Open(modelstest.Path(t, "whole.gguf", whole()))
	require.NoError(t, err)
	i := m.Info()
	require.Equal(t, [...]int{128, 504, 2, 32, 4, 2, 2}, [...]int{i.ContextLength, i.VocabSize, i.Layers, i.Embedding, i.Heads, i.KVHeads, i.Tensors})
	require.EqualValues(t, 32*504+32, i.Parameters)
	require.Equal(t, "Q8_0 99%, F32 <1%", i.Quantization)

	m, err = models.New(modelstest.File(t, whole().Set("qwen2.attention.head_count_kv", []int32{0, 2})))
	require.NoError(t, err)
	require.Equal(t, 2, m.Info().KVHeads, "the most of any layer")
}

func TestFilesThatAreNoModel(t *testing.T) {
	for want, w := range map[string]*gguf.Writer{
		`key "general.architecture": the file has no such key`:               gguf.NewWriter(),
		`type "adapter" (general.type)`:                                      whole().Set("general.type", "adapter"),
		`is part 1 of 3, but has no split.tensors.count`:                     whole().Set("split.count", uint16(3)),
		`qwen2.context_length is 0, expected 1 to 268435456`:                 whole().Set("qwen2.context_length", uint32(0)),
		`qwen2.block_count is 4294967295, expected 1 to 4096`:                whole().Set("qwen2.block_count", uint32(math.MaxUint32)),
		`qwen2.attention.head_count is 0`:                                    whole().Set("qwen2.attention.head_count", uint32(0)),
		`is 3, expected a divisor of qwen2.attention.head_count, which is 4`: whole().Set("qwen2.attention.head_count_kv", uint32(3)),
		`is 5, expected a divisor of qwen2.embedding_length, which is 32`:    whole().Set("qwen2.attention.head_count", uint32(5)).Set("qwen2.attention.head_count_kv", uint32(1)),
		`is -4, expected a number that is not negative`:                      whole().Set("qwen2.attention.head_count", int32(-4)),
		`qwen2.rope.freq_base is NaN, expected 1 to 1e+12`:                   whole().Set("qwen2.rope.freq_base", float32(math.NaN())),
		`qwen2.attention.layer_norm_rms_epsilon is 0, expected 1e-12 to 0.1`: whole().Set("qwen2.attention.layer_norm_rms_epsilon", float32(0)),
		`is of type string, expected a floating-point number`:                whole().Set("qwen2.rope.freq_base", "big"),
		`the file has tensors, but no token_embd.weight`:                     modelWithout(),
		`key "qwen2.block_count": the file has no such key`: modelstest.Vocabulary().Set("qwen2.context_length", uint32(1)).
			Tensor("token_embd.weight", 0, []uint64{1, 504}, make([]byte, 2016)),
		`tensor token_embd.weight has 503 rows, expected one for each of the 504 tokens`: modelWithout().
			Tensor("token_embd.weight", 0, []uint64{1, 503}, make([]byte, 2012)),
		`pre-tokenizer "viking" (tokenizer.ggml.pre) is not supported`: whole().Set("tokenizer.ggml.pre", "viking"),
	} {
		_, err := models.Open(modelstest.Path(t, "bad.gguf", w))
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "bad.gguf")
	}
	_, err := models.Open(filepath.Join(t.TempDir(), "none.gguf"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

func modelWithout() *gguf.Writer {
	return modelstest.Vocabulary().Set("qwen2.context_length", uint32(128)).Set("qwen2.block_count", uint32(2)).
		Set("qwen2.embedding_length", uint32(32)).Set("qwen2.attention.head_count", uint32(4)).
		Tensor("output_norm.weight", 0, []uint64{1}, make([]byte, 4))
}

// A model without a template, or with one that does not work, completes text and says why it does not chat.
func TestModelsThatCannotChat(t *testing.T) {
	f := modelstest.File(t, modelstest.Vocabulary())
	w := gguf.NewWriter()
	for _, k := range f.Keys() {
		if v, _ := f.Get(k); k != "tokenizer.chat_template" {
			w.Set(k, v.Any())
		}
	}
	m, err := models.New(modelstest.File(t, w))
	require.NoError(t, err)
	_, err = m.Chat()
	require.ErrorIs(t, err, models.ErrNoTemplate)
	_, err = m.Prompt(chat.Request{Messages: []chat.Message{chat.User("x")}})
	require.ErrorIs(t, err, models.ErrNoTemplate)
	require.NotEmpty(t, m.Tokenizer().Encode("x", tokenizer.Options{}))

	m, err = models.New(modelstest.File(t, modelstest.Vocabulary().Set("tokenizer.chat_template", "{{ raise_exception('never') }}")))
	require.NoError(t, err)
	_, err = m.Chat()
	require.ErrorContains(t, err, "never")
	require.NotErrorIs(t, err, models.ErrNoTemplate)
	var no *models.NoChatError
	require.ErrorAs(t, err, &no)

	// Another template makes it chat.
	with, err := m.WithTemplate("{% for m in messages %}[{{ m.content }}]{% endfor %}")
	require.NoError(t, err)
	ids, err := with.Prompt(chat.Request{Messages: []chat.Message{chat.User("x")}})
	require.NoError(t, err)
	require.Equal(t, m.Tokenizer().Encode("[x]", tokenizer.Options{}), ids)
	_, err = m.Chat()
	require.Error(t, err, "the model itself stays as it was")
	_, err = m.WithTemplate("{% if %}")
	require.ErrorContains(t, err, "chat template")
}

func TestCheckRoute(t *testing.T) {
	open := func(name string, w *gguf.Writer) *models.Model {
		m, err := models.Open(modelstest.Path(t, name, w))
		require.NoError(t, err)
		return m
	}
	types := func(n int) []int32 {
		out := make([]int32, n)
		for id := range out {
			_, typ, ok := open504.Tokenizer().Token(int32(id))
			if out[id] = int32(typ); !ok {
				out[id] = 5
			}
		}
		return out
	}
	open504 = open("base.gguf", modelstest.Vocabulary())
	small, large := open504, open("large.gguf", whole())
	more := open("more.gguf", modelstest.Vocabulary().
		Set("tokenizer.ggml.tokens", append(modelstest.Tokens(), "[PAD4]")).Set("tokenizer.ggml.token_type", types(505)))

	v, err := models.CheckRoute(small)
	require.NoError(t, err)
	require.Equal(t, 504, v)
	v, err = models.CheckRoute(more)
	require.NoError(t, err)
	require.Equal(t, 505, v)
	for _, ms := range [][]*models.Model{{small, large}, {small, more}, {more, small}, {more, small, large}} {
		v, err = models.CheckRoute(ms...)
		require.NoError(t, err)
		require.Equal(t, 504, v, "ids that are valid in all")
	}

	tokens := modelstest.Tokens()
	i := slices.Index(tokens, "[PAD1]")
	tokens[i] = "[OTHER]"
	other := open("other.gguf", modelstest.Vocabulary().Set("tokenizer.ggml.tokens", tokens))
	_, err = models.CheckRoute(small, large, other)
	require.ErrorIs(t, err, models.ErrMismatch)
	require.ErrorContains(t, err, `base.gguf and other.gguf cannot share a route: token 501 is "[PAD1]" (unused) in the first and "[OTHER]" (unused) in the second`)
	require.ErrorContains(t, err, "pair models of one family")
	_, err = models.CheckRoute()
	require.ErrorContains(t, err, "at least one model")
}

var open504 *models.Model
