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

// scratch is the working memory of merging one word: a linked list of tokens over fixed places, and a queue of the
// pairs that can be joined. An entry is the rank of a pair and the place where it begins; the smallest is joined next.
//
// Most of the queue is a sorted run; pairs that arise on the way go to a heap, which becomes the next run when this one
// is used up. A long word of few letters has many pairs of few ranks: sorting them is cheap, a heap of them all is not.
type scratch struct {
	places []place
	run    []uint64 // ascending
	taken  int      // entries of run that are used up
	heap   []uint64
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
	s.run, s.taken, s.heap = s.run[:0], 0, s.heap[:0]
}

func (s *scratch) add(id int32) {
	n := int32(len(s.places))
	s.places = append(s.places, place{id: id, next: n + 1, prev: n - 1, rank: noRank})
}

// offer puts the pair that begins at place at on the heap if it is in the list of merges.
func (s *scratch) offer(pairs merges, at int32) {
	p := &s.places[at]
	p.rank = noRank
	if int(p.next) >= len(s.places) {
		return
	}
	if m, ok := pairs[pairOf(p.id, s.places[p.next].id)]; ok {
		p.rank = m.rank
		s.push(uint64(m.rank)<<32 | uint64(uint32(at)))
	}
}

// join merges until no pair is left, the lowest rank first, and of equal ranks the leftmost.
func (s *scratch) join(pairs merges) {
	for i := range len(s.places) - 1 {
		s.offer(pairs, int32(i))
	}
	for {
		top, ok := s.least()
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
		s.offer(pairs, at)
		if p.prev >= 0 {
			s.offer(pairs, p.prev)
		}
	}
}

func (s *scratch) tokens(dst []int32) []int32 {
	for at := int32(0); int(at) < len(s.places); at = s.places[at].next {
		dst = append(dst, s.places[at].id)
	}
	return dst
}

// least takes the smallest entry from the queue.
func (s *scratch) least() (uint64, bool) {
	if s.taken == len(s.run) {
		s.run, s.taken, s.heap = s.heap, 0, s.run[:0]
		slices.Sort(s.run)
	}
	switch {
	case s.taken == len(s.run):
		return 0, false
	case len(s.heap) > 0 && s.heap[0] < s.run[s.taken]:
		return s.pop(), true
	}
	s.taken++
	return s.run[s.taken-1], true
}

// push and pop keep a heap with the smallest entry on top, four entries under each: fewer steps, and the four lie
// together in memory. container/heap would box every entry.
func (s *scratch) push(x uint64) {
	h := append(s.heap, x)
	i := len(h) - 1
	for i > 0 {
		up := (i - 1) / 4
		if h[up] <= x {
			break
		}
		h[i] = h[up]
		i = up
	}
	h[i] = x
	s.heap = h
}

func (s *scratch) pop() uint64 {
	h := s.heap
	top, last := h[0], h[len(h)-1]
	h = h[:len(h)-1]
	i := 0
	for {
		down := 4*i + 1
		if down >= len(h) {
			break
		}
		least := h[down]
		for k, end := down+1, min(down+4, len(h)); k < end; k++ {
			if h[k] < least {
				down, least = k, h[k]
			}
		}
		if last <= least {
			break
		}
		h[i] = least
		i = down
	}
	if len(h) > 0 {
		h[i] = last
	}
	s.heap = h
	return top
}
