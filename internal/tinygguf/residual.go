package tinygguf

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// ResidualHead is a router head of the residual kind with random weights. The zero value of a field is its default.
type ResidualHead struct {
	Seed      uint64
	Embd      int     // 64: values of a hidden state
	Top       int     // 10: logits
	Width     int     // 32
	Inner     int     // 64: of a block
	Blocks    int     // 2
	Weights   Type    // of the matrices whose rows are long enough for it; vectors are always F32
	Threshold float32 // router-head.threshold
}

func (h ResidualHead) withDefaults() ResidualHead {
	for _, f := range []struct {
		field *int
		value int
	}{{&h.Embd, 64}, {&h.Top, 10}, {&h.Width, 32}, {&h.Inner, 64}, {&h.Blocks, 2}} {
		if *f.field == 0 {
			*f.field = f.value
		}
	}
	return h
}

// WriteResidualHead writes the head to path.
func WriteResidualHead(path string, h ResidualHead) error {
	h = h.withDefaults()
	r := rand.New(rand.NewPCG(h.Seed, 0x68656164))
	var tensors []tensor
	vector := func(name string, n int, mean float64) {
		tensors = append(tensors, newTensor(name, F32, []int{n}, normal(r, n, 0.2, mean)))
	}
	layer := func(name string, inputs, outputs int, gain float64) {
		kind, dims := h.Weights, []int{inputs, outputs}
		if inputs%blockWeights != 0 || outputs == 1 {
			kind = F32
		}
		if outputs == 1 {
			dims = []int{inputs}
		}
		tensors = append(tensors, newTensor(name+".weight", kind, dims, normal(r, inputs*outputs, gain/math.Sqrt(float64(inputs)), 0)))
		vector(name+".bias", outputs, 0)
	}
	layer("logits", h.Top, h.Embd, 1)
	layer("combine", 3*h.Embd, h.Width, 1)
	layer("input", h.Width, h.Width, 1)
	for i := range h.Blocks {
		name := fmt.Sprintf("block.%d.", i)
		vector(name+"norm.weight", h.Width, 1)
		vector(name+"norm.bias", h.Width, 0)
		layer(name+"up", h.Width, h.Inner, 1)
		layer(name+"down", h.Inner, h.Width, 1)
	}
	vector("norm.weight", h.Width, 1)
	vector("norm.bias", h.Width, 0)
	layer("out", h.Width, 1, 2)
	metadata := []pair{
		{"general.architecture", "router-head"},
		{"general.name", "tiny residual head"},
		{"router-head.kind", "residual"},
		{"router-head.algorithm", "r2r"},
		{"router-head.threshold", h.Threshold},
	}
	if err := os.WriteFile(path, encode(metadata, tensors), 0o644); err != nil {
		return fmt.Errorf("tiny head: %w", err)
	}
	return nil
}

// TempResidualHead writes the head into a temporary directory of the test and returns its path.
func TempResidualHead(t T, h ResidualHead) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "residual.gguf")
	if err := WriteResidualHead(path, h); err != nil {
		t.Fatal(err)
	}
	return path
}
