package tokenizer

import (
	"fmt"
	"strings"

	"github.com/tokenrouter/tokenrouter/models/gguf"
)

// bpe is byte-level byte-pair encoding: a word begins as its bytes, and the adjacent pair with the lowest rank in the
// list of merges is joined until no pair is in the list (Sennrich et al. 2016).
type bpe struct {
	split  splitter
	whole  bool // a word that is a token is taken as it is, without merging
	ids    map[string]int32
	merges []string // in order of rank, as in the file
	pairs  merges
	bytes  [256]int32 // token of each byte
}

func newBPE(f *gguf.File, v *vocab) (encoder, error) {
	pre, err := findPreTokenizer(v.pre)
	if err != nil {
		return nil, err
	}
	if !f.Has(keyAddBOS) {
		v.special.AddBOS = pre.addBOS && v.special.BOS != None
	}
	b := &bpe{split: pre.split, whole: pre.wholeWords, ids: v.ids}
	if b.merges, err = f.Texts(keyMerges); err != nil {
		return nil, err
	}
	if err := b.loadMerges(); err != nil {
		return nil, err
	}
	return b, b.loadBytes(v)
}

func (b *bpe) loadMerges() error {
	b.pairs = make(merges, len(b.merges))
	for rank, text := range b.merges {
		left, right, ok := strings.Cut(text, " ")
		if !ok || left == "" || right == "" || strings.Contains(right, " ") {
			return fmt.Errorf("%s: merge %d is %q, expected two tokens with a space between", keyMerges, rank, text)
		}
		var ids [3]int32
		for i, part := range []string{left, right, left + right} {
			id, ok := b.ids[part]
			if !ok {
				return fmt.Errorf("%s: merge %d is %q, but %q is not in the vocabulary", keyMerges, rank, text, part)
			}
			ids[i] = id
		}
		pair := pairOf(ids[0], ids[1])
		if _, ok := b.pairs[pair]; !ok {
			b.pairs[pair] = merge{int32(rank), ids[2]}
		}
	}
	return nil
}

// loadBytes finds the token of each byte. Bytes that no text needs may be missing, which then read as U+FFFD: those that
// UTF-8 has not, or only for characters that are rare (vocabularies that were learned without the whole alphabet lack some
// control characters, and those of planes that Unicode has not assigned). Characters of print, line breaks and U+FFFD
// itself must be there.
func (b *bpe) loadBytes(v *vocab) error {
	for c := range 256 {
		id, ok := v.ids[string(byteToRune[c])]
		needed := c >= ' ' && c <= '~' || c == '\n' || strings.IndexByte(replacement, byte(c)) >= 0
		if !ok && needed {
			return fmt.Errorf("the vocabulary has no token for the byte 0x%02X (%q), so there is text that it cannot express", c, byteToRune[c])
		}
		if !ok {
			id = None
		}
		b.bytes[c] = id
	}
	return nil
}

func (b *bpe) encode(dst []int32, text string, _ bool) []int32 {
	s := scratches.Get().(*scratch)
	defer s.release()
	for len(text) > 0 {
		n := b.split(text)
		dst = b.word(dst, text[:n], s)
		text = text[n:]
	}
	return dst
}

func (b *bpe) word(dst []int32, word string, s *scratch) []int32 {
	if len(word) == 1 && b.bytes[word[0]] != None {
		return append(dst, b.bytes[word[0]])
	}
	if b.whole {
		s.text = appendByteLevel(s.text[:0], word)
		if id, ok := b.ids[string(s.text)]; ok {
			return append(dst, id)
		}
	}
	s.start(len(word))
	for i := range len(word) {
		if id := b.bytes[word[i]]; id != None {
			s.add(id)
			continue
		}
		for k := range len(replacement) {
			s.add(b.bytes[replacement[k]])
		}
	}
	s.join(b.pairs)
	return s.tokens(dst)
}

func (b *bpe) raw(text string, _ Type) string { return fromByteLevel(text) }

func (b *bpe) spelling(text string) string { return text }

func (b *bpe) prefixes() bool { return false }

func appendByteLevel(dst []byte, word string) []byte {
	for i := range len(word) {
		dst = append(dst, string(byteToRune[word[i]])...)
	}
	return dst
}
