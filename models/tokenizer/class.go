package tokenizer

import (
	"unicode"
	"unicode/utf8"
)

// class is what pre-tokenizers tell characters apart by.
type class uint8

const (
	other  class = iota
	letter       // \p{L}
	number       // \p{N}
	space        // \s: White_Space
)

var asciiClass = func() (t [utf8.RuneSelf]class) {
	for r := range rune(utf8.RuneSelf) {
		t[r] = classOf(r)
	}
	return t
}()

// Ideographs of CJK extension I, letters since Unicode 15.1; Go's tables are those of 15.0.
const firstExtensionI, lastExtensionI = 0x2EBF0, 0x2EE5D

func classOf(r rune) class {
	switch {
	case unicode.IsLetter(r) || r >= firstExtensionI && r <= lastExtensionI:
		return letter
	case unicode.IsNumber(r):
		return number
	case unicode.IsSpace(r):
		return space
	}
	return other
}

// first gives the first character of text with its class and length. The length is 0 at the end of the text, where the
// class is other.
func first(text string) (r rune, c class, size int) {
	if text == "" {
		return 0, other, 0
	}
	if b := text[0]; b < utf8.RuneSelf {
		return rune(b), asciiClass[b], 1
	}
	r, size = utf8.DecodeRuneInString(text)
	return r, classOf(r), size
}

// run gives the length of the longest beginning of text that is all of class c.
func run(text string, c class) int {
	n := 0
	for n < len(text) {
		_, k, size := first(text[n:])
		if k != c {
			break
		}
		n += size
	}
	return n
}
