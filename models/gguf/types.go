package gguf

import (
	"fmt"
	"strings"
)

// ValueType is the type of a metadata value, numbered as in the format.
type ValueType uint32

// The value types of the format.
const (
	Uint8   ValueType = 0
	Int8    ValueType = 1
	Uint16  ValueType = 2
	Int16   ValueType = 3
	Uint32  ValueType = 4
	Int32   ValueType = 5
	Float32 ValueType = 6
	Bool    ValueType = 7
	String  ValueType = 8
	Array   ValueType = 9
	Uint64  ValueType = 10
	Int64   ValueType = 11
	Float64 ValueType = 12
)

var valueNames = [...]string{"uint8", "int8", "uint16", "int16", "uint32", "int32", "float32", "bool", "string", "array",
	"uint64", "int64", "float64"}

// The least bytes that a value of each type takes in a file: an empty string is its length, an empty array its element
// type and count.
var valueSizes = [...]uint64{1, 1, 2, 2, 4, 4, 4, 1, 8, 12, 8, 8, 8}

func (t ValueType) valid() bool { return int(t) < len(valueNames) }

func (t ValueType) String() string {
	if !t.valid() {
		return fmt.Sprintf("value type %d", uint32(t))
	}
	return valueNames[t]
}

// TensorType is the storage format of a tensor, numbered as ggml numbers them.
type TensorType uint32

// Storage formats that code here names.
const (
	TensorF32  TensorType = 0
	TensorF16  TensorType = 1
	TensorQ40  TensorType = 2
	TensorQ41  TensorType = 3
	TensorQ50  TensorType = 6
	TensorQ51  TensorType = 7
	TensorQ80  TensorType = 8
	TensorQ4K  TensorType = 12
	TensorQ5K  TensorType = 13
	TensorQ6K  TensorType = 14
	TensorBF16 TensorType = 30
)

type block struct {
	name  string
	elems uint64 // elements per block
	bytes uint64 // bytes per block
}

// Numbers that are missing were withdrawn from the format and are refused.
var blocks = map[TensorType]block{
	0: {"F32", 1, 4}, 1: {"F16", 1, 2}, 30: {"BF16", 1, 2}, 28: {"F64", 1, 8},
	24: {"I8", 1, 1}, 25: {"I16", 1, 2}, 26: {"I32", 1, 4}, 27: {"I64", 1, 8},
	2: {"Q4_0", 32, 18}, 3: {"Q4_1", 32, 20}, 6: {"Q5_0", 32, 22}, 7: {"Q5_1", 32, 24},
	8: {"Q8_0", 32, 34}, 9: {"Q8_1", 32, 36},
	10: {"Q2_K", 256, 84}, 11: {"Q3_K", 256, 110}, 12: {"Q4_K", 256, 144}, 13: {"Q5_K", 256, 176},
	14: {"Q6_K", 256, 210}, 15: {"Q8_K", 256, 292},
	16: {"IQ2_XXS", 256, 66}, 17: {"IQ2_XS", 256, 74}, 18: {"IQ3_XXS", 256, 98}, 19: {"IQ1_S", 256, 50},
	20: {"IQ4_NL", 32, 18}, 21: {"IQ3_S", 256, 110}, 22: {"IQ2_S", 256, 82}, 23: {"IQ4_XS", 256, 136},
	29: {"IQ1_M", 256, 56}, 34: {"TQ1_0", 256, 54}, 35: {"TQ2_0", 256, 66}, 39: {"MXFP4", 32, 17},
	40: {"NVFP4", 64, 36}, 41: {"Q1_0", 128, 18},
}

func (t TensorType) String() string {
	if b, ok := blocks[t]; ok {
		return b.name
	}
	return fmt.Sprintf("tensor type %d", uint32(t))
}

// TypeNamed finds a storage format by its name, in capitals or not.
func TypeNamed(name string) (TensorType, bool) {
	for t, b := range blocks {
		if strings.EqualFold(b.name, name) {
			return t, true
		}
	}
	return 0, false
}

// Block gives the elements and bytes of one block of the format; false if the format is not known.
func (t TensorType) Block() (elems, bytes uint64, ok bool) {
	b, ok := blocks[t]
	return b.elems, b.bytes, ok
}
