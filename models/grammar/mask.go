package grammar

import "math/bits"

// base is what is known of a node, whatever called its rule.
type base struct {
	mask  []uint32 // tokens that can be written without leaving the rule, and such that end with it
	exits []int32  // nodes of the trie, not leaves, at which the rule may end
}

// mask finds the tokens that may come next in a state, and whether it is only one.
func (g *Grammar) mask(c *config) {
	if c.mask != nil {
		return
	}
	mask := make([]uint32, g.vocab.words())
	g.work, g.tables = 0, 0
	for _, s := range c.stacks {
		b := g.base(s.node)
		for i, w := range b.mask {
			mask[i] |= w
		}
		if s.parent != nil {
			rest := g.below(s.parent)
			for _, at := range b.exits {
				g.walk(at, rest, mask, nil)
			}
		}
		if g.exhausted() {
			g.forget()
			return
		}
	}
	if c.end {
		for _, id := range g.vocab.ends {
			mask[id/32] |= 1 << (id % 32)
		}
	}
	count := 0
	for i, w := range mask {
		if w != 0 {
			count += bits.OnesCount32(w)
			c.only = int32(32*i + bits.TrailingZeros32(w))
		}
	}
	if count != 1 {
		c.only = none
	}
	c.mask = mask
	g.masks++
}

// base finds out about a node.
func (g *Grammar) base(at int32) *base {
	at = g.nodes[at].like
	if b := g.bases[at]; b != nil {
		return b
	}
	b := &base{mask: make([]uint32, g.vocab.words())}
	g.walk(0, g.same(&config{stacks: []*stack{g.push(at, nil)}, only: none}), b.mask, b)
	if g.exhausted() {
		return b
	}
	g.bases[at] = b
	g.masks++
	return b
}

// walk allows the tokens behind a node of the trie that can be written from a state on. With b it notes where the text may end.
func (g *Grammar) walk(from int32, c *config, mask []uint32, b *base) {
	v := g.vocab
	start := v.depth[from]
	path := []*config{c}
	for at, stop := from+1, v.after[from]; at < stop && !g.exhausted(); {
		depth := v.depth[at] - start
		path = path[:depth]
		c := path[depth-1]
		var to *config
		if c.next != nil {
			to = c.next[v.char[at]]
		}
		if to == nil {
			to = g.step(c, v.char[at])
		}
		if to == g.dead {
			at = v.after[at]
			continue
		}
		v.allow(mask, at)
		if b != nil && to.end && v.after[at] > at+1 {
			b.exits = append(b.exits, at)
		}
		if len(to.stacks) == 0 {
			at = v.after[at]
			continue
		}
		path = append(path, to)
		at++
	}
}
