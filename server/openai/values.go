package openai

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Int is a whole number. 5.0 and 1e2 are whole numbers, too: JSON does not tell them apart.
type Int int64

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (i *Int) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if d.PeekKind() != '0' {
		return typeError(d, "a whole number")
	}
	t, err := d.ReadToken()
	if err != nil {
		return err
	}
	text := t.String()
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		*i = Int(n)
		return nil
	}
	f, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil || math.Abs(f) >= 1<<63:
		return Invalid(last(d), CodeInvalidValue, "the number is out of range")
	case f != math.Trunc(f):
		return Invalid(last(d), CodeInvalidType, "expected a whole number, found %s", text[:min(len(text), 32)])
	}
	*i = Int(f)
	return nil
}

// Strings is a string or an array of strings (stop).
type Strings []string

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (s *Strings) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	switch d.PeekKind() {
	case 'n':
		*s = nil
		return d.SkipValue()
	case '"':
		*s = make(Strings, 1)
		return json.UnmarshalDecode(d, &(*s)[0])
	case '[':
		return s.list(d)
	default:
		return typeError(d, "a string or an array of strings")
	}
}

// list reads an array. In one, null is no string that was left out.
func (s *Strings) list(d *jsontext.Decoder) error {
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	*s = Strings{}
	for d.PeekKind() != ']' {
		if d.PeekKind() != '"' {
			return typeError(d, "a string")
		}
		t, err := d.ReadToken()
		if err != nil {
			return err
		}
		*s = append(*s, t.String())
	}
	_, err := d.ReadToken()
	return err
}

// Prompt is what /v1/completions completes: text or token ids, one prompt or several.
type Prompt struct {
	Given   bool
	Several bool      // written as a list of prompts, even if of one
	Texts   []string  // or
	Tokens  [][]int32 // each id at least 0
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom. It takes a string, an array of strings, an array of token ids, or an
// array of arrays of token ids.
func (p *Prompt) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	*p = Prompt{}
	switch d.PeekKind() {
	case 'n':
		return d.SkipValue()
	case '"':
		p.Given, p.Texts = true, make([]string, 1)
		return json.UnmarshalDecode(d, &p.Texts[0])
	case '[':
		p.Given = true
	default:
		return typeError(d, promptTypes)
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	switch first := d.PeekKind(); first {
	case '"', '[':
		p.Several = true
	case '0':
		p.Tokens = make([][]int32, 1)
	case ']':
	default:
		return typeError(d, "a string, a token id or an array of token ids")
	}
	for kind := d.PeekKind(); d.PeekKind() != ']'; {
		if k := d.PeekKind(); k != kind && k != 0 { // 0: a syntax error, which the read will report
			return Invalid(next(d), CodeInvalidType, "a prompt is %s, not a mix of them", promptTypes)
		}
		switch kind {
		case '"':
			var text string
			if err := json.UnmarshalDecode(d, &text); err != nil {
				return err
			}
			p.Texts = append(p.Texts, text)
		case '0':
			id, err := tokenID(d)
			if err != nil {
				return err
			}
			p.Tokens[0] = append(p.Tokens[0], id)
		default:
			ids, err := tokenIDs(d)
			if err != nil {
				return err
			}
			p.Tokens = append(p.Tokens, ids)
		}
	}
	_, err := d.ReadToken()
	return err
}

const promptTypes = "a string, an array of strings, an array of token ids or an array of arrays of token ids"

// TokenIDs is an array of token ids, each at least 0.
type TokenIDs []int32

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (t *TokenIDs) UnmarshalJSONFrom(d *jsontext.Decoder) (err error) {
	switch d.PeekKind() {
	case 'n':
		*t = nil
		return d.SkipValue()
	case '[':
		*t, err = tokenIDs(d)
		return err
	default:
		return typeError(d, "an array of token ids")
	}
}

func tokenIDs(d *jsontext.Decoder) ([]int32, error) {
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	ids := []int32{}
	for d.PeekKind() != ']' {
		id, err := tokenID(d)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	_, err := d.ReadToken()
	return ids, err
}

func tokenID(d *jsontext.Decoder) (int32, error) {
	var id Int
	if err := id.UnmarshalJSONFrom(d); err != nil { // called directly: there may be millions
		return 0, err
	}
	if id < 0 || id > math.MaxInt32 {
		return 0, Invalid(last(d), CodeInvalidValue, "%d is not a token id", id)
	}
	return int32(id), nil
}

// LogitBias is what to add to the logits of single tokens, by ascending id.
type LogitBias struct {
	IDs    []int32
	Values []float32 // -100 to 100
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom. It takes an object from token id to number.
func (b *LogitBias) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	*b = LogitBias{}
	switch d.PeekKind() {
	case 'n':
		return d.SkipValue()
	case '{':
	default:
		return typeError(d, "an object from token id to bias")
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	type entry struct {
		id    int32
		value float32
	}
	var entries []entry
	for d.PeekKind() != '}' {
		key, err := d.ReadToken()
		if err != nil {
			return err
		}
		id, kerr := strconv.ParseInt(key.String(), 10, 32)
		if kerr != nil || id < 0 {
			return Invalid(last(d), CodeInvalidValue, "the key must be a token id")
		}
		if d.PeekKind() != '0' {
			return typeError(d, "a number")
		}
		var v float64
		if err := json.UnmarshalDecode(d, &v); err != nil {
			return err
		}
		if v < -100 || v > 100 {
			return Invalid(last(d), CodeInvalidValue, "%g is outside -100 to 100", v)
		}
		entries = append(entries, entry{int32(id), float32(v)})
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.id, b.id) })
	for i, e := range entries {
		if i > 0 && entries[i-1].id == e.id { // "7" and "07"
			return Invalid("logit_bias", CodeInvalidValue, "token %d is given more than once", e.id)
		}
		b.IDs, b.Values = append(b.IDs, e.id), append(b.Values, e.value)
	}
	return nil
}

// typeError reports that the next value is of a kind that cannot be used. A syntax error there goes first.
func typeError(d *jsontext.Decoder, want string) error {
	kind, pointer := d.PeekKind(), next(d)
	if kind == 0 {
		if err := d.SkipValue(); err != nil {
			return err
		}
	}
	return wrongType(pointer, want, kindWords[kind])
}

// last is the place of the value that was read last. To find places takes longer than to read small values, so it is asked where there is
// something to say.
func last(d *jsontext.Decoder) string { return field(d.StackPointer()) }

// next names the field that the decoder reads next.
func next(d *jsontext.Decoder) string {
	p := d.StackPointer()
	if kind, n := d.StackIndex(d.StackDepth()); kind == '[' {
		parent := p
		if n > 0 { // the pointer is at the last element read
			parent = p.Parent()
		}
		p = parent.AppendToken(strconv.FormatInt(n, 10))
	}
	return field(p)
}
