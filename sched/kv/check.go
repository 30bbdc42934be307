package kv

import "fmt"

// Check returns the first invariant of the pool that does not hold (see the package documentation), or nil. It looks at
// every page: call it when there is nothing else to do.
func (p *Pool) Check() error {
	owners := make([]int32, len(p.refs))
	lastOf := make([]*Sequence, len(p.refs))
	for s := range p.sequences {
		if s.length > len(s.pages)*p.pageTokens {
			return fmt.Errorf("kv: a sequence of %d tokens has only %d pages of %d", s.length, len(s.pages), p.pageTokens)
		}
		for i, page := range s.pages {
			if page < 0 || int(page) >= len(owners) {
				return fmt.Errorf("kv: page %d of a table is outside the %d pages of the cache", page, len(owners))
			}
			if lastOf[page] == s {
				return fmt.Errorf("kv: page %d is twice in one table", page)
			}
			lastOf[page] = s
			owners[page]++
			if p.refs[page] > 1 && (i+1)*p.pageTokens > s.length {
				return fmt.Errorf("kv: page %d is shared but not full in one of its owners", page)
			}
		}
	}
	for _, page := range p.free {
		if owners[page] != 0 || p.refs[page] != 0 {
			return fmt.Errorf("kv: page %d is free but has %d owners and %d references", page, owners[page], p.refs[page])
		}
		owners[page] = -1
	}
	idle := 0
	for i := p.prefixes.after[0]; i != 0; i = p.prefixes.after[i] {
		page := i - 1
		if owners[page] != 0 || p.refs[page] != 0 || !p.prefixes.keyed[page] {
			return fmt.Errorf("kv: page %d is kept for its contents but has %d owners, %d references, contents known: %t",
				page, owners[page], p.refs[page], p.prefixes.keyed[page])
		}
		owners[page] = -1
		idle++
	}
	if idle != p.prefixes.idle {
		return fmt.Errorf("kv: %d pages are kept for their contents, %d are counted", idle, p.prefixes.idle)
	}
	for page, known := range p.prefixes.keyed {
		if at, ok := p.prefixes.index[p.prefixes.keys[page]]; known && (!ok || int(at) != page) {
			return fmt.Errorf("kv: the contents of page %d are known but lead to page %d", page, at)
		}
	}
	for page, n := range owners {
		if n == -1 {
			continue
		}
		if n == 0 {
			return fmt.Errorf("kv: page %d is neither free nor owned", page)
		}
		if n != p.refs[page] {
			return fmt.Errorf("kv: page %d has %d owners and %d references", page, n, p.refs[page])
		}
	}
	return nil
}
