package gguf

import (
	"encoding/binary"
	"fmt"
	"unicode/utf8"
)

type parser struct {
	c *cursor
	f *File
}

// fail says what is wrong in the field that the cursor stands at.
func (p *parser) fail(where string, err error) error {
	return &Error{Offset: p.c.at, Where: where, Err: err}
}

const (
	where      = "header"
	magic      = "GGUF"
	minPair    = 8 + 1 + 4 + 1         // length of the key, a key of one byte, type, a value of one byte
	minTensor  = 8 + 1 + 4 + 8 + 4 + 8 // length of the name, a name of one byte, one dimension, type, offset
	alignField = "general.alignment"
)

func (p *parser) parse() error {
	tensors, pairs, err := p.counts()
	if err != nil {
		return err
	}
	p.f.keys = make([]string, 0, pairs)
	for i := range pairs {
		if err := p.pair(i); err != nil {
			return err
		}
	}
	if err := p.alignment(); err != nil {
		return err
	}
	p.f.Tensors = make([]Tensor, 0, tensors)
	for i := range tensors {
		if err := p.tensor(i); err != nil {
			return err
		}
	}
	return p.layout()
}

func (p *parser) counts() (tensors, pairs uint64, err error) {
	m, err := p.c.bytes(4, "the magic")
	if err != nil {
		return 0, 0, p.fail(where, fmt.Errorf("%w: %w", ErrNotGGUF, err))
	}
	if string(m) != magic {
		return 0, 0, p.fail(where, fmt.Errorf("%w: it begins with the bytes %q, expected %q", ErrNotGGUF, m, magic))
	}
	v, err := p.c.u32("the version")
	if err != nil {
		return 0, 0, p.fail(where, err)
	}
	if v != 2 && v != 3 {
		return 0, 0, p.fail(where, versionError(v))
	}
	p.f.Version = v
	if tensors, err = p.count("tensors", minTensor); err != nil {
		return 0, 0, err
	}
	if pairs, err = p.count("metadata pairs", minPair); err != nil {
		return 0, 0, err
	}
	return tensors, pairs, nil
}

func versionError(v uint32) error {
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], v)
	if s := binary.LittleEndian.Uint32(b[:]); s == 2 || s == 3 {
		return fmt.Errorf("the file is big-endian, expected little-endian: convert it")
	}
	return fmt.Errorf("version is %d, expected 2 or 3: convert the model again with current tools", v)
}

// count reads a number of entries and checks that the file has room for them.
func (p *parser) count(what string, least uint64) (uint64, error) {
	n, err := p.c.u64("the number of " + what)
	if err != nil {
		return 0, p.fail(where, err)
	}
	if n > p.c.left()/least {
		return 0, p.fail(where, fmt.Errorf("the file has %d %s of at least %d bytes each, but %d bytes are left: "+
			"it is truncated or the number is wrong", n, what, least, p.c.left()))
	}
	return n, nil
}

func (p *parser) pair(i uint64) error {
	at := fmt.Sprintf("metadata pair %d", i)
	key, err := p.c.str(MaxKey, "the key")
	switch {
	case err != nil:
		return p.fail(at, err)
	case key == "":
		return p.fail(at, fmt.Errorf("the key is empty"))
	case !utf8.ValidString(key):
		return p.fail(at, fmt.Errorf("the key %q is not UTF-8", key))
	}
	at = fmt.Sprintf("key %q", key)
	if _, ok := p.f.values[key]; ok {
		return p.fail(at, fmt.Errorf("the key occurs twice"))
	}
	t, err := p.c.u32("the value type")
	if err != nil {
		return p.fail(at, err)
	}
	v, err := p.c.value(ValueType(t))
	if err != nil {
		return p.fail(at, err)
	}
	p.f.keys = append(p.f.keys, key)
	p.f.values[key] = v
	return nil
}

func (p *parser) alignment() error {
	p.f.Alignment = DefaultAlignment
	v, ok := p.f.values[alignField]
	if !ok {
		return nil
	}
	a, ok := v.data.(uint32)
	bad := func(err error) error {
		return &Error{Offset: v.Offset, Where: fmt.Sprintf("key %q", alignField), Err: err}
	}
	if !ok {
		return bad(v.wrong("uint32"))
	}
	if a == 0 || a&(a-1) != 0 || a > MaxAlignment {
		return bad(fmt.Errorf("is %d, expected a power of two up to %d", a, MaxAlignment))
	}
	p.f.Alignment = uint64(a)
	return nil
}
