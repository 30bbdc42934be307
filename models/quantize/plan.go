// Package quantize makes another quantization of a GGUF file: every weight matrix in one storage format, rounded to
// nearest; metadata and all else as it is.
package quantize

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tokenrouter/tokenrouter/models/gguf"
)

// fileTypes are the formats that a file can be made in, with general.file_type of a file that is mostly in it.
var fileTypes = map[gguf.TensorType]uint32{
	gguf.TensorF32: 0, gguf.TensorF16: 1, gguf.TensorQ40: 2, gguf.TensorQ41: 3, gguf.TensorQ80: 7, gguf.TensorQ50: 8, gguf.TensorQ51: 9,
	gguf.TensorQ4K: 14, gguf.TensorQ5K: 16, gguf.TensorQ6K: 18, gguf.TensorBF16: 32,
}

// Types are the names of the formats that a file can be made in.
func Types() []string {
	var names []string
	for t := range fileTypes {
		names = append(names, t.String())
	}
	slices.Sort(names)
	return names
}

// ParseType finds a format to make a file in by its name.
func ParseType(name string) (gguf.TensorType, error) {
	t, ok := gguf.TypeNamed(name)
	if _, writes := fileTypes[t]; !ok || !writes {
		return 0, fmt.Errorf("type %q cannot be written, expected one of %s", name, strings.Join(Types(), ", "))
	}
	return t, nil
}

// narrower is what takes the place of a format whose blocks do not fit a row: about as many bits, blocks of 32.
var narrower = map[gguf.TensorType]gguf.TensorType{
	gguf.TensorQ4K: gguf.TensorQ50, gguf.TensorQ5K: gguf.TensorQ51, gguf.TensorQ6K: gguf.TensorQ80,
}

// typeOf is the format that a tensor gets. Vectors (norms, biases) and the small matrix that picks experts keep theirs:
// they are a thousandth of a model, and errors in them cost most.
func typeOf(t gguf.Tensor, to gguf.TensorType) gguf.TensorType {
	if len(t.Shape) < 2 || t.Rows() == 1 || !strings.HasSuffix(t.Name, ".weight") || strings.HasSuffix(t.Name, "ffn_gate_inp.weight") {
		return t.Type
	}
	if !fits(t, to) {
		next, ok := narrower[to]
		if !ok || !fits(t, next) {
			return gguf.TensorF16
		}
		return next
	}
	return to
}

func fits(t gguf.Tensor, to gguf.TensorType) bool {
	elems, _, ok := to.Block()
	return ok && t.Shape[0]%elems == 0
}

// sizeOf is the bytes of a tensor's weights in a format that fits.
func sizeOf(t gguf.Tensor, to gguf.TensorType) uint64 {
	elems, bytes, _ := to.Block()
	return t.Elements / elems * bytes
}
