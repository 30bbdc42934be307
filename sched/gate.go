package sched

import "sync"

// gate counts the live requests of an engine and lets no more in than allowed, first come first served among the
// subservers whose next request could start.
//
// A few further places are kept for clients of whom nothing is being answered: whoever has taken all the others, with many
// requests or many choices of one, may hold them for as long as answers take, and these must not wait for that.
type gate struct {
	mu      sync.Mutex
	live    int
	max     int
	kept    int            // places beyond max
	held    map[string]int // places in use, by client
	waiting []*subserver   // each at most once
}

// keptShare is how many places there are to each one that is kept.
const keptShare = 8

// open makes a new gate one with this many places for all.
func (g *gate) open(most int) {
	g.max, g.held = most, make(map[string]int)
	if most > 1 { // one request at a time means just that
		g.kept = (most + keptShare - 1) / keptShare
	}
}

// most is how many requests may be live at a time, those in the kept places among them.
func (g *gate) most() int { return g.max + g.kept }

// enter takes a place for a client's request at s and reports whether there was one, and whether it is the client's only one.
// If there was none, s will be granted one later, or be told that it is worth asking again.
func (g *gate) enter(s *subserver, client string) (entered, lone bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	lone = g.held[client] == 0
	if g.live < g.max && len(g.waiting) == 0 || lone && g.live < g.most() {
		g.live++
		g.held[client]++
		return true, lone
	}
	for _, w := range g.waiting {
		if w == s {
			return false, lone
		}
	}
	g.waiting = append(g.waiting, s)
	return false, lone
}

// use makes a place that was granted a client's, and reports whether it is the client's only one.
func (g *gate) use(client string) (lone bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.held[client]++
	return g.held[client] == 1
}

// leave gives a client's place back.
func (g *gate) leave(client string) {
	g.mu.Lock()
	if g.held[client]--; g.held[client] == 0 {
		delete(g.held, client)
	}
	g.mu.Unlock()
	g.giveBack()
}

// giveBack gives a place back: to the subserver that has waited longest, if any. Of those that are kept they all are told, since
// only some requests may have it.
func (g *gate) giveBack() {
	kind := taskGrant
	var tell []*subserver
	g.mu.Lock()
	g.live--
	switch {
	case g.live >= g.max:
		kind, tell = taskRoom, append(tell, g.waiting...)
	case len(g.waiting) > 0:
		g.live++
		tell = append(tell, g.waiting[0])
		g.waiting = append(g.waiting[:0], g.waiting[1:]...)
	}
	g.mu.Unlock()
	for _, s := range tell {
		s.clients.push(task{kind: kind})
	}
}

// fairest is the index in a queue of the request to admit next: of the client that has fewest live requests, the one that has
// waited longest. lone: it has none.
func (g *gate) fairest(queue []*owner) (best int, lone bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, o := range queue {
		if g.held[o.client] < g.held[queue[best].client] {
			best = i
		}
	}
	return best, g.held[queue[best].client] == 0
}
