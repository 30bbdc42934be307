package sched

import (
	"fmt"
	"time"
)

// step is the batch that the decode loop is planning, running or routing. Its memory is used again by the next.
type step struct {
	batch     Batch
	picked    []*local   // one per segment
	decisions []decision // [picked]
	scores    []*Score   // [rows] what the algorithm compared
	tasks     []task
	record    BatchRecord
	round     uint64 // of the domain
	isAhead   bool   // a step ahead of need: rows, decisions and record mean nothing
	ahead     AheadRecord
	lagging   []*local
	now       time.Time
	overlap   time.Duration // of the device until the step began; from its end on: during the step
}

// decode is the decode loop: schedule, run the step on the device, route the answers, send.
func (s *subserver) decode() {
	defer s.engine.loops.Done()
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	for {
		started, deadline := s.begin()
		if started {
			s.constrain()
			s.finish(s.runStep())
			continue
		}
		var expired <-chan time.Time
		if !deadline.IsZero() {
			timer.Reset(max(1, time.Until(deadline)))
			expired = timer.C
		}
		select {
		case <-s.wake:
		case <-expired:
		case <-s.engine.quit:
			timer.Stop()
			return
		}
		timer.Stop()
	}
}

// begin plans a step if it is this model's turn, and reports whether there is one to run. If not, deadline is when to ask
// again because a request will have waited as long as it may; zero: when woken.
func (s *subserver) begin() (started bool, deadline time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.engine.now()
	s.publish()
	if !s.domain.ask(s, now) {
		if s.beginAhead(now) {
			s.step.overlap = s.device.begun(now)
			return true, time.Time{}
		}
		if len(s.requests) == 0 && !s.checked {
			s.checked = true
			s.audit()
		}
		if s.waiting.n == 0 || s.blocked || s.bound() == 1 {
			return false, time.Time{}
		}
		if deadline = s.deadline(); !now.Before(deadline) {
			deadline = time.Time{} // its turn comes when the domain is free
		}
		return false, deadline
	}
	s.step.now = now
	s.plan()
	s.publish()
	if len(s.step.picked) == 0 { // nothing changes until somebody gives pages back
		s.domain.leave()
		s.engine.nudge()
		s.group.done(1)
		return false, time.Time{}
	}
	s.step.record.Start = now
	s.step.overlap = s.device.begun(now)
	return true, time.Time{}
}

// finish ends the step that begin has started: err is what the runner said.
func (s *subserver) finish(err error) {
	s.step.overlap = s.device.ended(s.engine.now()) - s.step.overlap
	if s.step.isAhead {
		s.finishAhead(err)
		return
	}
	e := s.engine
	s.step.record.End, s.step.record.Err = e.now(), err
	e.transit.Add(1) // what is being routed is on its way
	s.settle(err)
	if e.observer.Batch != nil {
		e.observer.Batch(s.step.record)
	}
	s.domain.leave()
	e.arrived(1)
	s.group.done(1)
}

// audit looks for faults in the books. It is run when there is no request, so it costs nobody anything.
func (s *subserver) audit() {
	if err := s.pool.Check(); err != nil {
		s.engine.fault(s.name, err)
	}
	if free, pages := s.pool.FreePages(), s.pool.Pages(); free != pages {
		s.engine.fault(s.name, fmt.Errorf("%d of %d KV pages are in use without a request", pages-free, pages))
	}
}
