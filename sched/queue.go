package sched

// queue is the waiting requests of a subserver, first come first served, those that hurry before the others: a list threaded
// through the requests themselves, so that one can leave from the middle. What it is ordered by does not change while they wait.
type queue struct {
	head, tail *local
	n          int
	urgent     int // requests that wait for no threshold
	alone      int // requests of models that are served alone
	pages      int // KV pages that they need all together
}

func (q *queue) push(l *local) {
	l.prev, l.next = q.tail, nil
	if l.hurries() {
		l.prev, l.next = nil, q.head
		for l.next != nil && l.next.hurries() {
			l.prev, l.next = l.next, l.next.next
		}
	}
	if l.prev == nil {
		q.head = l
	} else {
		l.prev.next = l
	}
	if l.next == nil {
		q.tail = l
	} else {
		l.next.prev = l
	}
	q.count(l, 1)
}

func (q *queue) remove(l *local) {
	if l.prev == nil {
		q.head = l.next
	} else {
		l.prev.next = l.next
	}
	if l.next == nil {
		q.tail = l.prev
	} else {
		l.next.prev = l.prev
	}
	l.prev, l.next = nil, nil
	q.count(l, -1)
}

// count counts a request in or out. What it is counted by does not change while it waits.
func (q *queue) count(l *local, n int) {
	q.n += n
	q.pages += n * l.pages
	if l.urgent {
		q.urgent += n
	}
	if len(l.spec.Models) == 1 {
		q.alone += n
	}
}

// behind is the number of requests that have not yet written a token in this round.
func (q *queue) behind(round uint64) (n int) {
	for l := q.head; l != nil; l = l.next {
		if l.round < round {
			n++
		}
	}
	return n
}
