package sched

import "sync/atomic"

// group is the models that a request may go between, over one route or several. Whatever can still happen to a request
// happens within its group.
type group struct {
	members []*subserver // in the order of their domains' priority, the lowest first

	// active counts what is under way in the group: steps from the decision to launch until their answers are routed,
	// messages, and pieces of work for a client-server loop. At zero the group is quiescent: nothing will happen by itself,
	// so a batch that is held back for its threshold must start.
	//
	// Whoever makes work counts it before it counts itself off, so the count never touches zero in between.
	active  atomic.Int64
	planner *planner // nil: thresholds do not change
	zero    func()   // called when the group becomes quiescent
}

func (g *group) add(n int) { g.active.Add(int64(n)) }

func (g *group) done(n int) {
	if g.active.Add(int64(-n)) == 0 {
		g.zero()
	}
}

func (g *group) quiet() bool { return g.active.Load() == 0 }

// rouse wakes the model that starts when the group is quiescent, if it is.
func (g *group) rouse() {
	if !g.quiet() {
		return
	}
	if s := g.fullest(); s != nil {
		s.wake.raise()
	}
}

// fullest is the model that starts when the group is quiescent: the one that has most of its threshold. Nil if none could.
func (g *group) fullest() *subserver {
	var best *subserver
	share := 0.0
	for _, s := range g.members {
		d := s.domain
		d.mu.Lock()
		if w := &s.want; !d.busy && w.waiting > 0 && w.share > share {
			best, share = s, w.share
		}
		d.mu.Unlock()
	}
	return best
}

// signal wakes one loop. Raising it twice before the loop looks is the same as once.
type signal chan struct{}

func newSignal() signal { return make(signal, 1) }

func (s signal) raise() {
	select {
	case s <- struct{}{}:
	default:
	}
}
