package gguf

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
)

// value reads a value of type t.
func (c *cursor) value(t ValueType) (Value, error) {
	v := Value{Type: t, Offset: c.off}
	var err error
	switch {
	case !t.valid():
		return v, fmt.Errorf("unknown value type %d, expected 0 to %d", uint32(t), len(valueNames)-1)
	case t == String:
		v.data, err = c.str(MaxString, "the string")
	case t == Array:
		v.Elem, v.data, err = c.array()
	default:
		v.data, err = c.scalar(t)
	}
	return v, err
}

func (c *cursor) scalar(t ValueType) (any, error) {
	p, err := c.bytes(int(valueSizes[t]), "the "+t.String())
	if err != nil {
		return nil, err
	}
	switch t {
	case Uint8:
		return p[0], nil
	case Int8:
		return int8(p[0]), nil
	case Uint16:
		return binary.LittleEndian.Uint16(p), nil
	case Int16:
		return int16(binary.LittleEndian.Uint16(p)), nil
	case Uint32:
		return binary.LittleEndian.Uint32(p), nil
	case Int32:
		return int32(binary.LittleEndian.Uint32(p)), nil
	case Float32:
		return math.Float32frombits(binary.LittleEndian.Uint32(p)), nil
	case Bool:
		return toBool(p[0])
	case Uint64:
		return binary.LittleEndian.Uint64(p), nil
	case Int64:
		return int64(binary.LittleEndian.Uint64(p)), nil
	case Float64:
		return math.Float64frombits(binary.LittleEndian.Uint64(p)), nil
	}
	return nil, fmt.Errorf("type %s is no scalar", t)
}

func toBool(b byte) (bool, error) {
	if b > 1 {
		return false, fmt.Errorf("a bool is the byte %d, expected 0 or 1", b)
	}
	return b == 1, nil
}

// array reads an array. Memory is taken for at most as many elements as the rest of the file can hold.
func (c *cursor) array() (elem ValueType, data any, err error) {
	t, err := c.u32("the element type of the array")
	if err != nil {
		return 0, nil, err
	}
	elem = ValueType(t)
	if !elem.valid() {
		return elem, nil, fmt.Errorf("the array has the unknown element type %d, expected 0 to %d", t, len(valueNames)-1)
	}
	if elem == Array {
		return elem, nil, fmt.Errorf("an array of arrays, which no known file uses, is not supported")
	}
	n, err := c.u64("the length of the array")
	if err != nil {
		return elem, nil, err
	}
	if n > c.left()/valueSizes[elem] {
		return elem, nil, fmt.Errorf("the array has %d elements of type %s of at least %d bytes each, but %d bytes are left: "+
			"the file is truncated or the length is wrong", n, elem, valueSizes[elem], c.left())
	}
	if elem == String {
		data, err = c.strings(int(n))
	} else {
		data, err = c.numbers(elem, int(n))
	}
	return elem, data, err
}

// strings reads n strings into one piece of memory: a vocabulary has some 10^5 of them.
func (c *cursor) strings(n int) ([]string, error) {
	var all strings.Builder
	ends := make([]uint32, n) // MaxHeader is below 2^32
	for i := range ends {
		size, err := c.strLen(MaxString, "the string")
		for err == nil && size > 0 {
			var p []byte
			p, err = c.bytes(min(size, bufferSize), "the string")
			all.Write(p)
			size -= len(p)
		}
		if err != nil {
			return nil, fmt.Errorf("element %d of the array: %w", i, err)
		}
		ends[i] = uint32(all.Len())
	}
	out := make([]string, n)
	text, start := all.String(), uint32(0)
	for i, end := range ends {
		out[i] = text[start:end]
		start = end
	}
	return out, nil
}

func (c *cursor) numbers(elem ValueType, n int) (any, error) {
	raw := make([]byte, uint64(n)*valueSizes[elem])
	if err := c.read(raw, "the array"); err != nil {
		return nil, err
	}
	le := binary.LittleEndian
	switch elem {
	case Uint8:
		return raw, nil
	case Int8:
		return each(raw, 1, func(p []byte) int8 { return int8(p[0]) }), nil
	case Uint16:
		return each(raw, 2, le.Uint16), nil
	case Int16:
		return each(raw, 2, func(p []byte) int16 { return int16(le.Uint16(p)) }), nil
	case Uint32:
		return each(raw, 4, le.Uint32), nil
	case Int32:
		return each(raw, 4, func(p []byte) int32 { return int32(le.Uint32(p)) }), nil
	case Float32:
		return each(raw, 4, func(p []byte) float32 { return math.Float32frombits(le.Uint32(p)) }), nil
	case Uint64:
		return each(raw, 8, le.Uint64), nil
	case Int64:
		return each(raw, 8, func(p []byte) int64 { return int64(le.Uint64(p)) }), nil
	case Float64:
		return each(raw, 8, func(p []byte) float64 { return math.Float64frombits(le.Uint64(p)) }), nil
	case Bool:
		out := make([]bool, n)
		for i, b := range raw {
			v, err := toBool(b)
			if err != nil {
				return nil, fmt.Errorf("element %d of the array: %w", i, err)
			}
			out[i] = v
		}
		return out, nil
	}
	return nil, fmt.Errorf("type %s is no number", elem)
}

func each[T any](raw []byte, size int, get func([]byte) T) []T {
	out := make([]T, len(raw)/size)
	for i := range out {
		out[i] = get(raw[i*size:])
	}
	return out
}
