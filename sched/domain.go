package sched

import (
	"cmp"
	"sync"
	"time"
)

// domain is models of which one steps at a time: those of an exclusive device; with the synchronous policies all of an
// engine. It decides whose step comes next, when the one before has been routed and all that it sent has arrived: only
// then is it known who waits where.
type domain struct {
	engine *Engine

	mu      sync.Mutex
	members []*subserver // by rank: a model comes after those that are before it in a route
	busy    bool         // a step runs or is being routed
	last    *subserver   // whose step was the last
	turn    uint64       // steps so far
	passed  bool         // with largeFirst: the last step came before that of a model whose turn it would have been
	round   uint64       // with StepSync: the position that all requests write now
}

// want is what a model wants of its domain, which guards it.
type want struct {
	all      int       // requests that wait
	waiting  int       // requests that a step could take; 0 also while none of them fits in the cache
	young    bool      // one of them has no token yet, so it waits for no threshold
	met      bool      // enough of those that came from other models wait
	plain    bool      // some wait that no threshold concerns: at the entry, or of a model served alone
	deadline time.Time // when a request will have waited as long as it may; zero: never
	share    float64   // of the threshold
	behind   int       // with StepSync: those of them that have not written the position of the round
	turn     uint64    // of the domain, when the model stepped last
}

// isLate reports whether a request has waited as long as it may.
func (w *want) isLate(now time.Time) bool { return !w.deadline.IsZero() && !now.Before(w.deadline) }

// ask reports whether s may start a step now. A true answer takes the domain, and has been counted as activity.
func (d *domain) ask(s *subserver, now time.Time) bool {
	if taken, free := d.take(s, now); taken || !free {
		return taken
	}
	// Nobody's threshold is met. If nothing is under way either, whoever is nearest starts.
	if !s.group.quiet() || s.group.fullest() != s {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.engine.still() && !d.busy && d.choose(now) == nil && s.want.waiting > 0 && d.occupy(s, now)
}

// take gives s the domain if the policy says so. free: it could give it to nobody.
func (d *domain) take(s *subserver, now time.Time) (taken, free bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.busy || !d.engine.still() {
		return false, false
	}
	next := d.choose(now)
	return next == s && d.occupy(s, now), next == nil
}

func (d *domain) occupy(s *subserver, now time.Time) bool {
	_, due := d.first(now)
	d.busy, d.last, d.passed = true, s, due != nil && due != s
	d.turn++
	s.want.turn = d.turn
	s.group.add(1)
	return true
}

// current is the round that a step belongs to. The caller has the domain.
func (d *domain) current() uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.round
}

// leave frees the domain after a step.
func (d *domain) leave() {
	d.mu.Lock()
	d.busy = false
	d.mu.Unlock()
}

// nudge wakes the model whose turn it is, if any.
func (d *domain) nudge() {
	var s *subserver
	d.mu.Lock()
	if !d.busy && d.engine.still() {
		s = d.choose(d.engine.now())
	}
	d.mu.Unlock()
	if s != nil {
		s.wake.raise()
	}
}

// choose is the policy: the model whose step comes next, or nil if none should start. The caller holds the lock.
func (d *domain) choose(now time.Time) *subserver {
	switch d.engine.options.Policy {
	case StepSync:
		return d.stepSync()
	case ModelSync:
		return d.modelSync()
	case Eager:
		if d.engine.options.Order == SmallFirst {
			return d.smallFirst(now)
		}
	}
	return d.largeFirst(now)
}

// largeFirst is the rule of eager and lazy batching on a shared device: a model whose threshold is met goes before those that
// are before it in the route. Requests that have no token yet, or have waited as long as they may, have their turn beside it, the
// model that has not stepped for longest first; so have the entry and models served alone among themselves. With lazy batching,
// whose large steps are longer, a model with a request that has no token yet goes before them all, but once: so a newcomer waits
// for the step that runs, and not for the one after it too.
func (d *domain) largeFirst(now time.Time) *subserver {
	young, due := d.first(now)
	switch {
	case young != nil && due != nil && (d.passed || d.engine.options.Policy != Lazy):
		return later(young, due)
	case young != nil:
		return young
	case due != nil:
		return due
	}
	var plain *subserver
	for _, s := range d.members {
		if s.want.waiting > 0 && s.want.plain {
			plain = later(plain, s)
		}
	}
	return plain
}

// first is who goes before the others: the model that has not stepped for longest of those with a request that has no token yet,
// and whose turn it is without these. Either may be nil.
func (d *domain) first(now time.Time) (young, due *subserver) {
	var met, late *subserver
	for _, s := range d.members {
		w := &s.want
		if w.waiting == 0 {
			continue
		}
		if w.young {
			young = later(young, s)
		}
		if w.met {
			met = s // of the highest rank
		}
		if w.isLate(now) {
			late = later(late, s)
		}
	}
	if met == nil || late == nil {
		return young, cmp.Or(met, late)
	}
	return young, later(late, met)
}

// later is the one of two models that has not stepped for longer; either may be nil.
func later(a, b *subserver) *subserver {
	if a == nil || b != nil && b.want.turn < a.want.turn {
		return b
	}
	return a
}

// smallFirst lets a model run only when nobody waits at an entry: then the one for which most wait.
func (d *domain) smallFirst(now time.Time) *subserver {
	var plain, pressing, most *subserver
	for _, s := range d.members {
		w := &s.want
		if w.waiting == 0 {
			continue
		}
		if w.young || w.isLate(now) {
			pressing = later(pressing, s)
		}
		if w.plain {
			plain = later(plain, s)
		}
		if most == nil || w.waiting > most.want.waiting {
			most = s
		}
	}
	switch {
	case pressing != nil && plain != nil:
		return later(pressing, plain)
	case pressing != nil:
		return pressing
	case plain != nil:
		return plain
	default:
		return most
	}
}

// modelSync lets the model that ran last go on until nobody waits for it, then the one for which most wait. Requests that
// have no token yet go first.
func (d *domain) modelSync() *subserver {
	var most *subserver
	for _, s := range d.members {
		w := &s.want
		if w.waiting == 0 {
			continue
		}
		if w.young && s != d.last {
			return s
		}
		if most == nil || w.waiting > most.want.waiting {
			most = s
		}
	}
	if d.last != nil && d.last.want.waiting > 0 {
		return d.last
	}
	return most
}

// stepSync lets each model in turn, the entry first, step on all requests that have not written the position of the round.
// When all have, the next round begins.
func (d *domain) stepSync() *subserver {
	for range 2 {
		waiting := false
		for _, s := range d.members {
			if s.want.behind > 0 {
				return s
			}
			waiting = waiting || s.want.all > 0
		}
		if !waiting {
			return nil
		}
		d.round++
		for _, s := range d.members {
			s.want.waiting, s.want.behind = s.want.all, s.want.all
		}
	}
	return nil
}
