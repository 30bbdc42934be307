package models

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/tokenrouter/tokenrouter/models/tokenizer"
)

// CheckRoute checks that models may share a route. Models hand token ids to each other, so an id must mean the same to
// all: the same text and type for every id below the smallest vocabulary, the same pre-tokenizer and the same merges.
// vocab is the number of ids that are valid in all; a model may have further ids above, which are then masked.
//
// The error names the two models, the first difference, and what to do.
func CheckRoute(ms ...*Model) (vocab int, err error) {
	if len(ms) == 0 {
		return 0, errors.New("models: a route needs at least one model")
	}
	vocab = ms[0].tok.VocabSize()
	for _, m := range ms[1:] {
		n, err := ms[0].tok.Shared(m.tok)
		if err != nil {
			return 0, mismatch(ms[0], m, err)
		}
		vocab = min(vocab, n)
	}
	return vocab, nil
}

func mismatch(a, b *Model, err error) error {
	const advice = "pair models of one family, whose files have the same tokenizer"
	var m *tokenizer.MismatchError
	if errors.As(err, &m) {
		return fmt.Errorf("models: %s and %s cannot share a route: %s is %s in the first and %s in the second; %s: %w",
			label(a), label(b), m.What, m.A, m.B, advice, ErrMismatch)
	}
	return fmt.Errorf("models: %s and %s cannot share a route: %w; %s", label(a), label(b), err, advice)
}

// ErrMismatch is wrapped by the error of CheckRoute for models with different tokenizers.
var ErrMismatch = errors.New("tokenizers differ")

func label(m *Model) string {
	if m.info.Path == "" {
		return fmt.Sprintf("%q", m.info.Name)
	}
	return filepath.Base(m.info.Path)
}
