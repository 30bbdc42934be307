package bindings

import (
	"fmt"
	"math"
	"strings"
	"unsafe"
)

// native turns an address that the library returned into a pointer.
//
// Safe as far as the header holds: the address leads to memory of the library that is live for as long as the caller of
// native says, and never into the Go heap, so that the garbage collector ignores it.
func native[T any](address uintptr) *T {
	return *(**T)(unsafe.Pointer(&address))
}

// nativeSlice is an array of n elements in the library's memory, seen in place. Nil for NULL or n <= 0.
func nativeSlice[T int32 | float32](address uintptr, n int) []T {
	if address == 0 || n <= 0 {
		return nil
	}
	return unsafe.Slice(native[T](address), n) // safe: the header says that n elements stand there
}

// nativeString copies a NUL-terminated string out of the library's memory. "" for NULL.
func nativeString(address uintptr) string {
	if address == 0 {
		return ""
	}
	n := 0
	for *native[byte](address + uintptr(n)) != 0 { // safe: the header promises a terminator
		n++
	}
	return strings.ToValidUTF8(string(unsafe.Slice(native[byte](address), n)), "\uFFFD") // safe: n bytes were just read
}

// cString is a NUL-terminated copy of s in Go memory; nil for "".
func cString(what, s string) (*byte, error) {
	if s == "" {
		return nil, nil
	}
	if strings.IndexByte(s, 0) >= 0 {
		return nil, fmt.Errorf("%s %q: %w: holds a NUL byte", what, s, ErrArgument)
	}
	b := make([]byte, len(s)+1)
	copy(b, s)
	return &b[0], nil
}

// cPath is cString for the path of a file, which must not be empty.
func cPath(what, path string) (*byte, error) {
	if path == "" {
		return nil, fmt.Errorf("%s: %w: empty", what, ErrArgument)
	}
	return cString(what, path)
}

// int32Of converts a count, position or index for the library. A value outside int32 is an error: cut to 32 bits it might
// pass for another, valid one.
func int32Of(what string, v int) (int32, error) {
	if v < math.MinInt32 || v > math.MaxInt32 {
		return 0, fmt.Errorf("%s %d: %w: outside the range of 32 bits", what, v, ErrArgument)
	}
	return int32(v), nil
}
