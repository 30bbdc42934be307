package kv

import (
	"errors"
	"fmt"
)

// ErrNoPages says that a pool has too few free pages for what was asked. Nothing was changed.
var ErrNoPages = errors.New("no free KV pages")

// Pool hands out the pages of one KV cache.
type Pool struct {
	pageTokens int
	free       []int32 // a stack: the page freed last is used first, while it is warm
	refs       []int32 // [pages] sequences that have the page in their table
	sequences  map[*Sequence]struct{}
	prefixes   prefixes
}

// Sequence is one request's part of a cache. It is made by Pool.New and ends with Pool.Free.
type Sequence struct {
	pages  []int32
	length int
	keys   []key // of the first full pages, as far as they have been looked at
}

// NewPool returns a pool of `pages` free pages of `pageTokens` tokens each.
func NewPool(pages, pageTokens int) (*Pool, error) {
	if pages < 1 || pageTokens < 1 {
		return nil, fmt.Errorf("a KV cache needs at least 1 page of at least 1 token, not %d of %d", pages, pageTokens)
	}
	p := &Pool{pageTokens: pageTokens, free: make([]int32, pages), refs: make([]int32, pages),
		sequences: make(map[*Sequence]struct{}), prefixes: newPrefixes(pages)}
	for i := range p.free {
		p.free[i] = int32(pages - 1 - i) // page 0 is on top
	}
	return p, nil
}

// Pages is the number of pages of the cache, free or not.
func (p *Pool) Pages() int { return len(p.refs) }

// FreePages is the number of pages that belong to nobody, those included whose contents are still known.
func (p *Pool) FreePages() int { return len(p.free) + p.prefixes.idle }

// PagesFor is the number of pages that `tokens` tokens take.
func (p *Pool) PagesFor(tokens int) int { return (tokens + p.pageTokens - 1) / p.pageTokens }

// Length is the number of tokens of the sequence that are in the cache.
func (s *Sequence) Length() int { return s.length }

// Pages is the page table. The slice is the sequence's own: it is read only, and valid until the next change.
func (s *Sequence) Pages() []int32 { return s.pages }

// New returns an empty sequence, which owns no page.
func (p *Pool) New() *Sequence {
	s := &Sequence{}
	p.sequences[s] = struct{}{}
	return s
}

// Lacking is the number of free pages that Reserve(s, tokens) would take.
func (p *Pool) Lacking(s *Sequence, tokens int) int {
	return max(0, p.PagesFor(tokens)-len(s.pages))
}

// Reserve makes the page table reach `tokens` tokens, if it does not yet. It is all or nothing: ErrNoPages says how
// many pages are lacking.
func (p *Pool) Reserve(s *Sequence, tokens int) error {
	n := p.Lacking(s, tokens)
	if n > p.FreePages() {
		return fmt.Errorf("%w: %d more are needed for %d tokens, %d of %d are free",
			ErrNoPages, n, tokens, p.FreePages(), len(p.refs))
	}
	for range n {
		page := p.take()
		p.refs[page] = 1
		s.pages = append(s.pages, page)
	}
	return nil
}

// Advance records that a step has written the next n tokens. They must have been reserved.
func (p *Pool) Advance(s *Sequence, n int) error {
	if n < 0 || s.length+n > len(s.pages)*p.pageTokens {
		return fmt.Errorf("advance by %d from %d is outside the %d tokens reserved", n, s.length, len(s.pages)*p.pageTokens)
	}
	s.length += n
	return nil
}

// Truncate forgets all tokens from `length` on and returns the length that is left. That is less than asked for when it
// would end inside a page that another sequence shares: such a page must not be written again, so it is given up whole.
func (p *Pool) Truncate(s *Sequence, length int) (int, error) {
	if length < 0 || length > s.length {
		return s.length, fmt.Errorf("cannot truncate a sequence of %d tokens to %d", s.length, length)
	}
	if length%p.pageTokens != 0 && p.refs[s.pages[length/p.pageTokens]] > 1 {
		length -= length % p.pageTokens
	}
	keep := p.PagesFor(length)
	p.release(s.pages[keep:])
	s.pages, s.length = s.pages[:keep], length
	if full := length / p.pageTokens; full < len(s.keys) {
		s.keys = s.keys[:full]
		if full < keep {
			p.prefixes.unname(s.pages[full]) // it will be written again
		}
	}
	return length, nil
}

// Fork returns a sequence that shares the first tokens of s: the full pages among the first `length` tokens. Its
// Length says how many tokens those hold; what follows is for the caller to extend again.
func (p *Pool) Fork(s *Sequence, length int) (*Sequence, error) {
	if length < 0 || length > s.length {
		return nil, fmt.Errorf("cannot fork %d tokens of a sequence of %d", length, s.length)
	}
	n := length / p.pageTokens
	child := p.New()
	child.pages = append(child.pages, s.pages[:n]...)
	child.length = n * p.pageTokens
	child.keys = append(child.keys, s.keys[:min(n, len(s.keys))]...)
	for _, page := range child.pages {
		p.refs[page]++
	}
	return child, nil
}

// Clear gives all pages of a sequence back. Its length becomes 0; it can be used again.
func (p *Pool) Clear(s *Sequence) {
	p.release(s.pages)
	s.pages, s.keys, s.length = s.pages[:0], s.keys[:0], 0
}

// Free ends a sequence and gives its pages back.
func (p *Pool) Free(s *Sequence) {
	p.Clear(s)
	delete(p.sequences, s)
}

// take takes a page that belongs to nobody, rather one without known contents.
func (p *Pool) take() int32 {
	last := len(p.free) - 1
	if last < 0 {
		return p.prefixes.oldest()
	}
	page := p.free[last]
	p.free = p.free[:last]
	return page
}

// release counts an owner of each page off. The last pages go first: without the pages before it the contents of a page are
// of no use, so these should be there longer.
func (p *Pool) release(pages []int32) {
	for i := len(pages) - 1; i >= 0; i-- {
		page := pages[i]
		p.refs[page]--
		switch {
		case p.refs[page] > 0:
		case p.prefixes.keyed[page]:
			p.prefixes.keep(page)
		default:
			p.free = append(p.free, page)
		}
	}
}
