package tokenizer

import "fmt"

// MismatchError says that two tokenizers give the same ids different meanings.
type MismatchError struct {
	What string // "token 5", "merge 17", "pre-tokenizer"
	A, B string // what each has, as text for a message
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("the tokenizers differ: %s is %s in one and %s in the other", e.What, e.A, e.B)
}

// Shared gives the number of ids that mean the same in both: all ids below the smaller vocabulary, which must agree in
// text and type, with the same type of tokenizer, pre-tokenizer and merges. The larger one may have further ids. A
// difference is a *MismatchError that names the first.
func (t *Tokenizer) Shared(o *Tokenizer) (int, error) {
	a, b := t.vocab, o.vocab
	if a.model != b.model {
		return 0, &MismatchError{"the type", fmt.Sprintf("%q", a.model), fmt.Sprintf("%q", b.model)}
	}
	n := min(len(a.texts), len(b.texts))
	for id := range n {
		if a.texts[id] != b.texts[id] || a.types[id] != b.types[id] {
			return 0, &MismatchError{fmt.Sprintf("token %d", id), tokenText(a, id), tokenText(b, id)}
		}
	}
	if a.pre != b.pre {
		return 0, &MismatchError{"the pre-tokenizer", fmt.Sprintf("%q", a.pre), fmt.Sprintf("%q", b.pre)}
	}
	if err := t.encoder.same(o.encoder); err != nil {
		return 0, err
	}
	return n, nil
}

func tokenText(v *vocab, id int) string {
	return fmt.Sprintf("%q (%s)", v.texts[id], v.types[id])
}

// same compares the lists of merges.
func (b *bpe) same(other encoder) error {
	o, ok := other.(*bpe)
	if !ok {
		return &MismatchError{"the algorithm", "byte-pair encoding", "another"}
	}
	n := min(len(b.merges), len(o.merges))
	for i := range n {
		if b.merges[i] != o.merges[i] {
			return &MismatchError{fmt.Sprintf("merge %d", i), fmt.Sprintf("%q", b.merges[i]), fmt.Sprintf("%q", o.merges[i])}
		}
	}
	if len(b.merges) != len(o.merges) {
		return &MismatchError{"the number of merges", fmt.Sprint(len(b.merges)), fmt.Sprint(len(o.merges))}
	}
	return nil
}

// same compares the scores.
func (e *spm) same(other encoder) error {
	o, ok := other.(*spm)
	if !ok {
		return &MismatchError{"the algorithm", "merging by score", "another"}
	}
	if e.prefix != o.prefix {
		return &MismatchError{keyPrefix, fmt.Sprint(e.prefix), fmt.Sprint(o.prefix)}
	}
	for id := range min(len(e.scores), len(o.scores)) {
		if e.scores[id] != o.scores[id] {
			return &MismatchError{fmt.Sprintf("the score of token %d", id), fmt.Sprint(e.scores[id]), fmt.Sprint(o.scores[id])}
		}
	}
	return nil
}
