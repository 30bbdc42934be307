package gguf

import (
	"fmt"
	"io"
	"os"
	"syscall"
)

// File is the header of a GGUF file: metadata and tensor table. Of a model in parts it is the metadata of the first part and
// the tensors of all. Immutable; safe for many goroutines.
type File struct {
	Path       string // as given to Open; "" from Read
	Size       int64  // bytes of the file, or of all parts
	Version    uint32 // 2 or 3
	Alignment  uint64 // of tensor data
	DataOffset int64  // where tensor data begins
	Tensors    []Tensor
	Parts      []Part // the files, at least one

	keys   []string // in file order
	values map[string]Value
	byName map[string]int // index into Tensors
}

// Part is one file of a model.
type Part struct {
	Path    string // "" from Read
	Size    int64  // bytes
	Tensors int    // how many it holds
}

// Open reads the header of the file at path. Of a model in parts, path names the first; the others lie beside it.
func Open(path string) (*File, error) {
	g, err := openOne(path)
	if err != nil {
		return nil, err
	}
	if err := g.addParts(); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return g, nil
}

func openOne(path string) (*File, error) {
	// Without O_NONBLOCK, opening a pipe would wait for somebody to write into it.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
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
	g.Path, g.Parts[0].Path = path, path
	return g, nil
}

func kind(m os.FileMode) string {
	if m.IsDir() {
		return "directory"
	}
	return "special file (" + m.Type().String() + ")"
}

// Read reads the header of one file of size bytes, which may be a part of a model. It reads only what the header takes. Errors
// are of type *Error.
func Read(r io.ReaderAt, size int64) (*File, error) {
	if size < 0 {
		return nil, fmt.Errorf("gguf: size %d is negative", size)
	}
	p := parser{c: newCursor(r, size), f: &File{Size: size, values: map[string]Value{}, byName: map[string]int{}}}
	if err := p.parse(); err != nil {
		return nil, err
	}
	p.f.Parts = []Part{{Size: size, Tensors: len(p.f.Tensors)}}
	return p.f, nil
}
