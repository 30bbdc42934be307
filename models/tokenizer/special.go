package tokenizer

import (
	"slices"
	"strings"
)

// endNames are spellings of tokens that end a turn, a message or a text, across the families of models. Files often
// name only one of several in their metadata: Qwen2.5 ends a turn by <|im_end|> and a text by <|endoftext|>.
var endNames = []string{
	"<|im_end|>", "<|endoftext|>", "<|end_of_text|>", "<|eot_id|>", "<|eom_id|>", "<|end|>", "<|return|>", "<|call|>",
	"<end_of_turn>", "<turn|>", "<end_of_utterance>", "<EOT>", "<｜end▁of▁sentence｜>",
}

// startNames are turn markers that do not have the usual form <|...|>.
var startNames = []string{"<start_of_turn>", "<|turn>", "[INST]", "[/INST]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]"}

// turnMarker says whether a spelling looks like one that opens or closes a turn.
func turnMarker(text string) bool {
	return strings.HasPrefix(text, "<|") && strings.HasSuffix(text, "|>") ||
		strings.HasPrefix(text, "<｜") && strings.HasSuffix(text, "｜>") ||
		slices.Contains(endNames, text) || slices.Contains(startNames, text)
}

// endIDs are the ids that end an answer, ascending.
func (v *vocab) endIDs() []int32 {
	var ids []int32
	for _, id := range []int32{v.special.EOS, v.special.EOT, v.special.EOM} {
		if id != None {
			ids = append(ids, id)
		}
	}
	for _, name := range endNames {
		if id, ok := v.ids[name]; ok && v.control(int(id)) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// matcher finds the spellings of a set of tokens in text: the leftmost, and of those at one place the longest.
type matcher struct {
	nodes []node // nodes[0] is the root of a trie over bytes
	first [256]bool
}

type node struct {
	id   int32 // token that ends here, or None
	next []edge
}

type edge struct {
	b  byte
	to int32
}

// follow gives the node behind b. A node has few edges, at most some ten (digits): a list is faster than a map.
func (n *node) follow(b byte) (int32, bool) {
	for _, e := range n.next {
		if e.b == b {
			return e.to, true
		}
	}
	return 0, false
}

func newMatcher(v *vocab, e encoder, in func(id int) bool) *matcher {
	m := &matcher{nodes: []node{{id: None}}}
	for id, text := range v.texts {
		if text != "" && in(id) {
			m.add(e.spelling(text), int32(id))
		}
	}
	return m
}

func (m *matcher) add(text string, id int32) {
	m.first[text[0]] = true
	at := int32(0)
	for i := range len(text) {
		next, ok := m.nodes[at].follow(text[i])
		if !ok {
			next = int32(len(m.nodes))
			m.nodes = append(m.nodes, node{id: None})
			m.nodes[at].next = append(m.nodes[at].next, edge{text[i], next})
		}
		at = next
	}
	m.nodes[at].id = id
}

// find gives the first match at or behind from: its id, and where it lies. id is None if there is no match.
func (m *matcher) find(text string, from int) (id int32, start, end int) {
	for start = from; start < len(text); start++ {
		if !m.first[text[start]] {
			continue
		}
		if id, end = m.at(text, start); id != None {
			return id, start, end
		}
	}
	return None, len(text), len(text)
}

// at gives the longest match that begins at start.
func (m *matcher) at(text string, start int) (id int32, end int) {
	id = None
	at := int32(0)
	for i := start; i < len(text); i++ {
		next, ok := m.nodes[at].follow(text[i])
		if !ok {
			break
		}
		at = next
		if m.nodes[at].id != None {
			id, end = m.nodes[at].id, i+1
		}
	}
	return id, end
}

// open says whether a spelling of the set begins at start, whole or cut off by the end of the text.
func (m *matcher) open(text string, start int) bool {
	if !m.first[text[start]] {
		return false
	}
	at := int32(0)
	for i := start; i < len(text); i++ {
		next, ok := m.nodes[at].follow(text[i])
		if !ok {
			return false
		}
		at = next
		if m.nodes[at].id != None {
			return true
		}
	}
	return true
}
