package grammar

import "slices"

// finish drops what leads nowhere, marks what the machine wants to know, and reports what it could not run.
func (b *builder) finish(start int32) error {
	if b.full() {
		return errTooLarge
	}
	if !b.prune(start) {
		return errEndless
	}
	if b.recursesLeft() {
		return errLeft
	}
	for i := range b.nodes {
		b.nodes[i].tail = b.onlyEnds(int32(i))
	}
	return nil
}

// prune removes edges and calls from which no end of the rule can be reached, and reports whether start can reach one.
func (b *builder) prune(start int32) bool {
	// Who comes before whom. A call is productive when both its rule and what follows are.
	before := make([][]int32, len(b.nodes))
	for i := range b.nodes {
		n := &b.nodes[i]
		for _, e := range n.edges {
			before[e.to] = append(before[e.to], int32(i))
		}
		for _, to := range n.skips {
			before[to] = append(before[to], int32(i))
		}
		for _, c := range n.calls {
			before[c.back] = append(before[c.back], int32(i))
			before[c.rule] = append(before[c.rule], int32(i))
		}
	}
	good := make([]bool, len(b.nodes))
	var work []int32
	mark := func(i int32) {
		if !good[i] {
			good[i] = true
			work = append(work, i)
		}
	}
	for i := range b.nodes {
		if b.nodes[i].accept {
			mark(int32(i))
		}
	}
	for len(work) > 0 {
		at := work[len(work)-1]
		work = work[:len(work)-1]
		for _, i := range before[at] {
			n := &b.nodes[i]
			if good[i] { // or one with many ways on would be looked at for each of them
				continue
			}
			if slices.ContainsFunc(n.edges, func(e edge) bool { return good[e.to] }) || slices.ContainsFunc(n.skips, func(to int32) bool { return good[to] }) ||
				slices.ContainsFunc(n.calls, func(c call) bool { return good[c.rule] && good[c.back] }) {
				mark(i)
			}
		}
	}
	for i := range b.nodes {
		n := &b.nodes[i]
		n.edges = slices.DeleteFunc(n.edges, func(e edge) bool { return !good[e.to] })
		n.skips = slices.DeleteFunc(n.skips, func(to int32) bool { return !good[to] })
		n.calls = slices.DeleteFunc(n.calls, func(c call) bool { return !good[c.rule] || !good[c.back] })
	}
	return good[start]
}

// onlyEnds reports whether nothing but the end of its rule follows a node.
func (b *builder) onlyEnds(at int32) bool {
	for {
		n := &b.nodes[at]
		switch {
		case len(n.edges)+len(n.calls) > 0:
			return false
		case n.accept:
			return len(n.skips) == 0
		case len(n.skips) != 1:
			return false
		}
		at = n.skips[0]
	}
}

// recursesLeft reports whether a rule can come to itself without a byte in between, which would take the machine for ever.
func (b *builder) recursesLeft() bool {
	empty := b.mayBeEmpty()
	const inside, done = 1, 2
	state := make(map[int32]int8)
	var visit func(rule int32) bool
	visit = func(rule int32) bool {
		state[rule] = inside
		seen := map[int32]bool{rule: true}
		work := []int32{rule}
		for len(work) > 0 {
			n := &b.nodes[work[len(work)-1]]
			work = work[:len(work)-1]
			next := slices.Clone(n.skips)
			for _, c := range n.calls {
				if state[c.rule] == inside || state[c.rule] == 0 && visit(c.rule) {
					return true
				}
				if empty[c.rule] {
					next = append(next, c.back)
				}
			}
			for _, to := range next {
				if !seen[to] {
					seen[to] = true
					work = append(work, to)
				}
			}
		}
		state[rule] = done
		return false
	}
	for _, rule := range b.rules {
		if state[rule] == 0 && visit(rule) {
			return true
		}
	}
	return false
}

// mayBeEmpty finds the rules that the empty text belongs to.
func (b *builder) mayBeEmpty() map[int32]bool {
	empty := make(map[int32]bool)
	for changed := true; changed; {
		changed = false
		for _, rule := range b.rules {
			if !empty[rule] && b.reachesEnd(rule, empty) {
				empty[rule], changed = true, true
			}
		}
	}
	return empty
}

// reachesEnd reports whether a rule's end can be reached without a byte, through rules that may be empty.
func (b *builder) reachesEnd(rule int32, empty map[int32]bool) bool {
	seen := map[int32]bool{rule: true}
	work := []int32{rule}
	visit := func(to int32) {
		if !seen[to] {
			seen[to] = true
			work = append(work, to)
		}
	}
	for len(work) > 0 {
		n := &b.nodes[work[len(work)-1]]
		work = work[:len(work)-1]
		if n.accept {
			return true
		}
		for _, to := range n.skips {
			visit(to)
		}
		for _, c := range n.calls {
			if empty[c.rule] {
				visit(c.back)
			}
		}
	}
	return false
}
