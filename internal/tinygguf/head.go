package tinygguf

import (
	"fmt"
	"os"
	"path/filepath"
)

// Head is a router head of the linear kind, whose score is the product of Weight with the hidden state, plus Bias.
type Head struct {
	Name      string    // general.name; "tiny head"
	Weight    []float32 // one per value of a hidden state
	Bias      float32
	Threshold float32 // router-head.threshold
	Algorithm string  // router-head.algorithm; "": left out
	Extra     string  // name of one more tensor, which no head has; "": none
}

// WriteHead writes the head to path.
func WriteHead(path string, h Head) error {
	if h.Name == "" {
		h.Name = "tiny head"
	}
	metadata := []pair{
		{"general.architecture", "router-head"},
		{"general.name", h.Name},
		{"router-head.kind", "linear"},
		{"router-head.threshold", h.Threshold},
	}
	if h.Algorithm != "" {
		metadata = append(metadata, pair{"router-head.algorithm", h.Algorithm})
	}
	tensors := []tensor{
		newTensor("out.weight", F32, []int{len(h.Weight)}, h.Weight),
		newTensor("out.bias", F32, []int{1}, []float32{h.Bias}),
	}
	if h.Extra != "" {
		tensors = append(tensors, newTensor(h.Extra, F32, []int{1}, []float32{0}))
	}
	if err := os.WriteFile(path, encode(metadata, tensors), 0o644); err != nil {
		return fmt.Errorf("tiny head: %w", err)
	}
	return nil
}

// TempHead writes the head into a temporary directory of the test and returns its path.
func TempHead(t T, h Head) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "head.gguf")
	if err := WriteHead(path, h); err != nil {
		t.Fatal(err)
	}
	return path
}
