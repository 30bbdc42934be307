package gguf

import (
	"errors"
	"fmt"
)

// ErrMissing is wrapped by the error of a getter whose key the file does not have.
var ErrMissing = errors.New("the file has no such key")

// ErrNotGGUF is wrapped by the error for a file that does not begin with the magic of GGUF.
var ErrNotGGUF = errors.New("not a GGUF file")

// Error says what is wrong in a file, and where.
type Error struct {
	Offset int64  // of the first byte of what is wrong
	Where  string // "header", `key "general.alignment"`, `tensor "output.weight"`
	Err    error  // what is wrong
}

func (e *Error) Error() string {
	return fmt.Sprintf("gguf: %s, at byte %d: %v", e.Where, e.Offset, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// KeyError says that the value of a key is missing or not what was asked for.
type KeyError struct {
	Key string
	Err error
}

func (e *KeyError) Error() string { return fmt.Sprintf("gguf: key %q: %v", e.Key, e.Err) }

func (e *KeyError) Unwrap() error { return e.Err }
