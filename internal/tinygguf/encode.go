package tinygguf

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
)

// alignment of tensor data in the file, bytes.
const alignment = 32

// blockWeights is the number of weights of a Q8_0 block.
const blockWeights = 32

// pair is one metadata entry. Values: string, uint32, float32, bool, []string, []int32.
type pair struct {
	key   string
	value any
}

// Metadata value types of the GGUF specification.
const (
	typeUint32 = 4
	typeInt32  = 5
	typeFloat  = 6
	typeBool   = 7
	typeString = 8
	typeArray  = 9
)

type tensor struct {
	name string
	kind Type
	dims []int // fastest first
	data []byte
}

func newTensor(name string, kind Type, dims []int, values []float32) tensor {
	t := tensor{name: name, kind: kind, dims: dims}
	if kind == Q8_0 {
		t.data = quantizeQ8(values)
		return t
	}
	for _, v := range values {
		t.data = binary.LittleEndian.AppendUint32(t.data, math.Float32bits(v))
	}
	return t
}

// quantizeQ8 packs blocks of 32 weights: a half-float scale d = max|w|/127, then 32 codes round(w/d).
func quantizeQ8(values []float32) []byte {
	var out []byte
	for ; len(values) > 0; values = values[blockWeights:] {
		var largest float32
		for _, v := range values[:blockWeights] {
			largest = max(largest, float32(math.Abs(float64(v))))
		}
		scale := largest / 127
		out = binary.LittleEndian.AppendUint16(out, half(scale))
		for _, v := range values[:blockWeights] {
			code := 0.0
			if scale > 0 {
				code = math.RoundToEven(float64(v / scale))
			}
			out = append(out, byte(int8(code)))
		}
	}
	return out
}

// half converts a float in the range of normal half floats, or 0, to IEEE 754 binary16, rounding to nearest even.
func half(f float32) uint16 {
	if f == 0 {
		return 0
	}
	bits := math.Float32bits(f)
	sign := uint16(bits >> 16 & 0x8000)
	rounded := bits&0x7fffffff + 0xfff + bits>>13&1 // the carry of rounding may go into the exponent, as it should
	exponent := int(rounded>>23) - 127 + 15
	if exponent < 1 || exponent > 30 {
		panic(fmt.Sprintf("tinygguf: %g is outside the range of normal half floats", f))
	}
	return sign | uint16(exponent)<<10 | uint16(rounded>>13&0x3ff)
}

// encode lays out a GGUF version 3 file.
func encode(metadata []pair, tensors []tensor) []byte {
	var b bytes.Buffer
	put := func(v any) {
		if err := binary.Write(&b, binary.LittleEndian, v); err != nil {
			panic(err) // only types of fixed size are put
		}
	}
	text := func(s string) { put(uint64(len(s))); b.WriteString(s) }

	b.WriteString("GGUF")
	put(uint32(3))
	put(uint64(len(tensors)))
	put(uint64(len(metadata)))
	for _, p := range metadata {
		text(p.key)
		switch v := p.value.(type) {
		case string:
			put(uint32(typeString))
			text(v)
		case uint32:
			put(uint32(typeUint32))
			put(v)
		case float32:
			put(uint32(typeFloat))
			put(v)
		case bool:
			put(uint32(typeBool))
			put(v)
		case []string:
			put([]uint32{typeArray, typeString})
			put(uint64(len(v)))
			for _, s := range v {
				text(s)
			}
		case []int32:
			put([]uint32{typeArray, typeInt32})
			put(uint64(len(v)))
			put(v)
		default:
			panic(fmt.Sprintf("tinygguf: metadata of type %T", v))
		}
	}
	offset := 0
	for _, t := range tensors {
		text(t.name)
		put(uint32(len(t.dims)))
		for _, d := range t.dims {
			put(uint64(d))
		}
		put(uint32(t.kind))
		put(uint64(offset))
		offset += aligned(len(t.data))
	}
	pad := func() { b.Write(make([]byte, aligned(b.Len())-b.Len())) }
	pad()
	for _, t := range tensors {
		b.Write(t.data)
		pad()
	}
	return b.Bytes()
}

func aligned(n int) int { return (n + alignment - 1) / alignment * alignment }
