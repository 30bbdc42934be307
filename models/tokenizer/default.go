package tokenizer

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// defaultPatterns is what files mean by the pre-tokenizer "default": patterns that cut one after the other, each within
// the pieces that the ones before it left. Runs of punctuation come out first, then the pattern of GPT-2 applies, then
// numbers are cut off from the space before them and into groups of three ASCII digits.
var defaultPatterns = []string{`[\p{P}\$\+<=>\^~\|]+`, gpt2Pattern, `\p{N}+`, `[0-9][0-9][0-9]`}

func splitDefault(text string) int {
	n, r, c, size := 0, rune(0), other, 0
	for n < len(text) {
		if r, c, size = first(text[n:]); !punctuation(r, c) {
			break
		}
		n += size
	}
	switch {
	case n > 0:
		return n
	case c == number:
		return threeDigits(text)
	case r == ' ':
		if _, next, _ := first(text[size:]); next == number {
			return size
		}
	}
	return gpt2Word(text, punctuation)
}

// threeDigits gives the first piece of the number at the beginning of text: three ASCII digits, or all that comes before
// the first three in a row.
func threeDigits(text string) int {
	end, row := 0, 0 // row: how many ASCII digits there are up to end
	for end < len(text) {
		r, c, size := first(text[end:])
		if c != number {
			break
		}
		end += size
		if row++; r < '0' || r > '9' {
			row = 0
		}
		if row == 3 && end > 3 {
			return end - 3
		}
		if row == 3 {
			return 3
		}
	}
	return end
}

var asciiPunctuation = func() (t [utf8.RuneSelf]bool) {
	for r := range rune(utf8.RuneSelf) {
		t[r] = unicode.IsPunct(r) || strings.ContainsRune("$+<=>^~|", r)
	}
	return t
}()

// punctuation matches [\p{P}\$\+<=>\^~\|].
func punctuation(r rune, c class) bool {
	if r < utf8.RuneSelf {
		return asciiPunctuation[r]
	}
	return c == other && unicode.IsPunct(r)
}
