package tokenizer

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tokenrouter/tokenrouter/models/gguf"
)

// whitespaceMark is how a vocabulary of the SentencePiece type writes a space.
const whitespaceMark = '\u2581'

// spm is the byte-pair encoding of SentencePiece (Kudo and Richardson 2018), which Llama 2, Mistral and Gemma use. A text
// begins as its characters, with "▁" for a space, and the adjacent pair whose joined text is the token with the highest
// score is joined until no pair is a token. A character that is no token is written in tokens of its bytes.
type spm struct {
	symbols symbols
	pairs   merges
	scores  []float64
	bytes   [256]int32 // token of each byte, or None
	unknown int32      // for characters where bytes have no token
	prefix  bool       // a space is put before text that begins
}

func newSPM(f *gguf.File, v *vocab) (encoder, error) {
	v.pre = "" // files name one ("default"), but this type has none
	if !f.Has(keyTypes) {
		return nil, fmt.Errorf("%s is missing, and without it the tokens of bytes and the special ones of the type %q cannot be told: "+
			"convert the model again with current tools", keyTypes, v.model)
	}
	if !f.Has(keyAddBOS) {
		v.special.AddBOS = v.special.BOS != None
	}
	e := &spm{}
	var err error
	if e.prefix, err = gguf.Default(true)(f.Truth(keyPrefix)); err != nil {
		return nil, err
	}
	if e.scores, err = f.Floats(keyScores); err != nil {
		return nil, err
	}
	if len(e.scores) != len(v.texts) {
		return nil, fmt.Errorf("%s has %d entries, but %s has %d: they must be equally many", keyScores, len(e.scores), keyTokens, len(v.texts))
	}
	if err := e.loadBytes(v); err != nil {
		return nil, err
	}
	if e.symbols, err = newSymbols(v); err != nil {
		return nil, err
	}
	if e.symbols.mark() == None {
		return nil, fmt.Errorf("the vocabulary has no token for a space (%q), which the type %q needs", whitespaceMark, v.model)
	}
	e.pairs, err = e.symbols.merges(v, e.scores)
	return e, err
}

// loadBytes finds the token of each byte: "<0x0A>".
func (e *spm) loadBytes(v *vocab) error {
	e.unknown = v.special.Unknown
	for b := range 256 {
		id, ok := v.ids[fmt.Sprintf("<0x%02X>", b)]
		if !ok || v.types[id] != Byte {
			if e.unknown == None {
				return fmt.Errorf("the vocabulary has neither a token for the byte 0x%02X (\"<0x%02X>\" of the type byte) nor an unknown token "+
					"(%sunknown%s), so there is text that it cannot express", b, b, idPrefix, idSuffix)
			}
			id = None
		}
		e.bytes[b] = id
	}
	return nil
}

// encode joins what lies between two characters that no token has side by side: no token crosses such a place, so each
// piece, mostly a word, can be encoded alone.
func (e *spm) encode(dst []int32, text string, begin bool) []int32 {
	s := scratches.Get().(*scratch)
	defer s.release()
	s.start(0)
	last := symbol{id: None}
	if e.prefix && begin {
		last = e.symbols.of(whitespaceMark)
		s.add(last.id)
	}
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		next := symbol{id: None}
		switch {
		case r == ' ':
			next = e.symbols.of(whitespaceMark)
		case r != utf8.RuneError || size > 1:
			next = e.symbols.of(r)
		}
		if last.id != None && !e.symbols.adjacent(last, next) {
			dst = e.flush(dst, s)
		}
		if next.id == None {
			dst = e.literal(dst, text[i:i+size])
		} else {
			s.add(next.id)
		}
		last = next
		i += size
	}
	return e.flush(dst, s)
}

// flush joins and appends what s holds.
func (e *spm) flush(dst []int32, s *scratch) []int32 {
	s.join(e.pairs)
	for at := int32(0); int(at) < len(s.places); at = s.places[at].next {
		id := s.places[at].id
		if char, ok := e.symbols.loose(id); ok {
			dst = e.literal(dst, char)
		} else {
			dst = append(dst, id)
		}
	}
	s.start(0)
	return dst
}

// literal appends the bytes of a character, or the unknown token.
func (e *spm) literal(dst []int32, char string) []int32 {
	from := len(dst)
	for i := range len(char) {
		id := e.bytes[char[i]]
		if id == None {
			return append(dst[:from], e.unknown)
		}
		dst = append(dst, id)
	}
	return dst
}

func (e *spm) raw(text string, t Type) string {
	if t == Byte && len(text) == len("<0x00>") {
		if b, err := strconv.ParseUint(text[len("<0x"):len("<0x00")], 16, 8); err == nil {
			return string([]byte{byte(b)})
		}
	}
	return e.spelling(text)
}

func (e *spm) spelling(text string) string {
	return strings.ReplaceAll(text, string(whitespaceMark), " ")
}

func (e *spm) prefixes() bool { return e.prefix }
