package quantize

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/tokenrouter/tokenrouter/models/gguf"
)

// Converter converts the weights of src, whole blocks of from, into dst, as many in blocks of to. Called concurrently.
type Converter interface {
	Convert(from gguf.TensorType, src []byte, to gguf.TensorType, dst []byte) error
}

// Report says what became of a file's tensors.
type Report struct {
	Tensors map[gguf.TensorType]int // how many are in each format now
	Weights map[gguf.TensorType]int // of these, how many are matrices that were to be in the format asked for
	Bytes   int64                   // of the new file
}

// File writes in, with its matrices in format to, as a new file at path. The file appears there when it is complete, or not at
// all; a regular one that is there is replaced, anything else refused. A model in parts becomes one file. progress, if not nil,
// is told the weights done and their total. When ctx ends, so does the work, between two tensors, with the context's error.
func File(ctx context.Context, path string, in *gguf.File, to gguf.TensorType, c Converter, progress func(done, total uint64)) (r Report, err error) {
	fileType, ok := fileTypes[to]
	if !ok {
		return r, fmt.Errorf("quantize: type %s cannot be written, expected one of %s", to, strings.Join(Types(), ", "))
	}
	for _, part := range in.Parts {
		if same(part.Path, path) {
			return r, fmt.Errorf("quantize: %s is the file to be read; name another one to be written", path)
		}
	}
	if there, err := os.Lstat(path); err == nil && !there.Mode().IsRegular() {
		return r, fmt.Errorf("quantize: %s is there and is no regular file; name another one to be written", path)
	}
	parts, err := openParts(in)
	defer func() { err = errors.Join(err, parts.close()) }()
	if err != nil {
		return r, err
	}
	out, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return r, fmt.Errorf("quantize: %w", err)
	}
	defer os.Remove(out.Name()) // gone already when all went well
	defer out.Close()

	r = Report{Tensors: map[gguf.TensorType]int{}, Weights: map[gguf.TensorType]int{}}
	w := gguf.NewWriter()
	copyMetadata(w, in)
	w.Set("general.file_type", fileType)
	if elems, _, _ := to.Block(); elems > 1 {
		w.Set("general.quantization_version", uint32(2)) // of the block layouts: the one that is in use
	}
	tick := counter(in, progress)
	for _, t := range in.Tensors {
		target := typeOf(t, to)
		r.Tensors[target]++
		if target != t.Type || target == to {
			r.Weights[target]++
		}
		w.Stream(t.Name, target, t.Shape, sizeOf(t, target), func(dst io.Writer) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return convert(dst, parts[t.Part], t, target, c, tick)
		})
	}
	if r.Bytes, err = w.WriteTo(out); err != nil {
		return r, fmt.Errorf("quantize %s: %w", in.Path, err)
	}
	for _, step := range []func() error{
		func() error { return out.Chmod(0o644) }, // as a file made by anyone; CreateTemp's are private
		out.Sync, out.Close,
		func() error { return os.Rename(out.Name(), path) },
	} {
		if err := step(); err != nil {
			return r, fmt.Errorf("quantize: %w", err)
		}
	}
	return r, nil
}

// same says whether two names are of one file.
func same(a, b string) bool {
	x, errA := os.Stat(a)
	y, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(x, y)
}

// files are the parts of a model, open.
type files []*os.File

func openParts(in *gguf.File) (files, error) {
	var open files
	for _, part := range in.Parts {
		f, err := os.Open(part.Path)
		if err != nil {
			return open, fmt.Errorf("quantize: %w", err)
		}
		open = append(open, f)
	}
	return open, nil
}

func (f files) close() (err error) {
	for _, file := range f {
		err = errors.Join(err, file.Close())
	}
	return err
}

// copyMetadata takes all keys over but those of parts.
func copyMetadata(w *gguf.Writer, in *gguf.File) {
	for _, key := range in.Keys() {
		if !strings.HasPrefix(key, "split.") {
			v, _ := in.Get(key)
			w.Set(key, v.Any())
		}
	}
}

// counter returns a function that is told of weights done. One goroutine at a time calls it.
func counter(in *gguf.File, progress func(done, total uint64)) func(n uint64) {
	var done, total uint64
	for _, t := range in.Tensors {
		total += t.Elements
	}
	return func(n uint64) {
		if done += n; progress != nil {
			progress(done, total)
		}
	}
}

// chunk is a number of weights that is whole blocks in every format.
const chunk = 1 << 18

// convert writes tensor t of the file in to dst in another format, or as it is.
func convert(dst io.Writer, in io.ReaderAt, t gguf.Tensor, to gguf.TensorType, c Converter, tick func(n uint64)) error {
	if to == t.Type {
		_, err := io.Copy(dst, io.NewSectionReader(in, t.Offset, t.Size))
		tick(t.Elements)
		return err
	}
	elems, bytes, _ := t.Type.Block()
	row := gguf.Tensor{Shape: t.Shape}
	pieces := make([]piece, runtime.GOMAXPROCS(0))
	for at := uint64(0); at < t.Elements; {
		used := 0
		var group sync.WaitGroup
		for i := range pieces {
			if at == t.Elements {
				break
			}
			n := min(chunk, t.Elements-at)
			row.Elements = n
			p := &pieces[i]
			p.resize(n/elems*bytes, sizeOf(row, to))
			offset := t.Offset + int64(at/elems*bytes)
			group.Go(func() {
				if _, p.err = in.ReadAt(p.src, offset); p.err == nil {
					p.err = c.Convert(t.Type, p.src, to, p.dst)
				}
			})
			at += n
			used++
			tick(n)
		}
		group.Wait()
		for _, p := range pieces[:used] {
			if p.err != nil {
				return p.err
			}
			if _, err := dst.Write(p.dst); err != nil {
				return err
			}
		}
	}
	return nil
}

// piece is what one goroutine converts. Its memory serves for one piece after another.
type piece struct {
	src, dst []byte
	err      error
}

func (p *piece) resize(src, dst uint64) {
	if uint64(cap(p.src)) < src {
		p.src = make([]byte, src)
	}
	if uint64(cap(p.dst)) < dst {
		p.dst = make([]byte, dst)
	}
	p.src, p.dst = p.src[:src], p.dst[:dst]
}
