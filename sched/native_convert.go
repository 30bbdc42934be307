package sched

import (
	"github.com/tokenrouter/tokenrouter/bindings"
	"github.com/tokenrouter/tokenrouter/models/gguf"
)

// NativeConverter converts weights between storage formats with the native library. Safe for concurrent use.
type NativeConverter struct{ library *bindings.Library }

// OpenNativeConverter finds and opens the native library; "": where bindings.Load looks.
func OpenNativeConverter(library string) (*NativeConverter, error) {
	l, err := bindings.Load(library)
	if err != nil {
		return nil, err
	}
	return &NativeConverter{l}, nil
}

// Convert converts the weights of src, whole blocks of from, into dst, as many in blocks of to, rounded to nearest.
func (c *NativeConverter) Convert(from gguf.TensorType, src []byte, to gguf.TensorType, dst []byte) error {
	return c.library.Convert(uint32(from), src, uint32(to), dst)
}
