package tokenizer

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"
)

// symbol is a character that occurs in tokens: its token, or an id behind the vocabulary if it has none of its own. The
// id is None for a character that occurs in no token.
type symbol struct {
	id    int32
	dense int32 // a small number if the character is common, else -1
}

// maxMerged is the longest ordinary token, in bytes; trained ones have some 50. Ways to make it are looked for at every
// place in it.
const maxMerged = 256

// maxWays is how many ways there may be to make a token, on average; trained vocabularies have some 2. It bounds memory.
const maxWays = 32

// symbols are the characters that occur in the ordinary tokens of a vocabulary, and which of them lie side by side in one.
type symbols struct {
	vocab int
	ascii [utf8.RuneSelf]symbol
	chars map[rune]symbol
	extra []string // characters without a token, from id vocab on

	common [(utf8.RuneSelf + 1) * (utf8.RuneSelf + 1)]bool // by dense numbers: ASCII and whitespaceMark
	rare   map[uint64]struct{}                             // by ids
}

func newSymbols(v *vocab) (symbols, error) {
	s := symbols{vocab: len(v.texts), chars: map[rune]symbol{}, rare: map[uint64]struct{}{}}
	for i := range s.ascii {
		s.ascii[i].id = None
	}
	for id, text := range v.texts {
		if !v.mergeable(id) {
			continue
		}
		if len(text) > maxMerged {
			return s, fmt.Errorf("token %d (%.20q...) has %d bytes, expected at most %d", id, text, len(text), maxMerged)
		}
		last := symbol{id: None}
		for i, r := range text {
			next := s.know(v, r, text[i:])
			if last.id != None {
				s.join(last, next)
			}
			last = next
		}
	}
	return s, nil
}

// mergeable says whether a token comes about by merging. One that is no UTF-8 would not, since text is taken by characters.
func (v *vocab) mergeable(id int) bool { return v.types[id] == Normal && utf8.ValidString(v.texts[id]) }

// know gives the symbol of r, the first character of text, and adds it if it is new.
func (s *symbols) know(v *vocab, r rune, text string) symbol {
	if known := s.of(r); known.id != None {
		return known
	}
	_, size := utf8.DecodeRuneInString(text)
	id, ok := v.ids[text[:size]]
	if !ok || v.types[id] != Normal {
		id = int32(s.vocab + len(s.extra))
		s.extra = append(s.extra, text[:size])
	}
	switch {
	case r < utf8.RuneSelf:
		s.ascii[r] = symbol{id, r}
		return s.ascii[r]
	case r == whitespaceMark:
		s.chars[r] = symbol{id, utf8.RuneSelf}
	default:
		s.chars[r] = symbol{id, -1}
	}
	return s.chars[r]
}

func (s *symbols) of(r rune) symbol {
	if r < utf8.RuneSelf {
		return s.ascii[r]
	}
	if known, ok := s.chars[r]; ok {
		return known
	}
	return symbol{id: None}
}

func (s *symbols) mark() int32 {
	if m := s.of(whitespaceMark); int(m.id) < s.vocab {
		return m.id
	}
	return None
}

func (s *symbols) join(a, b symbol) {
	if a.dense >= 0 && b.dense >= 0 {
		s.common[a.dense*(utf8.RuneSelf+1)+b.dense] = true
		return
	}
	s.rare[pairOf(a.id, b.id)] = struct{}{}
}

// adjacent says whether some token has b right behind a.
func (s *symbols) adjacent(a, b symbol) bool {
	if b.id == None {
		return false
	}
	if a.dense >= 0 && b.dense >= 0 {
		return s.common[a.dense*(utf8.RuneSelf+1)+b.dense]
	}
	_, ok := s.rare[pairOf(a.id, b.id)]
	return ok
}

// loose gives the character of an id behind the vocabulary.
func (s *symbols) loose(id int32) (string, bool) {
	if int(id) < s.vocab {
		return "", false
	}
	return s.extra[int(id)-s.vocab], true
}

// merges gives every way to make a token of two others: a pair may be joined if its text is a token, and the higher the
// score of that one, the lower its rank.
func (s *symbols) merges(v *vocab, scores []float64) (merges, error) {
	ranks, err := rank(v, scores)
	if err != nil {
		return nil, err
	}
	pairs := merges{}
	for id, text := range v.texts {
		if !v.mergeable(id) {
			continue
		}
		for i := range text {
			if i == 0 {
				continue
			}
			if left, ok := s.part(v, text[:i]); ok {
				if right, ok := s.part(v, text[i:]); ok {
					pairs[pairOf(left, right)] = merge{ranks[id], int32(id)}
				}
			}
		}
		if len(pairs) > maxWays*len(v.texts) {
			return nil, fmt.Errorf("the vocabulary of %d tokens has more than %d ways to make one of two others, which no trained one has",
				len(v.texts), maxWays*len(v.texts))
		}
	}
	return pairs, nil
}

// part gives the id of a text that can come about by merging: an ordinary token, or a single character.
func (s *symbols) part(v *vocab, text string) (int32, bool) {
	if id, ok := v.ids[text]; ok && v.types[id] == Normal {
		return id, true
	}
	if r, size := utf8.DecodeRuneInString(text); size == len(text) {
		c := s.of(r)
		return c.id, c.id != None
	}
	return None, false
}

// rank numbers the ordinary tokens by descending score; equal scores have equal ranks.
func rank(v *vocab, scores []float64) ([]int32, error) {
	var order []int32
	for id, x := range scores {
		if v.types[id] != Normal {
			continue
		}
		if math.IsNaN(x) {
			return nil, fmt.Errorf("%s: the score of token %d (%q) is NaN", keyScores, id, v.texts[id])
		}
		order = append(order, int32(id))
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(scores[b], scores[a]) })
	ranks := make([]int32, len(scores))
	for i, id := range order {
		ranks[id] = int32(i)
		if i > 0 && scores[id] == scores[order[i-1]] {
			ranks[id] = ranks[order[i-1]]
		}
	}
	return ranks, nil
}
