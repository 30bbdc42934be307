package tokenizer

import (
	"slices"
	"sync"
)

// merge is what becomes of a pair of tokens: its rank, the lowest of which is joined first, and the token that comes of it.
type merge struct{ rank, id int32 }

// merges are the pairs that can be joined, by pairOf.
type merges map[uint64]merge

func pairOf(left, right int32) uint64 { return uint64(left)<<32 | uint64(uint32(right)) }

// scratch is the working memory of merging one word: a linked list of tokens over fixed places, and a queue of the pairs
// that can be joined.
type scratch struct {
	places []place
	queue  queue
	text   []byte
}

type place struct {
	id   int32 // token that begins here
	next int32 // place behind it, or the number of places
	prev int32 // place before it, or -1
	rank int32 // of the pair that begins here, or noRank
}

const (
	noRank = -1
	// keep is the longest word whose memory is kept for later words.
	keep = 1 << 14
)

var scratches = sync.Pool{New: func() any { return new(scratch) }}

func (s *scratch) release() {
	if cap(s.places) <= keep {
		scratches.Put(s)
	}
}

// start makes room for a word of n places, which add then fills.
func (s *scratch) start(n int) {
	s.places = slices.Grow(s.places[:0], n)
}

func (s *scratch) add(id int32) {
	n := int32(len(s.places))
	s.places = append(s.places, place{id: id, next: n + 1, prev: n - 1, rank: noRank})
}

// offer gives the entry of the pair that begins at place at, if it can be joined.
func (s *scratch) offer(pairs merges, at int32) (uint64, bool) {
	p := &s.places[at]
	p.rank = noRank
	if int(p.next) >= len(s.places) {
		return 0, false
	}
	m, ok := pairs[pairOf(p.id, s.places[p.next].id)]
	if ok {
		p.rank = m.rank
	}
	return uint64(m.rank)<<32 | uint64(uint32(at)), ok
}

// join merges until no pair is left, the lowest rank first, and of equal ranks the leftmost.
func (s *scratch) join(pairs merges) {
	q := &s.queue
	q.clear()
	for i := range len(s.places) - 1 {
		if x, ok := s.offer(pairs, int32(i)); ok {
			q.fill(x)
		}
	}
	q.sort()
	for {
		top, ok := q.least()
		if !ok {
			return
		}
		at := int32(uint32(top))
		p := &s.places[at]
		if p.rank != int32(top>>32) {
			continue // one of the two has been joined with something else since
		}
		gone := &s.places[p.next]
		p.id = pairs[pairOf(p.id, gone.id)].id
		p.next = gone.next
		gone.rank = noRank
		if int(p.next) < len(s.places) {
			s.places[p.next].prev = at
		}
		if x, ok := s.offer(pairs, at); ok {
			q.push(x)
		}
		if p.prev >= 0 {
			if x, ok := s.offer(pairs, p.prev); ok {
				q.push(x)
			}
		}
	}
}

func (s *scratch) tokens(dst []int32) []int32 {
	for at := int32(0); int(at) < len(s.places); at = s.places[at].next {
		dst = append(dst, s.places[at].id)
	}
	return dst
}
