package models

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tokenrouter/tokenrouter/models/gguf"
)

// Info are the facts of a model. Counts that a file lacks (a vocabulary-only file has no layers) are 0.
type Info struct {
	Path          string `json:"path"`
	Size          int64  `json:"size"` // bytes of the file
	Architecture  string `json:"architecture"`
	Name          string `json:"name"`
	ContextLength int    `json:"context_length"` // tokens
	VocabSize     int    `json:"vocab_size"`
	Layers        int    `json:"layers"`
	Embedding     int    `json:"embedding"` // width of a hidden state
	Heads         int    `json:"heads"`     // of queries; the most of any layer
	KVHeads       int    `json:"kv_heads"`  // the most of any layer
	Tensors       int    `json:"tensors"`
	Parameters    uint64 `json:"parameters"`   // elements of all tensors
	Quantization  string `json:"quantization"` // types by share of bytes: "Q4_K 60%, Q6_K 38%, F32 2%"
}

// Numbers of a model above these are no model's. The native library has the same bounds.
const (
	maxLayers  = 4096
	maxHeads   = 4096
	maxWidth   = 1 << 20
	maxContext = 1 << 28
)

func describe(f *gguf.File) (Info, error) {
	if err := checkKind(f); err != nil {
		return Info{}, err
	}
	i := Info{Path: f.Path, Size: f.Size, Tensors: len(f.Tensors), Quantization: Quantization(f.Tensors)}
	for _, t := range f.Tensors {
		i.Parameters += t.Elements
	}
	var err error
	if i.Architecture, err = f.Text("general.architecture"); err != nil {
		return i, err
	}
	if i.Name, err = gguf.Default("")(f.Text("general.name")); err != nil {
		return i, err
	}
	whole := len(f.Tensors) > 0 // otherwise there is only a vocabulary, and nothing must be there
	if whole {
		if err := checkArchitecture(i.Architecture); err != nil {
			return i, err
		}
	}
	for _, n := range []struct {
		key    string
		into   *int
		most   uint64
		needed bool
	}{
		{"context_length", &i.ContextLength, maxContext, whole},
		{"block_count", &i.Layers, maxLayers, whole},
		{"embedding_length", &i.Embedding, maxWidth, whole},
		{"attention.head_count", &i.Heads, maxHeads, whole},
		{"attention.head_count_kv", &i.KVHeads, maxHeads, false},
	} {
		key := i.Architecture + "." + n.key
		if !n.needed && !f.Has(key) {
			continue
		}
		if *n.into, err = count(f, key, n.most); err != nil {
			return i, err
		}
	}
	if i.KVHeads == 0 {
		i.KVHeads = i.Heads // without grouping, every query head has its own
	}
	return i, checkNumbers(f, i)
}

// count reads a number from 1 to most, or the largest of one number per layer.
func count(f *gguf.File, key string, most uint64) (int, error) {
	n, err := f.Uint(key)
	if v, ok := f.Get(key); ok && v.Type == gguf.Array {
		var per []int64
		if per, err = f.Ints(key); err == nil && len(per) > 0 {
			n = uint64(max(slices.Max(per), 0))
		}
	}
	if err != nil {
		return 0, err
	}
	if n == 0 || n > most {
		return 0, fmt.Errorf("%s is %d, expected 1 to %d", key, n, most)
	}
	return int(n), nil
}

// Quantization sums up the storage formats of tensors by their share of bytes, the largest first.
func Quantization(tensors []gguf.Tensor) string {
	bytes := map[gguf.TensorType]int64{}
	var all int64
	for _, t := range tensors {
		bytes[t.Type] += t.Size
		all += t.Size
	}
	types := slices.SortedFunc(maps.Keys(bytes), func(a, b gguf.TensorType) int {
		return cmp.Or(cmp.Compare(bytes[b], bytes[a]), cmp.Compare(a, b))
	})
	var out []string
	for _, t := range types {
		share := 100 * float64(bytes[t]) / float64(all)
		if share < 1 {
			out = append(out, fmt.Sprintf("%s <1%%", t))
			continue
		}
		out = append(out, fmt.Sprintf("%s %.0f%%", t, share))
	}
	return strings.Join(out, ", ")
}
