package modelstest

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// merges is how many pairs the vocabulary joins.
const merges = 240

// Tokens that follow the learned ones, with their types (3 control, 4 user-defined, 5 unused).
var added = []struct {
	Text string
	Type int32
}{
	{"<|endoftext|>", 3}, {"<|im_start|>", 3}, {"<|im_end|>", 3}, {"<tool_call>", 4}, {"</tool_call>", 4},
	{"[PAD1]", 5}, {"[PAD2]", 5}, {"[PAD3]", 5},
}

// letters gives the 256 characters that stand for bytes: those printable in Latin-1 as they are, the others from U+0100.
func letters() (of [256]string, sorted []string) {
	var rest []string
	free := rune(0x100)
	for b := range 256 {
		if r := rune(b); b != 0xAD && b != ' ' && unicode.IsPrint(r) {
			of[b] = string(r)
			sorted = append(sorted, of[b])
			continue
		}
		of[b] = string(free)
		rest = append(rest, of[b])
		free++
	}
	return of, append(sorted, rest...)
}

// learn joins the most frequent pair of the corpus, `merges` times; of equally frequent ones the first in the alphabet.
func learn() (tokens, pairs []string) {
	of, tokens := letters()
	words := cut(of)
	for range merges {
		counts := map[[2]string]int{}
		for _, w := range words {
			for i := 1; i < len(w); i++ {
				counts[[2]string{w[i-1], w[i]}]++
			}
		}
		best := [2]string{}
		for p, n := range counts {
			known := slices.Contains(tokens, p[0]+p[1])
			if !known && (counts[best] < n || counts[best] == n && slices.Compare(p[:], best[:]) < 0) {
				best = p
			}
		}
		tokens = append(tokens, best[0]+best[1])
		pairs = append(pairs, best[0]+" "+best[1])
		for k, w := range words {
			words[k] = join(w, best)
		}
	}
	return tokens, pairs
}

// cut gives the words of the corpus as lists of letters, a word with the white space before it.
func cut(of [256]string) [][]string {
	var words [][]string
	var word []string
	kind := 0
	for i := range len(corpus) {
		c := corpus[i]
		k := cmp.Or(kindOf(c), kind)
		if k != kind || c == ' ' || c == '\n' {
			words, word = append(words, word), nil
		}
		word, kind = append(word, of[c]), k
	}
	return append(words, word)
}

// kindOf is 0 for a space, which goes with what follows.
func kindOf(c byte) int {
	switch {
	case c == ' ' || c == '\t' || c == '\n':
		return 0
	case c >= '0' && c <= '9':
		return int(c)
	case c >= 0x80 || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
		return 1
	}
	return 2
}

func join(word []string, pair [2]string) []string {
	var out []string
	for i := 0; i < len(word); i++ {
		if i+1 < len(word) && word[i] == pair[0] && word[i+1] == pair[1] {
			out = append(out, pair[0]+pair[1])
			i++
			continue
		}
		out = append(out, word[i])
	}
	return out
}

// Spell writes bytes as a token of a byte-level vocabulary spells them: " a" is "Ġa".
func Spell(text string) string {
	of, _ := letters()
	var b strings.Builder
	for i := range len(text) {
		b.WriteString(of[text[i]])
	}
	return b.String()
}
