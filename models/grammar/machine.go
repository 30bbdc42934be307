package grammar

import (
	"encoding/binary"
	"slices"
	"sync"
)

// Grammar is a language over the tokens of a vocabulary.
type Grammar struct {
	vocab *Vocabulary
	nodes []node
	start int32

	mu      sync.Mutex // guards what follows, and what is remembered in configs and stacks
	stacks  map[stackKey]*stack
	configs map[string]*config
	bases   map[int32]*base // by node
	masks   int             // remembered in bases and configs
	nextID  uint32
	dead    *config
	key     []byte
	work    int // for the present mask
	tables  int // likewise: of configs
}

// stack is a node of a rule and what called the rule. Those that are the same are one.
type stack struct {
	id     uint32
	node   int32
	parent *stack  // nil: the rule is the whole
	config *config // where this stack alone leads without a byte; nil: not known yet
}

type stackKey struct {
	node   int32
	parent *stack
}

// config is a set of stacks that a text may have led to: a state of the grammar. Those that are the same are one.
type config struct {
	stacks []*stack      // whose nodes have edges, by ascending id
	end    bool          // the text may end here
	next   *[256]*config // by byte; nil: not known yet
	few    []arrow       // instead of next, where few bytes lead on
	narrow bool          // few is used
	mask   []uint32      // nil: not known yet
	only   int32         // the one token of the mask, or none
}

// arrow is where a byte leads.
type arrow struct {
	by byte
	to *config
}

// What is remembered is forgotten, all of it, when it is more than this.
const (
	mostConfigs = 8192
	mostMasks   = 256
)

// A mask for which more than this has to be found out is given up: there are grammars, such as patterns that look for a text of many
// characters anywhere, with so many states that they would keep everybody waiting.
const (
	mostWork   = 500_000 // places
	mostTables = 5_000
)

// exhausted reports whether the present mask has to be given up.
func (g *Grammar) exhausted() bool { return g.work > mostWork || g.tables > mostTables }

func newGrammar(v *Vocabulary, nodes []node, start int32) *Grammar {
	g := &Grammar{vocab: v, nodes: nodes, start: start, dead: &config{only: none}}
	g.forget()
	return g
}

// forget drops what is remembered. States that are in use keep what they hold; that others are equal to them is lost, and found
// out again.
func (g *Grammar) forget() {
	g.stacks, g.configs, g.bases, g.masks = make(map[stackKey]*stack), make(map[string]*config), make(map[int32]*base), 0
}

// push returns the stack of a node and what called its rule.
func (g *Grammar) push(node int32, parent *stack) *stack {
	k := stackKey{node, parent}
	s := g.stacks[k]
	if s == nil {
		g.nextID++
		s = &stack{id: g.nextID, node: node, parent: parent}
		g.stacks[k] = s
	}
	return s
}

// closure is the state at these places: what can be reached from them without a byte.
func (g *Grammar) closure(places []stackKey) *config {
	c := &config{only: none}
	seen := make(map[stackKey]bool, 2*len(places))
	for len(places) > 0 {
		g.work++
		k := places[len(places)-1]
		places = places[:len(places)-1]
		if seen[k] {
			continue
		}
		seen[k] = true
		n := &g.nodes[k.node]
		if len(n.edges) > 0 {
			c.stacks = append(c.stacks, g.push(k.node, k.parent))
		}
		if n.accept {
			if k.parent == nil {
				c.end = true
			} else {
				places = append(places, stackKey{k.parent.node, k.parent.parent})
			}
		}
		for _, to := range n.skips {
			places = append(places, stackKey{to, k.parent})
		}
		for _, call := range n.calls {
			back := k.parent
			if !g.nodes[call.back].tail {
				back = g.push(call.back, k.parent)
			} // otherwise the rule ends with the one that it calls
			places = append(places, stackKey{call.rule, back})
		}
	}
	return g.same(c)
}

// same returns the state that is equal to c, or c if there is none yet.
func (g *Grammar) same(c *config) *config {
	if len(c.stacks) == 0 && !c.end {
		return g.dead
	}
	slices.SortFunc(c.stacks, func(a, b *stack) int { return int(a.id) - int(b.id) })
	g.key = g.key[:0]
	if c.end {
		g.key = append(g.key, 1)
	}
	for _, s := range c.stacks {
		g.key = binary.LittleEndian.AppendUint32(g.key, s.id)
	}
	if known := g.configs[string(g.key)]; known != nil {
		return known
	}
	g.configs[string(g.key)] = c
	return c
}

// step is the state after a byte.
func (g *Grammar) step(c *config, by byte) *config {
	if c.next == nil && !c.narrow {
		if len(c.stacks) == 0 {
			return g.dead
		}
		if c.narrow = g.isNarrow(c); !c.narrow {
			g.tables++
			c.next = new([256]*config)
		}
	}
	var to *config
	if c.narrow {
		for _, a := range c.few {
			if a.by == by {
				return a.to
			}
		}
	} else {
		to = c.next[by]
	}
	if to == nil {
		var places []stackKey
		for _, s := range c.stacks {
			for _, e := range g.nodes[s.node].edges {
				if e.lo <= by && by <= e.hi {
					places = append(places, stackKey{e.to, s.parent})
				}
			}
		}
		to = g.dead
		if len(places) > 0 {
			to = g.closure(places)
		}
		switch {
		case !c.narrow:
			c.next[by] = to
		case to != g.dead:
			c.few = append(c.few, arrow{by, to})
		}
	}
	return to
}

// isNarrow reports whether few bytes lead on from a state.
func (g *Grammar) isNarrow(c *config) bool {
	const few = 16
	n := 0
	for _, s := range c.stacks {
		for _, e := range g.nodes[s.node].edges {
			if n += int(e.hi) - int(e.lo) + 1; n > few {
				return false
			}
		}
	}
	return true
}

// below is the state when the rule above a stack has ended.
func (g *Grammar) below(s *stack) *config {
	if s.config == nil {
		s.config = g.closure([]stackKey{{s.node, s.parent}})
	}
	return s.config
}
