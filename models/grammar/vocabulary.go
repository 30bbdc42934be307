package grammar

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Vocabulary is the tokens of a tokenizer as a trie over their bytes. Immutable.
type Vocabulary struct {
	size    int
	tokens  []string // [size] bytes; "" where the token must not be written
	ends    []int32
	longest int // characters of the longest token, counted by the bytes that begin one

	// The trie in depth-first order; node 0 is the root.
	char  []byte
	depth []int32
	after []int32 // the node behind the subtree
	token []int32 // that ends here, or none
	twins map[int32][]int32
}

// none is no token.
const none int32 = -1

// NewVocabulary takes the bytes of each of size tokens; "" for those that are never part of a text, such as turn markers. Any of
// ends ends an answer.
func NewVocabulary(size int, bytes func(id int32) string, ends []int32) *Vocabulary {
	v := &Vocabulary{size: size, tokens: make([]string, size), ends: slices.Clone(ends), twins: make(map[int32][]int32)}
	order := make([]int32, 0, size)
	for id := range int32(size) {
		text := bytes(id)
		if text == "" || slices.Contains(ends, id) {
			continue
		}
		v.tokens[id] = text
		v.longest = max(v.longest, utf8.RuneCountInString(text))
		order = append(order, id)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return strings.Compare(v.tokens[a], v.tokens[b]) })
	v.build(order)
	return v
}

// build makes the trie of tokens that come in the order of their bytes.
func (v *Vocabulary) build(order []int32) {
	add := func(b byte, depth int) {
		v.char, v.depth = append(v.char, b), append(v.depth, int32(depth))
		v.after, v.token = append(v.after, 0), append(v.token, none)
	}
	add(0, 0)
	path := []int32{0} // nodes from the root to the last token
	last := ""
	for _, id := range order {
		text := v.tokens[id]
		common := 0
		for common < min(len(last), len(text)) && last[common] == text[common] {
			common++
		}
		for _, node := range path[common+1:] {
			v.after[node] = int32(len(v.char))
		}
		path = path[:common+1]
		for i := common; i < len(text); i++ {
			path = append(path, int32(len(v.char)))
			add(text[i], i+1)
		}
		end := path[len(path)-1]
		if v.token[end] == none {
			v.token[end] = id
		} else {
			v.twins[end] = append(v.twins[end], id)
		}
		last = text
	}
	for _, node := range path {
		v.after[node] = int32(len(v.char))
	}
}

// words is the length of a mask.
func (v *Vocabulary) words() int { return (v.size + 31) / 32 }

// allow sets the bits of the tokens that end at a node of the trie.
func (v *Vocabulary) allow(mask []uint32, node int32) {
	id := v.token[node]
	if id == none {
		return
	}
	mask[id/32] |= 1 << (id % 32)
	if len(v.twins) > 0 {
		for _, id := range v.twins[node] {
			mask[id/32] |= 1 << (id % 32)
		}
	}
}
