package models

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tokenrouter/tokenrouter/models/gguf"
)

// checkKind refuses files that are GGUF but no whole model.
func checkKind(f *gguf.File) error {
	kind, err := gguf.Default("model")(f.Text("general.type"))
	if err != nil {
		return err
	}
	switch kind {
	case "adapter", "mmproj", "imatrix":
		return fmt.Errorf("the file is of the type %q (general.type), expected a language model", kind)
	}
	return nil
}

// architectures are those that the native library runs.
var architectures = []string{"gemma3", "llama", "qwen2", "qwen3", "qwen3moe"}

// checkArchitecture refuses a model that the native library does not run, in its words.
func checkArchitecture(name string) error {
	if slices.Contains(architectures, name) {
		return nil
	}
	return fmt.Errorf("architecture %q is not supported; this build runs: %s", name, strings.Join(architectures, ", "))
}

// checkNumbers refuses numbers that contradict each other.
func checkNumbers(f *gguf.File, i Info) error {
	key := func(name string) string { return i.Architecture + "." + name }
	if v, ok := f.Get(key("attention.head_count_kv")); ok && v.Type != gguf.Array && i.Heads > 0 && i.Heads%i.KVHeads != 0 {
		return fmt.Errorf("%s is %d, expected a divisor of %s, which is %d",
			key("attention.head_count_kv"), i.KVHeads, key("attention.head_count"), i.Heads)
	}
	if v, ok := f.Get(key("attention.head_count")); ok && v.Type != gguf.Array && !f.Has(key("attention.key_length")) &&
		i.Embedding%i.Heads != 0 {
		return fmt.Errorf("%s is %d, expected a divisor of %s, which is %d",
			key("attention.head_count"), i.Heads, key("embedding_length"), i.Embedding)
	}
	// The native library has the same bounds.
	for _, n := range []struct {
		name      string
		low, high float64
	}{{"rope.freq_base", 1, 1e12}, {"attention.layer_norm_rms_epsilon", 1e-12, 0.1}, {"rope.scaling.factor", 0, 1e9}} {
		if !f.Has(key(n.name)) {
			continue
		}
		x, err := f.Float(key(n.name))
		if err != nil {
			return err
		}
		if math.IsNaN(x) || x < n.low || x > n.high {
			return fmt.Errorf("%s is %v, expected %v to %v", key(n.name), x, n.low, n.high)
		}
	}
	return nil
}

// checkScores refuses scores that are not one for each token, whatever the type of the tokenizer.
func checkScores(f *gguf.File, vocab int) error {
	const scores, tokens = "tokenizer.ggml.scores", "tokenizer.ggml.tokens"
	if !f.Has(scores) {
		return nil
	}
	list, err := f.Floats(scores)
	if err != nil {
		return err
	}
	if len(list) != vocab {
		return fmt.Errorf("%s has %d entries, but %s has %d: they must be equally many", scores, len(list), tokens, vocab)
	}
	return nil
}

// checkEmbedding compares the vocabulary with the rows of the embedding, if the file has tensors.
func checkEmbedding(f *gguf.File, vocab int) error {
	const name = "token_embd.weight"
	t, ok := f.Tensor(name)
	if !ok {
		if len(f.Tensors) > 0 {
			return fmt.Errorf("the file has tensors, but no %s", name)
		}
		return nil
	}
	if t.Rows() != uint64(vocab) {
		return fmt.Errorf("tensor %s has %d rows, expected one for each of the %d tokens of the vocabulary", name, t.Rows(), vocab)
	}
	return nil
}
