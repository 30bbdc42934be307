package gguf

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"unicode/utf8"
)

// Tensor is an entry of the tensor table.
type Tensor struct {
	Name     string
	Type     TensorType
	Shape    []uint64 // elements per dimension; Shape[0] is the length of a row, which lies together
	Part     int      // which of File.Parts holds the data
	Offset   int64    // of the data in that file
	Size     int64    // of the data in bytes
	Elements uint64

	entry int64 // offset of the entry in the table, for errors
}

// Rows is the number of rows of Shape[0] elements.
func (t Tensor) Rows() uint64 { return t.Elements / t.Shape[0] }

func (p *parser) tensor(i uint64) error {
	at := fmt.Sprintf("tensor %d", i)
	t := Tensor{entry: p.c.off}
	var err error
	t.Name, err = p.c.str(MaxTensorName, "the name")
	switch {
	case err != nil:
		return p.fail(at, err)
	case t.Name == "":
		return p.fail(at, fmt.Errorf("the name is empty"))
	case !utf8.ValidString(t.Name):
		return p.fail(at, fmt.Errorf("the name %q is not UTF-8", t.Name))
	}
	at = fmt.Sprintf("tensor %q", t.Name)
	if _, ok := p.f.byName[t.Name]; ok {
		return p.fail(at, fmt.Errorf("the name occurs twice"))
	}
	if err := p.shape(&t); err != nil {
		return p.fail(at, err)
	}
	if err := p.storage(&t); err != nil {
		return p.fail(at, err)
	}
	p.f.byName[t.Name] = len(p.f.Tensors)
	p.f.Tensors = append(p.f.Tensors, t)
	return nil
}

func (p *parser) shape(t *Tensor) error {
	dims, err := p.c.u32("the number of dimensions")
	if err != nil {
		return err
	}
	if dims < 1 || dims > MaxDims {
		return fmt.Errorf("it has %d dimensions, expected 1 to %d", dims, MaxDims)
	}
	t.Shape = make([]uint64, dims)
	t.Elements = 1
	for i := range t.Shape {
		n, err := p.c.u64("a dimension")
		if err != nil {
			return err
		}
		if n == 0 {
			return fmt.Errorf("dimension %d is 0", i)
		}
		hi, lo := bits.Mul64(t.Elements, n)
		if hi != 0 || lo > math.MaxInt64 {
			return fmt.Errorf("dimension %d is %d: the number of elements overflows", i, n)
		}
		t.Shape[i], t.Elements = n, lo
	}
	return nil
}

// storage reads type and offset. The offset is relative to the tensor data until layout.
func (p *parser) storage(t *Tensor) error {
	typ, err := p.c.u32("the type")
	if err != nil {
		return err
	}
	t.Type = TensorType(typ)
	elems, size, ok := t.Type.Block()
	if !ok {
		return fmt.Errorf("unknown tensor type %d: this build does not know the format", typ)
	}
	if t.Shape[0]%elems != 0 {
		return fmt.Errorf("a row has %d elements, expected a multiple of the %d of a %s block", t.Shape[0], elems, t.Type)
	}
	hi, lo := bits.Mul64(t.Elements/elems, size)
	if hi != 0 || lo > math.MaxInt64 {
		return fmt.Errorf("%d elements of type %s: the number of bytes overflows", t.Elements, t.Type)
	}
	t.Size = int64(lo)
	off, err := p.c.u64("the offset")
	if err != nil {
		return err
	}
	if off%p.f.Alignment != 0 {
		return fmt.Errorf("its offset %d is no multiple of the alignment %d", off, p.f.Alignment)
	}
	if off > uint64(p.f.Size) {
		return fmt.Errorf("its offset %d lies behind the end of the file of %d bytes", off, p.f.Size)
	}
	t.Offset = int64(off)
	return nil
}

// layout finds where tensor data begins and checks that each tensor lies in the file and on its own.
func (p *parser) layout() error {
	start := (uint64(p.c.off) + p.f.Alignment - 1) / p.f.Alignment * p.f.Alignment
	p.f.DataOffset = int64(start)
	order := make([]int, len(p.f.Tensors))
	for i := range p.f.Tensors {
		t := &p.f.Tensors[i]
		t.Offset += p.f.DataOffset // both at most the size of a file plus an alignment: no overflow
		if t.Offset > p.f.Size || t.Size > p.f.Size-t.Offset {
			return t.fail(fmt.Errorf("its data of %d bytes begins at byte %d, but the file has only %d bytes: "+
				"the file is truncated (download it again) or the offset is wrong", t.Size, t.Offset, p.f.Size))
		}
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p.f.Tensors[a].Offset, p.f.Tensors[b].Offset) })
	for k := 1; k < len(order); k++ {
		a, b := p.f.Tensors[order[k-1]], p.f.Tensors[order[k]]
		if a.Offset+a.Size > b.Offset {
			return b.fail(fmt.Errorf("its data at byte %d overlaps that of tensor %q, which ends at byte %d",
				b.Offset, a.Name, a.Offset+a.Size))
		}
	}
	return nil
}

func (t Tensor) fail(err error) error {
	return &Error{Offset: t.entry, Where: fmt.Sprintf("tensor %q", t.Name), Err: err}
}
