package gguf

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
)

// Writer collects metadata and tensors and writes them as a GGUF file of version 3. For one goroutine.
type Writer struct {
	keys    []string
	values  map[string]any
	tensors []pending
}

type pending struct {
	name  string
	typ   TensorType
	shape []uint64
	size  uint64
	write func(io.Writer) error // exactly size bytes
}

// NewWriter makes a Writer of an empty file.
func NewWriter() *Writer { return &Writer{values: map[string]any{}} }

// Set sets a key, in the order of first setting. The Go type of value is the type in the file: bool, string, uint8 to
// uint64, int8 to int64, float32, float64, and slices of them.
func (w *Writer) Set(key string, value any) *Writer {
	if _, ok := w.values[key]; !ok {
		w.keys = append(w.keys, key)
	}
	w.values[key] = value
	return w
}

// Tensor adds a tensor; data are its blocks.
func (w *Writer) Tensor(name string, typ TensorType, shape []uint64, data []byte) *Writer {
	return w.Stream(name, typ, shape, uint64(len(data)), func(out io.Writer) error {
		_, err := out.Write(data)
		return err
	})
}

// Stream adds a tensor whose blocks, of size bytes, are written when their turn comes: for files larger than memory.
func (w *Writer) Stream(name string, typ TensorType, shape []uint64, size uint64, write func(io.Writer) error) *Writer {
	w.tensors = append(w.tensors, pending{name, typ, shape, size, write})
	return w
}

// WriteTo writes the file.
func (w *Writer) WriteTo(to io.Writer) (int64, error) {
	out := &counter{w: bufio.NewWriter(to)}
	align := uint64(DefaultAlignment)
	if a, ok := w.values[alignField].(uint32); ok && a > 0 {
		align = uint64(a)
	}
	out.raw([]byte(magic))
	out.num(uint32(3))
	out.num(uint64(len(w.tensors)))
	out.num(uint64(len(w.keys)))
	for _, k := range w.keys {
		out.str(k)
		if err := out.value(w.values[k]); err != nil {
			return out.n, fmt.Errorf("gguf: write key %q: %w", k, err)
		}
	}
	var at uint64
	for _, t := range w.tensors {
		out.str(t.name)
		out.num(uint32(len(t.shape)))
		for _, d := range t.shape {
			out.num(d)
		}
		out.num(uint32(t.typ))
		out.num(at)
		at += (t.size + align - 1) / align * align
	}
	for _, t := range w.tensors {
		out.pad(align)
		if out.err != nil {
			break
		}
		before := out.n
		if err := t.write(out); err != nil {
			return out.n, fmt.Errorf("gguf: write tensor %q: %w", t.name, err)
		}
		if wrote := uint64(out.n - before); wrote != t.size {
			return out.n, fmt.Errorf("gguf: write tensor %q: %d bytes were written, expected %d", t.name, wrote, t.size)
		}
	}
	if out.err == nil {
		out.err = out.w.Flush()
	}
	if out.err != nil {
		return out.n, fmt.Errorf("gguf: write: %w", out.err)
	}
	return out.n, nil
}

// counter writes until the first error.
type counter struct {
	w   *bufio.Writer
	n   int64
	err error
}

func (c *counter) raw(p []byte) {
	if c.err == nil {
		_, c.err = c.Write(p)
	}
}

// Write implements io.Writer, for tensors.
func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

func (c *counter) pad(align uint64) {
	c.raw(make([]byte, (align-uint64(c.n)%align)%align))
}

func (c *counter) num(x any) {
	p, err := binary.Append(nil, binary.LittleEndian, x)
	if err != nil {
		c.err = err
	}
	c.raw(p)
}

func (c *counter) str(s string) {
	c.num(uint64(len(s)))
	c.raw([]byte(s))
}

func (c *counter) value(v any) error {
	if t, ok := scalarType(v); ok {
		c.num(uint32(t))
		if s, ok := v.(string); ok {
			c.str(s)
		} else {
			c.num(v)
		}
		return nil
	}
	elem, n, ok := sliceType(v)
	if !ok {
		return fmt.Errorf("a Go value of type %T has no GGUF type", v)
	}
	c.num(uint32(Array))
	c.num(uint32(elem))
	c.num(uint64(n))
	if texts, ok := v.([]string); ok {
		for _, s := range texts {
			c.str(s)
		}
		return nil
	}
	c.num(v)
	return nil
}

func scalarType(v any) (ValueType, bool) {
	switch v.(type) {
	case uint8:
		return Uint8, true
	case int8:
		return Int8, true
	case uint16:
		return Uint16, true
	case int16:
		return Int16, true
	case uint32:
		return Uint32, true
	case int32:
		return Int32, true
	case float32:
		return Float32, true
	case bool:
		return Bool, true
	case string:
		return String, true
	case uint64:
		return Uint64, true
	case int64:
		return Int64, true
	case float64:
		return Float64, true
	}
	return 0, false
}

func sliceType(v any) (ValueType, int, bool) {
	var zero any
	switch v.(type) {
	case []uint8:
		zero = uint8(0)
	case []int8:
		zero = int8(0)
	case []uint16:
		zero = uint16(0)
	case []int16:
		zero = int16(0)
	case []uint32:
		zero = uint32(0)
	case []int32:
		zero = int32(0)
	case []float32:
		zero = float32(0)
	case []bool:
		zero = false
	case []string:
		zero = ""
	case []uint64:
		zero = uint64(0)
	case []int64:
		zero = int64(0)
	case []float64:
		zero = float64(0)
	default:
		return 0, 0, false
	}
	t, _ := scalarType(zero)
	return t, Value{data: v}.Len(), true
}
