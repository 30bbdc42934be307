package grammar

import "unicode/utf8"

// span is the characters lo to hi.
type span struct{ lo, hi rune }

// runes is one character of these spans, as UTF-8.
func (b *builder) runes(spans []span) frag {
	f := frag{b.node(), b.node()}
	for _, s := range spans {
		b.encodings(f, s)
	}
	return f
}

// lengths are the last characters of 1, 2, 3 and 4 bytes.
var lengths = [...]rune{0x7F, 0x7FF, 0xFFFF, utf8.MaxRune}

// encodings leads from f.in to f.out by the UTF-8 of the characters of a span.
func (b *builder) encodings(f frag, s span) {
	if s.lo > s.hi {
		return
	}
	for _, last := range lengths {
		if s.lo <= last && s.hi > last {
			b.encodings(f, span{s.lo, last})
			b.encodings(f, span{last + 1, s.hi})
			return
		}
	}
	// Surrogates have no encoding.
	if s.lo < 0xE000 && s.hi > 0xD7FF {
		b.encodings(f, span{s.lo, 0xD7FF})
		b.encodings(f, span{max(s.lo, 0xE000), s.hi})
		return
	}
	// All characters of a sequence of byte ranges: split where a lower byte does not run over its whole range.
	for shift := 6; shift < 24; shift += 6 {
		mask := rune(1)<<shift - 1
		if s.lo&^mask == s.hi&^mask {
			break
		}
		if s.lo&mask != 0 {
			b.encodings(f, span{s.lo, s.lo | mask})
			b.encodings(f, span{(s.lo | mask) + 1, s.hi})
			return
		}
		if s.hi&mask != mask {
			b.encodings(f, span{s.lo, s.hi&^mask - 1})
			b.encodings(f, span{s.hi &^ mask, s.hi})
			return
		}
	}
	var lo, hi [utf8.UTFMax]byte
	n := utf8.EncodeRune(lo[:], s.lo)
	utf8.EncodeRune(hi[:], s.hi)
	at := f.in
	for i := range n {
		to := f.out
		if i < n-1 {
			to = b.node()
		}
		b.nodes[at].edges = append(b.nodes[at].edges, edge{lo[i], hi[i], to})
		at = to
	}
}
