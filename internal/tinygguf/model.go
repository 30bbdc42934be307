// Package tinygguf writes tiny models with random weights as GGUF files, for tests that run the real engine without a
// real model. The files are whole: weights of the qwen2 architecture, and a byte-level tokenizer with its chat template.
// The same options give the same bytes.
//
// Formats: the GGUF specification, version 3; Qwen2 as in its technical report (arXiv 2407.10671, section 2.2).
package tinygguf

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// Type is a weight format, by its number in GGUF.
type Type uint32

// Weight formats that the package writes.
const (
	F32  Type = 0
	Q8_0 Type = 8
)

// Options are the shape of a model. The zero value of a field is its default.
type Options struct {
	Seed    uint64 // of the weights
	Name    string // general.name; "tiny"
	Layers  int    // 2
	Embd    int    // 64, a multiple of 32
	FFN     int    // 128, a multiple of 32
	Heads   int    // 4
	HeadsKV int    // 2
	Vocab   int    // 300, at least 283: 256 bytes, the merges, 3 control tokens; the rest is padding
	Context int    // 2048 tokens
	Weights Type   // of the matrices; norms and biases are always F32
	Tied    bool   // the output matrix is the embedding
}

func (o Options) withDefaults() Options {
	for _, f := range []struct {
		field *int
		value int
	}{{&o.Layers, 2}, {&o.Embd, 64}, {&o.FFN, 128}, {&o.Heads, 4}, {&o.HeadsKV, 2}, {&o.Vocab, 300}, {&o.Context, 2048}} {
		if *f.field == 0 {
			*f.field = f.value
		}
	}
	if o.Name == "" {
		o.Name = "tiny"
	}
	return o
}

func (o Options) check() error {
	switch {
	case o.Weights != F32 && o.Weights != Q8_0:
		return fmt.Errorf("weights of type %d: F32 (0) or Q8_0 (8) are written", o.Weights)
	case o.Embd%blockWeights != 0 || o.FFN%blockWeights != 0:
		return fmt.Errorf("embedding %d and feed-forward %d: must be multiples of %d", o.Embd, o.FFN, blockWeights)
	case o.Embd%o.Heads != 0 || o.Heads%o.HeadsKV != 0:
		return fmt.Errorf("%d heads over %d dimensions with %d key-value heads: must divide", o.Heads, o.Embd, o.HeadsKV)
	case o.Vocab < smallestVocab():
		return fmt.Errorf("vocabulary of %d: at least %d", o.Vocab, smallestVocab())
	}
	return nil
}

// Write writes the model to path.
func Write(path string, o Options) error {
	o = o.withDefaults()
	if err := o.check(); err != nil {
		return fmt.Errorf("tiny model: %w", err)
	}
	if err := os.WriteFile(path, encode(o.metadata(), o.tensors()), 0o644); err != nil {
		return fmt.Errorf("tiny model: %w", err)
	}
	return nil
}

// T is what Temp needs of a testing.TB.
type T interface {
	Helper()
	TempDir() string
	Fatal(args ...any)
}

// Temp writes the model into a temporary directory of the test and returns its path.
func Temp(t T, o Options) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tiny.gguf")
	if err := Write(path, o); err != nil {
		t.Fatal(err)
	}
	return path
}

func (o Options) metadata() []pair {
	return append([]pair{
		{"general.architecture", "qwen2"},
		{"general.name", o.Name},
		{"general.alignment", uint32(alignment)},
		{"qwen2.block_count", uint32(o.Layers)},
		{"qwen2.context_length", uint32(o.Context)},
		{"qwen2.embedding_length", uint32(o.Embd)},
		{"qwen2.feed_forward_length", uint32(o.FFN)},
		{"qwen2.attention.head_count", uint32(o.Heads)},
		{"qwen2.attention.head_count_kv", uint32(o.HeadsKV)},
		{"qwen2.attention.layer_norm_rms_epsilon", float32(1e-6)},
		{"qwen2.rope.freq_base", float32(1e6)},
	}, tokenizerMetadata(o.Vocab)...)
}

func (o Options) tensors() []tensor {
	r := rand.New(rand.NewPCG(o.Seed, 0x74696e79))
	matrix := func(name string, inputs, outputs int, deviation float64) tensor {
		return newTensor(name, o.Weights, []int{inputs, outputs}, normal(r, inputs*outputs, deviation, 0))
	}
	vector := func(name string, n int, deviation, mean float64) tensor {
		return newTensor(name, F32, []int{n}, normal(r, n, deviation, mean))
	}
	// Deviations that keep the residual stream near 1 through the layers and the logits a few nats apart, so that answers
	// depend on all of the context and are neither flat nor constant.
	fan := func(inputs int) float64 { return 1 / math.Sqrt(float64(inputs)) }
	kv := o.Embd / o.Heads * o.HeadsKV
	all := []tensor{matrix("token_embd.weight", o.Embd, o.Vocab, 1)}
	for i := range o.Layers {
		p := fmt.Sprintf("blk.%d.", i)
		all = append(all,
			vector(p+"attn_norm.weight", o.Embd, 0.1, 1),
			matrix(p+"attn_q.weight", o.Embd, o.Embd, 1.5*fan(o.Embd)),
			vector(p+"attn_q.bias", o.Embd, 0.2, 0),
			matrix(p+"attn_k.weight", o.Embd, kv, 1.5*fan(o.Embd)),
			vector(p+"attn_k.bias", kv, 0.2, 0),
			matrix(p+"attn_v.weight", o.Embd, kv, 1.5*fan(o.Embd)),
			vector(p+"attn_v.bias", kv, 0.2, 0),
			matrix(p+"attn_output.weight", o.Embd, o.Embd, 1.5*fan(o.Embd)),
			vector(p+"ffn_norm.weight", o.Embd, 0.1, 1),
			matrix(p+"ffn_gate.weight", o.Embd, o.FFN, 1.5*fan(o.Embd)),
			matrix(p+"ffn_up.weight", o.Embd, o.FFN, 1.5*fan(o.Embd)),
			matrix(p+"ffn_down.weight", o.FFN, o.Embd, 1.5*fan(o.FFN)),
		)
	}
	all = append(all, vector("output_norm.weight", o.Embd, 0.1, 1))
	if !o.Tied {
		all = append(all, matrix("output.weight", o.Embd, o.Vocab, 2*fan(o.Embd)))
	}
	return all
}

func normal(r *rand.Rand, n int, deviation, mean float64) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(mean + deviation*r.NormFloat64())
	}
	return v
}
