package sched

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Timed is a runner that knows how long its steps take. Its Step returns at once.
type Timed interface {
	Runner
	// Latency is the time that a step on the batch takes. Called before Step.
	Latency(*Batch) time.Duration
}

// Virtual is an engine on a clock of its own: the scheduler as it is, but its loops take turns in one goroutine, and time
// passes only when none of them has anything to do. The same requests give the same run. Not safe for concurrent use.
type Virtual struct {
	engine *Engine
	start  time.Time
	now    time.Time
	plan   time.Time // when the planners look next
	steps  map[*subserver]ending
}

// ending is when a step ends, and how.
type ending struct {
	at  time.Time
	err error
}

// NewVirtual makes such an engine. The runners must be Timed.
func NewVirtual(o Options) (*Virtual, error) {
	for _, m := range o.Models {
		if _, ok := m.Runner.(Timed); !ok {
			return nil, fmt.Errorf("model %q: its runner does not know how long a step takes, which a virtual clock needs", m.Name)
		}
	}
	epoch := time.Unix(0, 0).UTC()
	v := &Virtual{start: epoch, now: epoch, steps: make(map[*subserver]ending)}
	e, err := newEngine(o, func() time.Time { return v.now })
	if err != nil {
		return nil, err
	}
	v.engine = e
	if err := e.profile(); err != nil {
		return nil, err
	}
	return v, nil
}

// Now is the time since the start.
func (v *Virtual) Now() time.Duration { return v.now.Sub(v.start) }

// Submit is as Engine.Submit, at the present moment.
func (v *Virtual) Submit(r Request) (*Stream, error) { return v.engine.Submit(context.Background(), r) }

// Unfinished is the number of requests that have not ended.
func (v *Virtual) Unfinished() int { return len(v.engine.ids) }

// Threshold is the number of requests that a model waits for now.
func (v *Virtual) Threshold(model string) int {
	s := v.engine.byName[model]
	if s == nil {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bound()
}

// Snapshot is as Engine.Snapshot.
func (v *Virtual) Snapshot() Snapshot { return v.engine.Snapshot() }

// Settle does all that can be done now. Requests may end by it, and others may be sent before time goes on.
func (v *Virtual) Settle() { v.settle() }

// Advance does all that can be done now, then moves the clock to the next moment at which something happens, or to `until` if
// that is earlier, and reports whether anything can still happen.
func (v *Virtual) Advance(until time.Duration) bool {
	if !v.now.Before(v.plan) {
		for _, g := range v.engine.groups {
			if g.planner != nil {
				g.planner.turn()
			}
		}
		v.plan = v.now.Add(planEvery)
	}
	wake := v.settle()
	next := v.start.Add(until)
	more := false
	for _, at := range v.due(wake) {
		more = true
		if at.Before(next) {
			next = at
		}
	}
	v.now = next
	for _, s := range v.engine.subservers { // all that ends now ends before anything starts
		if e, ok := v.steps[s]; ok && !e.at.After(next) {
			delete(v.steps, s)
			s.finish(e.err)
		}
	}
	return more
}

// due lists the moments at which something will happen.
func (v *Virtual) due(wake []time.Time) []time.Time {
	for _, e := range v.steps {
		wake = append(wake, e.at)
	}
	return wake
}

// settle lets every loop do what it can at this moment, and returns when they want to be woken.
func (v *Virtual) settle() (wake []time.Time) {
	for busy := true; busy; {
		busy = false
		for _, s := range v.engine.subservers {
			for s.clients.turn() || s.peers.turn() {
				busy = true
			}
		}
		if busy {
			continue
		}
		wake = wake[:0]
		for _, s := range v.engine.subservers {
			if _, running := v.steps[s]; running {
				continue
			}
			started, deadline := s.begin()
			if started {
				busy = true
				s.constrain()
				b := &s.step.batch
				took := s.runner.(Timed).Latency(b)
				v.steps[s] = ending{v.now.Add(max(took, 1)), s.runStep()}
			} else if !deadline.IsZero() {
				wake = append(wake, deadline)
			}
		}
	}
	return wake
}

// Close cancels what is unfinished, and ends the engine as Engine.Close does.
func (v *Virtual) Close() error {
	e := v.engine
	e.mu.Lock()
	e.shut = true
	for _, stream := range e.ids {
		stream.cancel()
	}
	e.mu.Unlock()
	const long = 1000 * time.Hour
	for v.Advance(v.Now() + long) {
	}
	if snap := e.Snapshot(); snap.Queue+snap.Live > 0 {
		return fmt.Errorf("%d requests are left that nothing will end", snap.Queue+snap.Live)
	}
	var errs []error
	for _, s := range e.subservers {
		errs = append(errs, s.runner.Close())
		s.audit()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return errors.Join(append(errs, e.broken)...)
}
