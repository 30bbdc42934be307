package sched

// tombstones remember the requests that are over at a subserver, so that a late message revives none. They are bounded:
// of what they forget they keep the highest generation, and treat anything as old as that, and not live, as over.
type tombstones struct {
	generation map[string]uint64 // by request ID, the newest that is over
	order      []tombstone       // a ring of the last ones, when there are as many as capacity
	capacity   int
	next       int
	forgotten  uint64 // highest generation that has left the ring
}

type tombstone struct {
	id         string
	generation uint64
}

func newTombstones(capacity int) *tombstones {
	return &tombstones{generation: make(map[string]uint64), capacity: capacity}
}

// add records that a request is over.
func (t *tombstones) add(id string, generation uint64) {
	if g, ok := t.generation[id]; ok && g >= generation {
		return
	}
	t.generation[id] = generation
	if len(t.order) < t.capacity {
		t.order = append(t.order, tombstone{id, generation})
		return
	}
	old := t.order[t.next]
	if t.generation[old.id] == old.generation {
		delete(t.generation, old.id)
	}
	t.forgotten = max(t.forgotten, old.generation)
	t.order[t.next] = tombstone{id, generation}
	t.next = (t.next + 1) % len(t.order)
}

// covers reports whether a message of this generation speaks of a request that is over. live says that the subserver
// counts the request as live.
func (t *tombstones) covers(id string, generation uint64, live bool) bool {
	if g, ok := t.generation[id]; ok {
		return generation <= g
	}
	return !live && generation <= t.forgotten
}
