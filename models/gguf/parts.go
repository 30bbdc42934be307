package gguf

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
)

// ErrParts is wrapped by the error for a model in parts whose files do not belong together.
var ErrParts = errors.New("gguf: parts")

// maxParts is what the five digits in a file's name can count.
const maxParts = 99999

const keyTensorCount = "split.tensors.count"

// split is what one file says of the model's parts.
type split struct {
	number  uint64 // split.no, from 0
	count   uint64 // split.count, at least 1
	tensors uint64 // split.tensors.count, of all parts together
	known   bool   // whether there is a tensors
}

func partsError(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrParts, fmt.Errorf(format, args...))
}

// suffix is how the name of a part ends; numbers in names are from 1.
func suffix(number, count uint64) string { return fmt.Sprintf("-%05d-of-%05d.gguf", number+1, count) }

func label(number, count uint64) string { return fmt.Sprintf("part %d of %d", number+1, count) }

func (f *File) split() (split, error) {
	name := filepath.Base(f.Path)
	s := split{}
	for _, k := range []struct {
		key  string
		into *uint64
		most uint64
	}{{"split.count", &s.count, maxParts}, {"split.no", &s.number, maxParts}, {keyTensorCount, &s.tensors, math.MaxInt64}} {
		n, err := Default(uint64(0))(f.Uint(k.key))
		if err == nil && n > k.most {
			err = &KeyError{Key: k.key, Err: fmt.Errorf("is %d, expected 0 to %d", n, k.most)}
		}
		if err != nil {
			return s, partsError("%q: %w", name, err)
		}
		*k.into = n
	}
	s.count = max(s.count, 1)
	s.known = f.Has(keyTensorCount)
	if s.number >= s.count {
		return s, partsError("%q: split.no is %d, expected less than split.count, which is %d", name, s.number, s.count)
	}
	if s.count > 1 && !s.known {
		return s, partsError("%q is %s, but has no %s", name, label(s.number, s.count), keyTensorCount)
	}
	return s, nil
}

// checkFirst checks the file that the user named, which is the whole model or its first part.
func (f *File) checkFirst(s split) error {
	name := filepath.Base(f.Path)
	first := suffix(0, s.count)
	switch stem, numbered := strings.CutSuffix(name, suffix(s.number, s.count)); {
	case s.number > 0 && numbered:
		return partsError("%q is %s of a model: name the first part, %q", name, label(s.number, s.count), stem+first)
	case s.number > 0:
		return partsError("%q is %s of a model: name the first part, whose name ends in %q", name, label(s.number, s.count), first)
	case s.count > 1 && !numbered:
		return partsError("the file is %s, but its name %q does not end in %q: the others cannot be found", label(0, s.count), name, first)
	case s.count == 1 && s.known && s.tensors != uint64(len(f.Tensors)):
		return partsError("the file has %d tensors, but %s is %d", len(f.Tensors), keyTensorCount, s.tensors)
	}
	return nil
}

// addParts reads the other parts of the model whose first part f is, and takes in their tensors.
func (f *File) addParts() error {
	s, err := f.split()
	if err != nil {
		return err
	}
	if err := f.checkFirst(s); err != nil {
		return err
	}
	if s.count == 1 {
		return nil
	}
	for number := uint64(1); number < s.count; number++ {
		path := strings.TrimSuffix(f.Path, suffix(0, s.count)) + suffix(number, s.count)
		which := fmt.Sprintf("%s, %q", label(number, s.count), filepath.Base(path))
		part, err := openOne(path)
		if err == nil {
			err = f.checkPart(part, number, s)
		}
		if err == nil {
			err = f.add(part)
		}
		if errors.Is(err, ErrParts) {
			return err
		}
		if err != nil {
			return partsError("%s: %w", which, err)
		}
	}
	if uint64(len(f.Tensors)) != s.tensors {
		return partsError("the %d parts have %d tensors, but %s is %d: tensors are missing or too many",
			s.count, len(f.Tensors), keyTensorCount, s.tensors)
	}
	return nil
}

// checkPart checks a part against the first one.
func (f *File) checkPart(part *File, number uint64, first split) error {
	if !part.Has("split.count") {
		return errors.New("it has no split.count, so it is not part of a model")
	}
	s, err := part.split()
	switch {
	case err != nil:
		return err
	case s.count != first.count:
		return fmt.Errorf("split.count is %d, but %d in the first part", s.count, first.count)
	case s.number != number:
		return fmt.Errorf("split.no is %d, expected %d", s.number, number)
	case s.tensors != first.tensors:
		return fmt.Errorf("%s is %d, but %d in the first part: it is part of another model", keyTensorCount, s.tensors, first.tensors)
	}
	// A part may repeat what the first says of the model, but not say something else.
	for _, key := range []string{"general.architecture", "general.name"} {
		here, err := part.Text(key)
		there, firstErr := f.Text(key)
		if err == nil && firstErr == nil && here != there {
			return fmt.Errorf("%s is %q, but %q in the first part: it is part of another model", key, here, there)
		}
	}
	return nil
}

// add takes in the tensors of a part.
func (f *File) add(part *File) error {
	for _, t := range part.Tensors {
		if i, ok := f.byName[t.Name]; ok {
			return fmt.Errorf("tensor %q is in part %d too", t.Name, f.Tensors[i].Part+1)
		}
		t.Part = len(f.Parts)
		f.byName[t.Name] = len(f.Tensors)
		f.Tensors = append(f.Tensors, t)
	}
	f.Parts = append(f.Parts, part.Parts...)
	f.Size += part.Size
	return nil
}
