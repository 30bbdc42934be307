package grammar

import "fmt"

// State is a place in a text of a grammar. The zero State is none.
type State struct {
	g     *Grammar
	c     *config
	ended bool
}

// Start is the state before the first token.
func (g *Grammar) Start() State {
	g.mu.Lock()
	defer g.mu.Unlock()
	return State{g: g, c: g.closure([]stackKey{{g.start, nil}})}
}

// Mask returns the tokens that may come next: bit i%32 of word i/32 is that of token i. Where it is only one, only is its id,
// otherwise -1. The mask belongs to the grammar and must not be changed. It is nil where the grammar has too many states to find out.
func (s State) Mask() (mask []uint32, only int32) {
	s.g.mu.Lock()
	defer s.g.mu.Unlock()
	if s.c.mask == nil {
		if len(s.g.configs) > mostConfigs || s.g.masks > mostMasks {
			s.g.forget()
		}
		s.g.mask(s.c)
	}
	return s.c.mask, s.c.only
}

// Next is the state after a token. One that may not come next is an error.
func (s State) Next(id int32) (State, error) {
	g := s.g
	if s.ended {
		return s, fmt.Errorf("token %d comes after the end of the text", id)
	}
	for _, end := range g.vocab.ends {
		if id == end {
			if !s.c.end {
				return s, fmt.Errorf("token %d ends the text where the grammar goes on", id)
			}
			return State{g: g, c: s.c, ended: true}, nil
		}
	}
	text := ""
	if id >= 0 && int(id) < g.vocab.size {
		text = g.vocab.tokens[id]
	}
	if text == "" {
		return s, fmt.Errorf("token %d is not part of any text", id)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	c := s.c
	for i := range len(text) {
		if c = g.step(c, text[i]); c == g.dead {
			return s, fmt.Errorf("token %d, %q, is not what the grammar has next", id, text)
		}
	}
	return State{g: g, c: c}, nil
}

// Complete reports whether the text may end here.
func (s State) Complete() bool { return s.c.end }
