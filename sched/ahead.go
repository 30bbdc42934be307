package sched

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// A model that nobody waits for may extend tokens before their request comes to it: the prompt when it is admitted, later what
// the entry has written since. When the request comes, only what is left has to be extended. It is done in small steps without
// rows, between which whoever waits goes first, and in KV pages that nobody needs, which are the first to be given up.
//
// Such a step is no activity of the group: what waits for quiescence does not wait for it. It takes no turn of the domain, and
// nothing is learnt from how long it takes.

// aheadLeast is the least number of tokens that a step ahead of need takes, and that an entry tells a peer of at a time.
const aheadLeast = 16

// allowAhead says which models may extend ahead of need: those that take turns with nobody, and that requests can come to.
func (e *Engine) allowAhead() {
	for _, s := range e.subservers {
		s.ahead = !e.options.NoAhead && e.options.Policy != StepSync && e.options.Policy != ModelSync &&
			len(s.domain.members) == 1 && len(s.group.members) > 1
	}
}

// beginAhead plans a step ahead of need, if one is worth while, and reports whether there is one to run. The caller holds the
// lock, and has no other step to run.
func (s *subserver) beginAhead(now time.Time) bool {
	if s.device.gone() != nil {
		return false
	}
	if !s.ahead || s.counts[Pending] == 0 || s.blocked || s.crowded {
		return false
	}
	if s.waiting.n > 0 && !s.engine.still() {
		return false // its turn may come with what is on its way
	}
	list, tokens := s.lagging()
	if tokens == 0 {
		return false
	}
	chunk := s.aheadChunk()
	if chunk == 0 || tokens < chunk {
		return false
	}
	s.planAhead(list, chunk)
	if len(s.step.picked) == 0 {
		return false
	}
	s.step.isAhead, s.step.ahead.Start = true, now
	s.checked = false
	return true
}

// lag is how many tokens of a request may be extended ahead of need. The last one is left: the row of whoever comes is its.
func (l *local) lag() int {
	if l.state != Pending || l.unfit {
		return 0
	}
	return max(0, len(l.tokens)-1-l.cache.Length())
}

// lagging lists the requests with tokens to extend ahead, the oldest first, and counts the tokens.
func (s *subserver) lagging() (list []*local, tokens int) {
	list = s.step.lagging[:0]
	for _, l := range s.requests {
		if n := l.lag(); n > 0 {
			list = append(list, l)
			tokens += n
		}
	}
	slices.SortFunc(list, func(a, b *local) int { return cmp.Compare(a.generation, b.generation) })
	s.step.lagging = list
	return list, tokens
}

// aheadChunk is the number of tokens of a step ahead of need; 0: it does not pay. Whoever comes meanwhile waits for the step,
// so it is as small as it may be to save later at least the time that it takes beside its tokens.
func (s *subserver) aheadChunk() int {
	most := min(s.engine.options.PrefillChunk, s.tokenLimit())
	least := min(aheadLeast, most)
	latency, known := s.observed.latency()
	if !known {
		return least
	}
	even := math.Ceil((latency.Base + latency.PerRequest) / latency.PerRow) // +Inf where tokens cost nothing
	if !(even <= float64(most)) {
		return 0
	}
	return max(least, int(even))
}

// planAhead forms a step of at most `budget` tokens out of these requests, in pages that are spare.
func (s *subserver) planAhead(list []*local, budget int) {
	st := &s.step
	st.reset()
	st.ahead = AheadRecord{Model: s.name, Requests: st.ahead.Requests[:0], Lengths: st.ahead.Lengths[:0]}
	spare, limit := s.spare(), s.batchLimit()
	for _, l := range list {
		if budget == 0 || len(st.picked) == limit {
			return
		}
		reach := l.cache.Length() + min(l.lag(), budget)
		if l.cache.Length() == 0 {
			// All or nothing, as in makeRoom; what is found in the cache is taken from the free pages, too.
			if s.pool.Lacking(l.cache, len(l.tokens)) > spare {
				continue
			}
			free := s.pool.FreePages()
			s.recall(l)
			spare -= free - s.pool.FreePages()
			reach = min(len(l.tokens)-1, l.cache.Length()+budget)
		}
		take, lacking := reach-l.cache.Length(), s.pool.Lacking(l.cache, reach)
		if take <= 0 || lacking > spare {
			continue
		}
		if err := s.pool.Reserve(l.cache, reach); err != nil {
			s.engine.fault(s.name, err)
			continue
		}
		spare -= lacking
		budget -= take
		l.take, l.device, l.read = take, true, true
		from := l.cache.Length()
		st.batch.Segments = append(st.batch.Segments, Segment{Tokens: l.tokens[from:reach:reach], Position: from, Pages: l.cache.Pages()})
		st.picked = append(st.picked, l)
		st.ahead.Tokens += take
		if s.engine.observer.Ahead != nil {
			st.ahead.Requests, st.ahead.Lengths = append(st.ahead.Requests, l.id), append(st.ahead.Lengths, take)
		}
	}
}

// finishAhead ends a step ahead of need. Its requests may have come, or have ended, meanwhile. A failure costs them nothing
// but the attempt: if the model cannot go on, a step that is needed will say so.
func (s *subserver) finishAhead(err error) {
	st := &s.step
	st.isAhead = false
	st.ahead.End, st.ahead.Err = s.engine.now(), err
	s.mu.Lock()
	for _, l := range st.picked {
		l.device = false
		switch {
		case l.state == Finished:
			s.free(l)
		case err != nil:
			l.unfit = true
			if _, err := s.pool.Truncate(l.cache, l.cache.Length()); err != nil { // what was reserved
				s.engine.fault(s.name, err)
			}
		default:
			if err := s.pool.Advance(l.cache, l.take); err != nil {
				s.engine.fault(s.name, err)
			}
			l.early += l.take
			if !s.engine.options.NoPrefixCache {
				s.pool.Publish(l.cache, l.tokens)
			}
		}
	}
	s.publish()
	s.mu.Unlock()
	if f := s.engine.observer.Ahead; f != nil {
		f(st.ahead)
	}
}
