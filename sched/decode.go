package sched

import (
	"fmt"
	"time"
)

// step is the batch that the decode loop is planning, running or routing. Its memory is used again by the next.
type step struct {
	batch     Batch
	picked    []*local // one per segment
	decisions []decision
	tasks     []task
	record    BatchRecord
}

// decode is the decode loop: schedule, run the step on the device, route the answers, send.
func (s *subserver) decode() {
	defer s.engine.loops.Done()
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	for s.awaitWork(timer) {
		s.device.acquire()
		s.mu.Lock()
		s.plan()
		s.mu.Unlock()
		if len(s.step.picked) == 0 {
			s.device.release()
		} else {
			observe := s.engine.observer.Batch
			if observe != nil {
				s.step.record.Start = time.Now()
			}
			err := s.runner.Step(&s.step.batch)
			if observe != nil {
				s.step.record.End = time.Now()
			}
			s.device.release()
			if observe != nil {
				s.step.record.Err = err
				observe(s.step.record)
			}
			s.settle(err)
		}
		s.engine.activity.done(1)
	}
}

// awaitWork parks the loop until a batch should start, and reports false when the engine has ended. A true answer has
// been counted as activity.
func (s *subserver) awaitWork(timer *time.Timer) bool {
	held := false
	defer func() {
		if held {
			s.engine.activity.held.Add(-1)
		}
	}()
	for {
		s.mu.Lock()
		ready, overdue := s.ready()
		holding := !ready && s.waiting.n > 0 && !s.blocked
		if holding != held {
			held = holding
			if held {
				s.engine.activity.held.Add(1)
			} else {
				s.engine.activity.held.Add(-1)
			}
		}
		if held && s.engine.activity.quiet() {
			ready = true
		}
		if ready {
			s.engine.activity.add(1)
		} else if len(s.requests) == 0 && !s.checked {
			s.checked = true
			s.audit()
		}
		s.mu.Unlock()
		if ready {
			return true
		}
		var expired <-chan time.Time
		if overdue > 0 {
			timer.Reset(overdue)
			expired = timer.C
		}
		select {
		case <-s.wake:
		case <-expired:
		case <-s.engine.quit:
			return false
		}
		timer.Stop()
	}
}

// ready reports whether a batch should start now; if not, overdue is the time after which one must because of the
// maximal wait, or 0 if there is none. Quiescence is the caller's to look at.
func (s *subserver) ready() (ready bool, overdue time.Duration) {
	if s.waiting.n == 0 || s.blocked {
		return false, 0
	}
	// No more can come than are live, and no more fit in a batch.
	threshold := min(s.threshold, max(1, len(s.live)), s.batchLimit())
	if s.waiting.n >= threshold || s.waiting.urgent > 0 {
		return true, 0
	}
	if s.maxWait <= 0 {
		return false, 0
	}
	overdue = s.maxWait - time.Since(s.waiting.head.since)
	return overdue <= 0, overdue
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

// batchLimit is the most requests that fit in a step.
func (s *subserver) batchLimit() int {
	limit := s.engine.options.MaxBatch
	if s.info.MaxRows > 0 {
		limit = min(limit, s.info.MaxRows)
	}
	return limit
}
