package sched

import "sync"

// gate counts the live requests of an engine and lets no more in than allowed, first come first served among the
// subservers whose oldest queued request could start.
type gate struct {
	mu      sync.Mutex
	live    int
	max     int
	waiting []*subserver // each at most once
}

// enter takes a place for a request of s and reports whether there was one. If not, s will be granted one later.
func (g *gate) enter(s *subserver) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.live < g.max && len(g.waiting) == 0 {
		g.live++
		return true
	}
	for _, w := range g.waiting {
		if w == s {
			return false
		}
	}
	g.waiting = append(g.waiting, s)
	return false
}

// leave gives a place back: to the subserver that has waited longest, if any.
func (g *gate) leave() {
	g.mu.Lock()
	var next *subserver
	if len(g.waiting) > 0 {
		next = g.waiting[0]
		g.waiting = append(g.waiting[:0], g.waiting[1:]...)
	} else {
		g.live--
	}
	g.mu.Unlock()
	if next != nil {
		next.clients.push(task{kind: taskGrant})
	}
}
