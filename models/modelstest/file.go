package modelstest

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/models/gguf"
)

var learned = sync.OnceValue(func() [2][]string {
	tokens, pairs := learn()
	return [2][]string{tokens, pairs}
})

// Vocabulary gives the metadata of a vocabulary-only file. The caller may set further keys, or set these anew.
func Vocabulary() *gguf.Writer {
	tokens, pairs := slices.Clone(learned()[0]), slices.Clone(learned()[1])
	types := make([]int32, len(tokens))
	for i := range types {
		types[i] = 1
	}
	base := uint32(len(tokens))
	for _, a := range added {
		tokens = append(tokens, a.Text)
		types = append(types, a.Type)
	}
	return gguf.NewWriter().
		Set("general.architecture", "qwen2").
		Set("general.name", "tiny vocabulary").
		Set("tokenizer.ggml.model", "gpt2").
		Set("tokenizer.ggml.pre", "qwen2").
		Set("tokenizer.ggml.tokens", tokens).
		Set("tokenizer.ggml.token_type", types).
		Set("tokenizer.ggml.merges", pairs).
		Set("tokenizer.ggml.eos_token_id", base+2).
		Set("tokenizer.ggml.bos_token_id", base).
		Set("tokenizer.ggml.padding_token_id", base).
		Set("tokenizer.ggml.add_bos_token", false).
		Set("tokenizer.chat_template", Template)
}

// Tokens gives the texts of the vocabulary, in order of their ids.
func Tokens() []string {
	tokens := slices.Clone(learned()[0])
	for _, a := range added {
		tokens = append(tokens, a.Text)
	}
	return tokens
}

// Merges gives the pairs of the vocabulary, "left right", in order of their rank.
func Merges() []string { return slices.Clone(learned()[1]) }

// File gives the header of the file that w writes.
func File(t testing.TB, w *gguf.Writer) *gguf.File {
	t.Helper()
	var b bytes.Buffer
	_, err := w.WriteTo(&b)
	require.NoError(t, err)
	f, err := gguf.Read(bytes.NewReader(b.Bytes()), int64(b.Len()))
	require.NoError(t, err)
	return f
}

// Path writes the file into a directory of the test and gives its path.
func Path(t testing.TB, name string, w *gguf.Writer) string {
	t.Helper()
	var b bytes.Buffer
	_, err := w.WriteTo(&b)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, b.Bytes(), 0o600))
	return path
}
