package gguf

import (
	"errors"
	"fmt"
)

// Keys lists the metadata keys in file order. The caller must not change it.
func (f *File) Keys() []string { return f.keys }

// Get gives the value of a key.
func (f *File) Get(key string) (Value, bool) {
	v, ok := f.values[key]
	return v, ok
}

// Has says whether the file has a key.
func (f *File) Has(key string) bool {
	_, ok := f.values[key]
	return ok
}

// Tensor finds a tensor by name.
func (f *File) Tensor(name string) (Tensor, bool) {
	i, ok := f.byName[name]
	if !ok {
		return Tensor{}, false
	}
	return f.Tensors[i], true
}

// get applies a conversion of Value to a key. Errors are of type *KeyError; ErrMissing is in them if the key is missing.
func get[T any](f *File, key string, conv func(Value) (T, error)) (T, error) {
	var zero T
	v, ok := f.values[key]
	if !ok {
		return zero, &KeyError{Key: key, Err: ErrMissing}
	}
	x, err := conv(v)
	if err != nil {
		return zero, &KeyError{Key: key, Err: fmt.Errorf("at byte %d: %w", v.Offset, err)}
	}
	return x, nil
}

// Text gives a string.
func (f *File) Text(key string) (string, error) { return get(f, key, Value.Text) }

// Truth gives a bool.
func (f *File) Truth(key string) (bool, error) { return get(f, key, Value.Truth) }

// Uint gives a number of any integer type that is not negative.
func (f *File) Uint(key string) (uint64, error) { return get(f, key, Value.Uint) }

// Int gives a number of any integer type.
func (f *File) Int(key string) (int64, error) { return get(f, key, Value.Int) }

// Float gives a floating-point number.
func (f *File) Float(key string) (float64, error) { return get(f, key, Value.Float) }

// Texts gives an array of strings, which the caller must not change.
func (f *File) Texts(key string) ([]string, error) { return get(f, key, Value.Texts) }

// Ints gives an array of integers of any width.
func (f *File) Ints(key string) ([]int64, error) { return get(f, key, Value.Ints) }

// Floats gives an array of floating-point numbers.
func (f *File) Floats(key string) ([]float64, error) { return get(f, key, Value.Floats) }

// Default makes def of the answer of a getter whose key is missing; other errors stay:
//
//	eps, err := gguf.Default(1e-5)(f.Float("qwen2.attention.layer_norm_rms_epsilon"))
func Default[T any](def T) func(T, error) (T, error) {
	return func(v T, err error) (T, error) {
		if errors.Is(err, ErrMissing) {
			return def, nil
		}
		return v, err
	}
}
