package tokenizer

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tokenrouter/tokenrouter/models/gguf"
)

// Tokenizer is one file's vocabulary with its rules. Immutable; safe for many goroutines.
type Tokenizer struct {
	vocab   *vocab
	encoder encoder
	plain   *matcher // user-defined tokens, read in any text
	control *matcher // control tokens
	all     *matcher // both
	pieces  []string // bytes of each id
	longest int      // bytes of text that a token can stand for
	ends    []int32
}

// New builds the tokenizer of a GGUF file. A type or pre-tokenizer that is not supported, and a vocabulary that
// contradicts itself, are errors that name what is wrong.
func New(f *gguf.File) (*Tokenizer, error) {
	v, err := loadVocab(f)
	if err != nil {
		return nil, fmt.Errorf("tokenizer: %w", err)
	}
	e, err := newEncoder(f, v)
	if err != nil {
		return nil, fmt.Errorf("tokenizer: %w", err)
	}
	t := &Tokenizer{vocab: v, encoder: e, ends: v.endIDs(), pieces: make([]string, len(v.texts))}
	t.plain = newMatcher(v, e, func(id int) bool { return v.atomic(id) && !v.control(id) })
	t.control = newMatcher(v, e, v.control)
	t.all = newMatcher(v, e, v.atomic)
	for id, text := range v.texts {
		switch v.types[id] {
		case Normal, Byte:
			t.pieces[id] = e.raw(text, v.types[id])
		case Unused: // padding of the vocabulary: stands for nothing
		default:
			t.pieces[id] = e.spelling(text)
		}
		t.longest = max(t.longest, len(t.pieces[id]))
	}
	t.longest = max(t.longest, utf8.UTFMax) // what the unknown token stands for
	return t, nil
}

// VocabSize is the number of ids; ids run from 0.
func (t *Tokenizer) VocabSize() int { return len(t.vocab.texts) }

// Special gives the special ids of the metadata.
func (t *Tokenizer) Special() Special { return t.vocab.special }

// Model names the type of the tokenizer (tokenizer.ggml.model).
func (t *Tokenizer) Model() string { return t.vocab.model }

// Pre names the pre-tokenizer (tokenizer.ggml.pre); "" where the type of tokenizer has none.
func (t *Tokenizer) Pre() string { return t.vocab.pre }

// AddsSpace says whether Encode puts a space before the first word (tokenizer.ggml.add_space_prefix).
func (t *Tokenizer) AddsSpace() bool { return t.encoder.prefixes() }

// EndIDs are the ids that end an answer, ascending: end of sequence, turn and message of the metadata, and control
// tokens that are known to end a turn by their name. The caller may change the slice.
func (t *Tokenizer) EndIDs() []int32 { return append([]int32(nil), t.ends...) }

// Token gives the text of an id as the vocabulary has it ("Ġhello") and its type; false if there is no such id.
func (t *Tokenizer) Token(id int32) (text string, typ Type, ok bool) {
	if !t.valid(id) {
		return "", 0, false
	}
	return t.vocab.texts[id], t.vocab.types[id], true
}

// ID gives the id of the token that the vocabulary spells text ("Ġhello", "<|im_end|>").
func (t *Tokenizer) ID(text string) (int32, bool) {
	id, ok := t.vocab.ids[text]
	return id, ok
}

// Bytes gives the bytes that an id stands for, which need not be whole characters; false if there is no such id.
func (t *Tokenizer) Bytes(id int32) ([]byte, bool) {
	if !t.valid(id) {
		return nil, false
	}
	return []byte(t.pieces[id]), true
}

// MarkControl puts mark into every spelling of a control token in text, behind its first character, also into one that
// the end of the text cuts off and that text behind it could complete. With Options.PlainMark the result is encoded as
// the plain text that it was, wherever it was put.
func (t *Tokenizer) MarkControl(text string, mark rune) string {
	var out strings.Builder
	from := 0
	for i := range text { // by characters: the first bytes of spellings begin characters
		if t.control.open(text, i) {
			_, n := utf8.DecodeRuneInString(text[i:])
			out.WriteString(text[from : i+n])
			out.WriteRune(mark)
			from = i + n
		}
	}
	if from == 0 {
		return text
	}
	out.WriteString(text[from:])
	return out.String()
}

func (t *Tokenizer) valid(id int32) bool { return id >= 0 && int(id) < len(t.vocab.texts) }

// AtLeast is a number of tokens that a text of so many bytes has at least, found out at no cost: as if each were the longest of the
// vocabulary.
func (t *Tokenizer) AtLeast(bytes int) int { return (bytes + t.longest - 1) / t.longest }

// Encode gives the ids of text. Bytes that are no UTF-8 are kept where the vocabulary has tokens for them.
func (t *Tokenizer) Encode(text string, o Options) []int32 {
	ids := make([]int32, 0, len(text)/3+2)
	s := t.vocab.special
	if o.AddSpecial && s.AddBOS {
		ids = append(ids, s.BOS)
	}
	if o.ParseSpecial {
		ids = t.encodeSpecial(ids, text, o.PlainMark)
		if o.AddSpecial && s.AddBOS && len(ids) > 1 && ids[1] == s.BOS {
			ids = ids[1:] // the text begins with it already
		}
	} else {
		ids = t.encodePlain(ids, text, o.PlainMark)
	}
	if o.AddSpecial && s.AddEOS {
		ids = append(ids, s.EOS)
	}
	return ids
}

// encodeSpecial reads control tokens, and what lies between them as plain text.
func (t *Tokenizer) encodeSpecial(ids []int32, text string, mark rune) []int32 {
	from, at := 0, 0
	for {
		id, start, end := t.all.find(text, at)
		if id == None {
			return t.encodePlain(ids, text[from:], mark)
		}
		at = end
		if t.vocab.control(int(id)) {
			ids = append(t.encodePlain(ids, text[from:start], mark), id)
			from = end
		}
	}
}

func (t *Tokenizer) encodePlain(ids []int32, text string, mark rune) []int32 {
	if mark != 0 {
		text = strings.ReplaceAll(text, string(mark), "")
	}
	for at, begin := 0, true; ; begin = true { // a special token is before it, or the beginning
		id, start, end := t.plain.find(text, at)
		if start > at {
			ids = t.encoder.encode(ids, text[at:start], begin)
		}
		if id == None {
			return ids
		}
		ids = append(ids, id)
		at = end
	}
}
