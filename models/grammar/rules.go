package grammar

import (
	"errors"
	"slices"
)

// node is a place in a rule.
type node struct {
	edges  []edge
	calls  []call
	skips  []int32 // nodes that are reached by nothing
	accept bool    // the rule may end here
	tail   bool    // nothing but the end of the rule follows
	like   int32   // a node at which the same tokens may follow, or the node itself
}

// edge is a step by a byte of lo to hi.
type edge struct {
	lo, hi byte
	to     int32
}

// call is a text of another rule, that which starts at rule; the caller goes on at back.
type call struct{ rule, back int32 }

// MaxNodes bounds the size of a grammar, and with it the time and memory that it takes to compile: some tenths of a second.
const MaxNodes = 200_000

// errTooLarge says that a grammar has too many nodes.
var errTooLarge = errors.New("it is too large: the properties and values in it, or bounds of lengths and of numbers of items, make it so")

// builder makes the nodes of a grammar.
type builder struct {
	vocab *Vocabulary
	most  int // nodes
	nodes []node
	rules map[string]int32 // start of each, by name
}

// frag is a piece of a rule: nothing leads into in, nothing out of out, from elsewhere.
type frag struct{ in, out int32 }

// node makes a node. A grammar that is full already will come to nothing, and grows no further.
func (b *builder) node() int32 {
	if b.full() {
		return int32(len(b.nodes) - 1)
	}
	n := int32(len(b.nodes))
	b.nodes = append(b.nodes, node{like: n})
	return n
}

// full reports whether there are more nodes than there may be.
func (b *builder) full() bool { return len(b.nodes) > b.most }

func (b *builder) skip(from, to int32) {
	if !b.full() { // nodes that stand for others would lead in circles
		b.nodes[from].skips = append(b.nodes[from].skips, to)
	}
}

// byteFrom is one byte of lo to hi.
func (b *builder) byteFrom(lo, hi byte) frag {
	f := frag{b.node(), b.node()}
	b.nodes[f.in].edges = []edge{{lo, hi, f.out}}
	return f
}

// class is one of several bytes.
func (b *builder) class(set string) frag {
	f := frag{b.node(), b.node()}
	for i := range len(set) {
		b.nodes[f.in].edges = append(b.nodes[f.in].edges, edge{set[i], set[i], f.out})
	}
	return f
}

// text is exactly this.
func (b *builder) text(s string) frag {
	f := frag{b.node(), 0}
	at := f.in
	for i := range len(s) {
		next := b.node()
		b.nodes[at].edges = []edge{{s[i], s[i], next}}
		at = next
	}
	f.out = at
	return f
}

// oneText is exactly one of these. However many they are, only few places are open at a time: what begins alike is one path.
func (b *builder) oneText(texts []string) frag {
	f := frag{b.node(), b.node()}
	path, last := []int32{f.in}, ""
	for _, s := range slices.Compact(slices.Sorted(slices.Values(texts))) {
		common := 0
		for common < min(len(last), len(s)) && last[common] == s[common] {
			common++
		}
		path = path[:common+1]
		for i := common; i < len(s); i++ {
			from, next := path[i], b.node()
			b.nodes[from].edges = append(b.nodes[from].edges, edge{s[i], s[i], next})
			path = append(path, next)
		}
		b.skip(path[len(s)], f.out)
		last = s
	}
	return f
}

// empty is no text.
func (b *builder) empty() frag {
	n := b.node()
	return frag{n, n}
}

// seq is one after another.
func (b *builder) seq(parts ...frag) frag {
	if len(parts) == 0 {
		return b.empty()
	}
	for i := range parts[1:] {
		b.skip(parts[i].out, parts[i+1].in)
	}
	return frag{parts[0].in, parts[len(parts)-1].out}
}

// alt is one of several.
func (b *builder) alt(parts ...frag) frag {
	f := frag{b.node(), b.node()}
	for _, p := range parts {
		b.skip(f.in, p.in)
		b.skip(p.out, f.out)
	}
	return f
}

// opt is it or nothing.
func (b *builder) opt(f frag) frag { return b.alt(f, b.empty()) }

// star is any number of it.
func (b *builder) star(f frag) frag {
	at := b.node()
	b.skip(at, f.in)
	b.skip(f.out, at)
	out := b.node()
	b.skip(at, out)
	in := b.node()
	b.skip(in, at)
	return frag{in, out}
}

// repeat is min to max of what part makes; max < 0: any number from min on.
func (b *builder) repeat(part func() frag, least, most int) frag {
	f := b.empty()
	for range least {
		if b.full() {
			break // which finish finds
		}
		f = b.seq(f, part())
	}
	if most < 0 {
		return b.seq(f, b.star(part()))
	}
	out := b.node()
	for range most - least {
		if b.full() {
			break
		}
		b.skip(f.out, out)
		f = b.seq(f, part())
	}
	b.skip(f.out, out)
	return frag{f.in, out}
}

// call is a text of a rule.
func (b *builder) call(rule int32) frag {
	f := frag{b.node(), b.node()}
	b.nodes[f.in].calls = []call{{rule, f.out}}
	return f
}

// rule returns a rule of this name, which is made if there is none yet. It may call itself.
func (b *builder) rule(name string, body func() (frag, error)) (int32, error) {
	if start, ok := b.rules[name]; ok {
		return start, nil
	}
	start := b.node()
	b.rules[name] = start
	f, err := body()
	if err != nil {
		return 0, err
	}
	b.skip(start, f.in)
	b.nodes[f.out].accept = true
	if b.full() {
		return 0, errTooLarge
	}
	return start, nil
}

// plain is rule for a body that cannot fail.
func (b *builder) plain(name string, body func() frag) frag {
	start, ok := b.rules[name]
	if !ok {
		start = b.node()
		b.rules[name] = start
		f := body()
		b.skip(start, f.in)
		b.nodes[f.out].accept = true
	}
	return b.call(start)
}

// Errors of a grammar that no text, or no bounded reading, belongs to.
var (
	errEndless = errors.New("nothing finite is valid to it")
	errLeft    = errors.New("it refers to itself with nothing in between")
)
