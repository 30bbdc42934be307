package sched

import "time"

// publish tells the domain what this model wants, after anything that may have changed it. The caller holds s.mu; it wakes
// nobody.
func (s *subserver) publish() {
	w := want{all: s.waiting.n}
	d := s.domain
	d.mu.Lock()
	defer d.mu.Unlock()
	synchronous := s.engine.options.Policy == StepSync
	// In another round others are asked for, for whom there may be room.
	blocked := s.blocked && (!synchronous || s.step.round == d.round)
	if s.waiting.n > 0 && !blocked {
		w.waiting = s.waiting.n
		w.young = s.waiting.urgent > 0
		visitors := s.waiting.n
		if s.rank == 0 {
			visitors = 0 // the entry waits for nobody but by its own threshold
		} else {
			visitors -= s.waiting.alone
		}
		bound := s.bound()
		w.plain = s.waiting.alone > 0 || s.rank == 0 && s.waiting.n >= bound
		w.met = visitors > 0 && visitors >= bound
		w.share = float64(s.waiting.n) / float64(bound)
		if bound > 1 {
			w.deadline = s.deadline()
		}
	}
	if synchronous && w.waiting > 0 {
		w.behind = s.waiting.behind(d.round)
	}
	w.turn = s.want.turn
	s.want = w
}

// bound is the threshold as it holds now: no more than can come, than fit in a step, and than fit in the cache.
func (s *subserver) bound() int {
	b := s.ruled(s.visitors)
	if b <= 1 || s.device.gone() != nil {
		return 1
	}
	b = min(b, s.visitors, s.batchLimit())
	if pages := s.waiting.pages; pages > s.pool.Pages() {
		b = min(b, s.waiting.n*s.pool.Pages()/pages)
	}
	return max(1, b)
}

// ruled is the threshold for this many live requests, before it is clipped.
func (s *subserver) ruled(live int) int {
	if s.threshold != AutoThreshold {
		return s.threshold
	}
	if r := s.rule(live); r.threshold > 0 {
		return r.threshold
	}
	return 1
}

// rule is what the planner said for this many live requests. If it has not yet, it is asked, and what it said for the next
// smaller number holds, or else nothing.
func (s *subserver) rule(live int) rule {
	live = min(live, len(s.rules)-1)
	if r := s.rules[live]; r.threshold > 0 {
		return r
	}
	if p := s.group.planner; p != nil && p.ready.Load() {
		p.wake.raise()
	}
	for n := live - 1; n > 0; n-- {
		if s.rules[n].threshold > 0 {
			return s.rules[n]
		}
	}
	return rule{}
}

// deadline is when the request at the head of the queue will have waited as long as it may.
func (s *subserver) deadline() time.Time {
	wait := s.waitLimit()
	if wait <= 0 {
		return time.Time{}
	}
	return s.waiting.head.since.Add(wait)
}

// waitLimit is how long a request waits for the threshold at most; 0: without limit.
func (s *subserver) waitLimit() time.Duration {
	if s.maxWait == AutoWait {
		return s.rule(s.visitors).wait
	}
	return s.maxWait
}

// tokenLimit is the most tokens that fit in a step.
func (s *subserver) tokenLimit() int {
	limit := s.engine.options.MaxBatchTokens
	if s.info.MaxTokens > 0 {
		limit = min(limit, s.info.MaxTokens)
	}
	return limit
}

// rowLimit is the most rows that fit in a step. Each is at a token.
func (s *subserver) rowLimit() int {
	limit := s.tokenLimit()
	if s.info.MaxRows > 0 {
		limit = min(limit, s.info.MaxRows)
	}
	return limit
}

// batchLimit is the most requests that fit in a step.
func (s *subserver) batchLimit() int {
	limit := s.engine.options.MaxBatch
	if s.info.MaxRows > 0 {
		limit = min(limit, s.info.MaxRows)
	}
	return limit
}
