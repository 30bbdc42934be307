package sched

import (
	"fmt"

	"github.com/tokenrouter/tokenrouter/router"
)

// settle routes the rows of the step that has just run and moves its requests on: back to waiting, away to a peer, or to
// their end. After a runner's error nothing was appended, and the requests of the step end with it; no other is touched.
func (s *subserver) settle(failure error) {
	st := &s.step
	st.decisions, st.scores = st.decisions[:0], append(st.scores[:0], make([]*Score, len(st.batch.Rows))...)
	if failure == nil {
		// Without the lock: a Route function may be anybody's. Nobody else touches a running request.
		for _, l := range st.picked {
			st.decisions = append(st.decisions, decide(l, st.batch.Rows[l.row:l.row+l.rows], st.scores[l.row:l.row+l.rows]))
		}
	}
	done := settled{tasks: st.tasks[:0]}
	s.mu.Lock()
	if r := &st.record; failure == nil && r.Prefill+r.Rebuild == 0 {
		s.observed.overlapped(r.Segments, r.Decode+r.Resume, r.End.Sub(r.Start), st.overlap)
	}
	decided := s.observed.seen
	for i, l := range st.picked {
		l.device = false
		switch {
		case l.state == Finished: // cancelled during the step
			s.free(l)
		case failure != nil:
			s.fail(l, fmt.Errorf("step of %d requests failed: %w", len(st.picked), failure))
		default:
			s.proceed(l, st.decisions[i], &done)
		}
	}
	s.observed.age(int(s.observed.seen-decided), s.index)
	s.blocked = false
	s.publish()
	s.mu.Unlock()
	done.flush(s.clients)
	st.tasks = done.tasks
}

// proceed moves on a request whose tokens were appended.
func (s *subserver) proceed(l *local, d decision, done *settled) {
	if err := s.pool.Advance(l.cache, l.take); err != nil {
		s.engine.fault(s.name, err)
	}
	if l.rows == 0 { // a chunk, not the last: go on without waiting for a threshold again
		s.offer(l)
		l.urgent = true
		s.move(l, Waiting)
		return
	}
	rows, scores := s.step.batch.Rows[l.row:l.row+l.rows], s.step.scores[l.row:l.row+l.rows]
	l.urgent = false
	if l.role.Draft {
		s.offer(l)
		s.count(l, d, 0)
		if d.err != nil {
			s.fail(l, d.err)
			return
		}
		s.drafted(l, d, &rows[0].Out, scores[0])
		return
	}
	kept := d.rows
	if d.err == nil && d.to != router.Stay && !l.role.Keep {
		kept--
	}
	s.count(l, d, kept)
	over := s.commit(l, rows[:kept], scores, done)
	s.offer(l)
	switch {
	case d.err != nil:
		done.flush(s.clients) // what was committed comes before the failure
		s.fail(l, d.err)
	case over:
		s.end(l)
	case d.to == router.Stay:
		l.urgent = len(l.draft) > 0 // the rest of a chunk, as above
		s.move(l, Waiting)
		s.tell(l)
	default:
		s.reject(l)
		if kept < d.rows {
			// The token was never appended, so its keys and values were never computed: there is nothing to roll back.
			out := &rows[kept].Out
			l.discarded = append(l.discarded, Discard{Model: l.self, Token: out.Token, LogProb: out.LogProb, Entropy: out.Entropy, Score: scores[kept]})
			l.own = false
		}
		s.handoff(l, router.ModelOf(l.self, d.to))
	}
}

// offer lets other requests have what the cache holds of the committed tokens.
func (s *subserver) offer(l *local) {
	if !s.engine.options.NoPrefixCache {
		s.pool.Publish(l.cache, l.tokens)
	}
}

// count adds a decision to what the planner goes by.
func (s *subserver) count(l *local, d decision, tokens int) {
	if len(l.spec.Models) == 1 || d.err != nil {
		return
	}
	to := s.index
	if d.to != router.Stay {
		to = s.engine.byName[l.spec.Models[router.ModelOf(l.self, d.to)]].index
	}
	s.observed.routed(to, tokens)
}
