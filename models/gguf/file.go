package gguf

import (
	"fmt"
	"io"
	"os"
)

// File is the header of a GGUF file: metadata and tensor table. Immutable; safe for many goroutines.
type File struct {
	Path       string // as given to Open; "" from Read
	Size       int64  // bytes of the file
	Version    uint32 // 2 or 3
	Alignment  uint64 // of tensor data
	DataOffset int64  // where tensor data begins
	Tensors    []Tensor

	keys   []string // in file order
	values map[string]Value
	byName map[string]int // index into Tensors
}

// Open reads the header of the file at path.
func Open(path string) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open GGUF file: %w", err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("open GGUF file: %w", err)
	}
	if !st.Mode().IsRegular() {
		return nil, fmt.Errorf("open GGUF file %s: it is a %s, expected a regular file", path, kind(st.Mode()))
	}
	g, err := Read(f, st.Size())
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	g.Path = path
	return g, nil
}

func kind(m os.FileMode) string {
	if m.IsDir() {
		return "directory"
	}
	return "special file (" + m.Type().String() + ")"
}

// Read reads the header of a file of size bytes. It reads only what the header takes. Errors are of type *Error.
func Read(r io.ReaderAt, size int64) (*File, error) {
	if size < 0 {
		return nil, fmt.Errorf("gguf: size %d is negative", size)
	}
	p := parser{c: newCursor(r, min(size, MaxHeader)), f: &File{Size: size, values: map[string]Value{}, byName: map[string]int{}}}
	if err := p.parse(); err != nil {
		return nil, err
	}
	return p.f, nil
}
