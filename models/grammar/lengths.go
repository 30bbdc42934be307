package grammar

// maxCounted is the largest minLength or maxLength that is supported.
const maxCounted = 4096

// counted is a string of least to most characters; most < 0: no bound.
func (b *builder) counted(least, most int) frag {
	if least == 0 && most < 0 {
		return b.quoted()
	}
	open, quote := b.text(`"`), b.text(`"`)
	last := most
	if most < 0 {
		last = least
	}
	at := make([]int32, last+1) // after this many characters
	for i := range at {
		at[i] = b.node()
	}
	// No token has more characters than this, so that far from both bounds the same tokens may follow, however many characters
	// there were. Nodes far enough share what is known of them.
	far := b.vocab.longest + 1
	for i := range at {
		if i < last {
			c := b.character()
			b.join(at[i], c.in)
			b.skip(c.out, at[i+1])
		}
		if i >= least {
			b.join(at[i], quote.in)
		}
		switch {
		case last-i <= far || i == 0: // near the end, or the first
		case least-i > far:
			b.nodes[at[i]].like = at[0]
		case i > least:
			b.nodes[at[i]].like = at[least]
		}
	}
	if most < 0 {
		c := b.character()
		b.join(at[last], c.in)
		b.skip(c.out, at[last])
	}
	b.skip(open.out, at[0])
	return frag{open.in, quote.out}
}

// join gives a node the edges of another, so that it has them itself.
func (b *builder) join(at, from int32) {
	if b.nodes[from].skips != nil {
		for _, to := range b.nodes[from].skips {
			b.join(at, to)
		}
	}
	b.nodes[at].edges = append(b.nodes[at].edges, b.nodes[from].edges...)
}
