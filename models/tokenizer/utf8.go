package tokenizer

import "unicode/utf8"

const replacement = "\uFFFD"

// sequence looks at the beginning of p, which is not empty. If it is a whole character, or bytes that can never become
// one, n is their number and ok says which; if it may become one with more bytes, n is 0. Bytes are counted as bad by
// maximal subparts (Unicode standard, section 3.9): the longest beginning of a well-formed sequence, else one byte.
func sequence(p []byte) (n int, ok bool) {
	if p[0] < utf8.RuneSelf {
		return 1, true
	}
	need, low, high := 0, byte(0x80), byte(0xBF) // bytes that follow, and the bounds of the first of them
	switch b := p[0]; {
	case b >= 0xC2 && b <= 0xDF:
		need = 1
	case b >= 0xE0 && b <= 0xEF:
		need = 2
	case b >= 0xF0 && b <= 0xF4:
		need = 3
	default:
		return 1, false
	}
	switch p[0] {
	case 0xE0:
		low = 0xA0 // shorter forms exist
	case 0xED:
		high = 0x9F // surrogates
	case 0xF0:
		low = 0x90
	case 0xF4:
		high = 0x8F // above U+10FFFF
	}
	for i := 1; i <= need; i++ {
		if i == len(p) {
			return 0, false
		}
		if p[i] < low || p[i] > high {
			return i, false
		}
		low, high = 0x80, 0xBF
	}
	return need + 1, true
}

// takeText appends what p holds in whole characters to dst, bad bytes as U+FFFD, and gives the number of bytes of p
// that it used; the rest is the beginning of a character.
func takeText(dst, p []byte) ([]byte, int) {
	used := 0
	for used < len(p) {
		n, ok := sequence(p[used:])
		switch {
		case n == 0:
			return dst, used
		case ok:
			dst = append(dst, p[used:used+n]...)
		default:
			dst = append(dst, replacement...)
		}
		used += n
	}
	return dst, used
}
