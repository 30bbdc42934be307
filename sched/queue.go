package sched

// queue is the waiting requests of a subserver, first come first served: a list threaded through the requests
// themselves, so that one can leave from the middle. The head has waited longest.
type queue struct {
	head, tail *local
	n          int
	urgent     int // requests that wait for no threshold
}

func (q *queue) push(l *local) {
	l.prev, l.next = q.tail, nil
	if q.tail == nil {
		q.head = l
	} else {
		q.tail.next = l
	}
	q.tail = l
	q.n++
	if l.urgent {
		q.urgent++
	}
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
	q.n--
	if l.urgent {
		q.urgent--
	}
}
