package sched

import "sync/atomic"

// activity counts what is under way anywhere in an engine: steps from the decision to launch until their answers are
// routed, messages, and pieces of work for a client-server loop. At zero the engine is quiescent: nothing will happen by
// itself, so batches that are held back for their threshold must start.
//
// Whoever makes work counts it before it counts itself off, so the count never touches zero in between.
type activity struct {
	n    atomic.Int64
	held atomic.Int32 // loops that want to know about zero
	wake func()       // tells them
}

func (a *activity) add(n int) { a.n.Add(int64(n)) }

func (a *activity) done(n int) {
	// A loop raises held before it looks at n, this lowers n before it looks at held: one of the two sees the other.
	if a.n.Add(int64(-n)) == 0 && a.held.Load() > 0 {
		a.wake()
	}
}

func (a *activity) quiet() bool { return a.n.Load() == 0 }

// signal wakes one loop. Raising it twice before the loop looks is the same as once.
type signal chan struct{}

func newSignal() signal { return make(signal, 1) }

func (s signal) raise() {
	select {
	case s <- struct{}{}:
	default:
	}
}
