// Package heads reads the headers of router heads' files, and nothing else of a model, so that whoever needs a head needs no more.
package heads

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/tokenrouter/tokenrouter/models/gguf"
)

// Keys of a router head's file (docs/heads.md).
const (
	headArchitecture = "router-head"
	keyHeadKind      = "router-head.kind"
	keyHeadAlgorithm = "router-head.algorithm"
	keyHeadThreshold = "router-head.threshold"
)

// maxWidth bounds sizes, as that of a model's embeddings is bounded.
const maxWidth = 1 << 20

// Head is what the header of a router head's GGUF file says.
type Head struct {
	Path      string
	Size      int64 // bytes of the file
	Name      string
	Kind      string   // "linear", "mlp" or "residual"
	Algorithm string   // that it was made for; "": not said
	Threshold *float64 // that the file recommends; nil: none
	Embedding int      // width of the hidden states that it reads
	Top       int      // largest logits that it reads
}

// Open reads the header of a router head's file. Tensors are looked at as far as the sizes above go; loading the head checks
// all.
func Open(path string) (*Head, error) {
	f, err := gguf.Open(path)
	if err != nil {
		return nil, fmt.Errorf("router head: %w", err)
	}
	h, err := newHead(f)
	if err != nil {
		return nil, fmt.Errorf("router head %s: %w", path, err)
	}
	return h, nil
}

func newHead(f *gguf.File) (*Head, error) {
	h := &Head{Path: f.Path, Size: f.Size}
	architecture, err := f.Text("general.architecture")
	if err != nil {
		return nil, err
	}
	if architecture != headArchitecture {
		return nil, fmt.Errorf("the file is of architecture %q, expected %q", architecture, headArchitecture)
	}
	if h.Kind, err = f.Text(keyHeadKind); err != nil {
		return nil, err
	}
	for key, text := range map[string]*string{"general.name": &h.Name, keyHeadAlgorithm: &h.Algorithm} {
		if *text, err = gguf.Default("")(f.Text(key)); err != nil {
			return nil, err
		}
	}
	if err := h.threshold(f); err != nil {
		return nil, err
	}
	return h, h.sizes(f)
}

// threshold reads the recommended threshold as the number that was written: float32 0.98, not 0.9800000190734863.
func (h *Head) threshold(f *gguf.File) error {
	v, err := f.Float(keyHeadThreshold)
	switch {
	case errors.Is(err, gguf.ErrMissing):
		return nil
	case err != nil:
		return err
	case !(v >= 0 && v <= 1): // written so that NaN fails
		return fmt.Errorf("%s is %g, expected 0 to 1", keyHeadThreshold, v)
	}
	if v, err = strconv.ParseFloat(strconv.FormatFloat(v, 'g', -1, 32), 64); err != nil {
		return err
	}
	h.Threshold = &v
	return nil
}

// sizes reads what the head takes in off the tensors that take it in.
func (h *Head) sizes(f *gguf.File) error {
	var name string
	var embedding, top int // dimensions of that tensor; -1: none
	switch h.Kind {
	case "linear":
		name, embedding, top = "out.weight", 0, -1
	case "mlp":
		name, embedding, top = "hidden.weight", 0, -1
	case "residual":
		name, embedding, top = "logits.weight", 1, 0
	default:
		return fmt.Errorf("%s is %q, expected linear, mlp or residual", keyHeadKind, h.Kind)
	}
	t, ok := f.Tensor(name)
	if !ok {
		return fmt.Errorf("tensor %q is missing, which a head of kind %s has", name, h.Kind)
	}
	size := func(dimension int) (int, error) {
		if dimension >= len(t.Shape) || t.Shape[dimension] > maxWidth {
			return 0, fmt.Errorf("tensor %q has the shape %v, which no head of kind %s has", name, t.Shape, h.Kind)
		}
		return int(t.Shape[dimension]), nil
	}
	var err error
	if h.Embedding, err = size(embedding); err == nil && top >= 0 {
		h.Top, err = size(top)
	}
	return err
}
