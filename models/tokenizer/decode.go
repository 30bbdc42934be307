package tokenizer

import (
	"fmt"
	"strings"
)

// Decode gives the text of ids; bytes that are no UTF-8 become U+FFFD. An id outside the vocabulary is an error.
func (t *Tokenizer) Decode(ids []int32, o DecodeOptions) (string, error) {
	raw, err := t.DecodeBytes(ids, o)
	if err != nil {
		return "", err
	}
	out, used := takeText(make([]byte, 0, len(raw)), raw)
	if used < len(raw) {
		out = append(out, replacement...)
	}
	return string(out), nil
}

// DecodeBytes gives the bytes that ids stand for, which need not be UTF-8. An id outside the vocabulary is an error.
func (t *Tokenizer) DecodeBytes(ids []int32, o DecodeOptions) ([]byte, error) {
	var raw []byte
	d := decoder{t, o, o.Whole}
	for i, id := range ids {
		piece, err := d.piece(id)
		if err != nil {
			return nil, fmt.Errorf("id %d of %d: %w", i, len(ids), err)
		}
		raw = append(raw, piece...)
	}
	return raw, nil
}

// decoder gives the bytes of one id after the other.
type decoder struct {
	t     *Tokenizer
	o     DecodeOptions
	begin bool // the next id is one before which Encode puts a space
}

func (d *decoder) piece(id int32) (string, error) {
	t := d.t
	if !t.valid(id) {
		return "", fmt.Errorf("token id %d is outside the vocabulary, expected 0 to %d", id, len(t.vocab.texts)-1)
	}
	piece := t.pieces[id]
	if t.vocab.atomic(int(id)) {
		d.begin = d.o.Whole
		if d.o.SkipSpecial && t.vocab.control(int(id)) {
			return "", nil
		}
		return piece, nil
	}
	if d.begin && t.encoder.prefixes() {
		piece = strings.TrimPrefix(piece, " ")
	}
	d.begin = false
	return piece, nil
}
