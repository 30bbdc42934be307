package tokenizer

import "slices"

// queue holds the pairs that can be joined, and gives the smallest first. An entry is a rank and the place where the pair
// begins.
//
// Most of it is a sorted run; pairs that arise on the way go to a heap, which becomes the next run when this one is used
// up. A long word of few letters has many pairs of few ranks: sorting them is cheap, a heap of them all is not.
type queue struct {
	run   []uint64 // ascending
	taken int      // entries of run that are used up
	heap  []uint64
	spare []uint64
}

func (q *queue) clear() { q.run, q.taken, q.heap = q.run[:0], 0, q.heap[:0] }

// fill adds to a queue whose run is used up, in any order; sort comes before the first least.
func (q *queue) fill(x uint64) { q.run = append(q.run, x) }

func (q *queue) sort() { q.run, q.spare = sorted(q.run, q.spare) }

// least takes the smallest entry.
func (q *queue) least() (uint64, bool) {
	if q.taken == len(q.run) {
		q.run, q.taken, q.heap = q.heap, 0, q.run[:0]
		q.sort()
	}
	switch {
	case q.taken == len(q.run):
		return 0, false
	case len(q.heap) > 0 && q.heap[0] < q.run[q.taken]:
		return q.pop(), true
	}
	q.taken++
	return q.run[q.taken-1], true
}

// push and pop keep a heap with the smallest entry on top, four entries under each: fewer steps, and the four lie
// together in memory. container/heap would box every entry.
func (q *queue) push(x uint64) {
	h := append(q.heap, x)
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
	q.heap = h
}

func (q *queue) pop() uint64 {
	h := q.heap
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
	q.heap = h
	return top
}

// sorted sorts list, with spare as working memory, and gives both back, which may have changed places. Long lists are sorted
// byte by byte, the lowest first, by counting; bytes in which all entries agree are left out, which most are.
func sorted(list, spare []uint64) (ascending, rest []uint64) {
	const long = 1 << 10
	if len(list) < long || slices.IsSorted(list) {
		slices.Sort(list)
		return list, spare
	}
	var differ uint64
	for _, x := range list {
		differ |= x ^ list[0]
	}
	spare = slices.Grow(spare[:0], len(list))[:len(list)]
	for shift := 0; shift < 64; shift += 8 {
		if differ>>shift&0xFF == 0 {
			continue
		}
		var at [256]int
		for _, x := range list {
			at[x>>shift&0xFF]++
		}
		next := 0
		for i, n := range at {
			at[i] = next
			next += n
		}
		for _, x := range list {
			b := x >> shift & 0xFF
			spare[at[b]] = x
			at[b]++
		}
		list, spare = spare, list
	}
	return list, spare[:0]
}
