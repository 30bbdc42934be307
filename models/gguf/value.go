package gguf

import (
	"fmt"
	"math"
)

// Value is one metadata value. Elem is the type of the elements of an array.
type Value struct {
	Type   ValueType
	Elem   ValueType
	Offset int64 // of the value in the file, behind key and type

	data any // Go value of Type; for arrays a slice of it
}

// Any gives the value as the Go type of its GGUF type (uint32, string, bool, ...), arrays as slices of it. The caller
// must not change a slice.
func (v Value) Any() any { return v.data }

// Len is the number of elements of an array, else 1.
func (v Value) Len() int {
	switch d := v.data.(type) {
	case []uint8:
		return len(d)
	case []int8:
		return len(d)
	case []uint16:
		return len(d)
	case []int16:
		return len(d)
	case []uint32:
		return len(d)
	case []int32:
		return len(d)
	case []float32:
		return len(d)
	case []bool:
		return len(d)
	case []string:
		return len(d)
	case []uint64:
		return len(d)
	case []int64:
		return len(d)
	case []float64:
		return len(d)
	}
	return 1
}

// TypeName is the type in words: "uint32", "array of string".
func (v Value) TypeName() string {
	if v.Type == Array {
		return "array of " + v.Elem.String()
	}
	return v.Type.String()
}

func (v Value) wrong(want string) error {
	return fmt.Errorf("is of type %s, expected %s", v.TypeName(), want)
}

// Text gives a string.
func (v Value) Text() (string, error) {
	if s, ok := v.data.(string); ok {
		return s, nil
	}
	return "", v.wrong("string")
}

// Truth gives a bool.
func (v Value) Truth() (bool, error) {
	if b, ok := v.data.(bool); ok {
		return b, nil
	}
	return false, v.wrong("bool")
}

// Uint gives a number of any integer type, which must not be negative: writers differ in the types they choose.
func (v Value) Uint() (uint64, error) {
	switch d := v.data.(type) {
	case uint8:
		return uint64(d), nil
	case uint16:
		return uint64(d), nil
	case uint32:
		return uint64(d), nil
	case uint64:
		return d, nil
	case int8, int16, int32, int64:
		n, _ := v.Int()
		if n < 0 {
			return 0, fmt.Errorf("is %d, expected a number that is not negative", n)
		}
		return uint64(n), nil
	}
	return 0, v.wrong("an integer")
}

// Int gives a number of any integer type.
func (v Value) Int() (int64, error) {
	switch d := v.data.(type) {
	case int8:
		return int64(d), nil
	case int16:
		return int64(d), nil
	case int32:
		return int64(d), nil
	case int64:
		return d, nil
	}
	n, err := v.Uint()
	if err != nil {
		return 0, err
	}
	if n > math.MaxInt64 {
		return 0, fmt.Errorf("is %d, expected at most %d", n, int64(math.MaxInt64))
	}
	return int64(n), nil
}

// Float gives a floating-point number.
func (v Value) Float() (float64, error) {
	switch d := v.data.(type) {
	case float32:
		return float64(d), nil
	case float64:
		return d, nil
	}
	return 0, v.wrong("a floating-point number")
}

// Texts gives an array of strings, which the caller must not change.
func (v Value) Texts() ([]string, error) {
	if s, ok := v.data.([]string); ok {
		return s, nil
	}
	return nil, v.wrong("array of string")
}

// Floats gives an array of floating-point numbers.
func (v Value) Floats() ([]float64, error) {
	switch d := v.data.(type) {
	case []float32:
		out := make([]float64, len(d))
		for i, x := range d {
			out[i] = float64(x)
		}
		return out, nil
	case []float64:
		return append([]float64(nil), d...), nil
	}
	return nil, v.wrong("array of floating-point numbers")
}

// Ints gives an array of integers of any width.
func (v Value) Ints() ([]int64, error) {
	switch d := v.data.(type) {
	case []uint8:
		return widen(d), nil
	case []int8:
		return widen(d), nil
	case []uint16:
		return widen(d), nil
	case []int16:
		return widen(d), nil
	case []uint32:
		return widen(d), nil
	case []int32:
		return widen(d), nil
	case []int64:
		return widen(d), nil
	case []uint64:
		for i, x := range d {
			if x > math.MaxInt64 {
				return nil, fmt.Errorf("element %d is %d, expected at most %d", i, x, int64(math.MaxInt64))
			}
		}
		return widen(d), nil
	}
	return nil, v.wrong("array of integers")
}

func widen[T uint8 | int8 | uint16 | int16 | uint32 | int32 | int64 | uint64](in []T) []int64 {
	out := make([]int64, len(in))
	for i, x := range in {
		out[i] = int64(x)
	}
	return out
}
