package sched

import (
	"errors"
	"fmt"
	"math"

	"github.com/tokenrouter/tokenrouter/router"
)

// decision is what becomes of one row.
type decision struct {
	to    router.Destination
	score *Score
	err   error
}

// settle routes the rows of the step that has just run and moves its requests on: back to waiting, away to a peer, or to
// their end. After a runner's error nothing was appended, and the requests of the step end with it; no other is touched.
func (s *subserver) settle(failure error) {
	st := &s.step
	st.decisions = st.decisions[:0]
	if failure == nil {
		// Without the lock: a Route function may be anybody's. Nobody else touches a running request.
		for i := range st.batch.Rows {
			row := &st.batch.Rows[i]
			st.decisions = append(st.decisions, decide(st.picked[row.Segment], row))
		}
	}
	done := settled{tasks: st.tasks[:0]}
	s.mu.Lock()
	if r := &st.record; failure == nil && r.Prefill+r.Rebuild == 0 {
		s.observed.step(r.Segments, r.Decode+r.Resume, r.End.Sub(r.Start))
	}
	decided := s.observed.seen
	for _, l := range st.picked {
		l.device = false
		switch {
		case l.state == Finished: // cancelled during the step
			s.free(l)
		case failure != nil:
			s.fail(l, fmt.Errorf("step of %d requests failed: %w", len(st.picked), failure))
		default:
			s.proceed(l, &done)
		}
	}
	s.observed.age(int(s.observed.seen-decided), s.index)
	s.blocked = false
	s.publish()
	s.mu.Unlock()
	s.clients.push(done.tasks...)
	clear(done.tasks)
	st.tasks = done.tasks
}

// decide asks the algorithm where a request goes. A function that panics, or answers nonsense, costs its own request.
func decide(l *local, row *Row) (d decision) {
	defer func() {
		if p := recover(); p != nil {
			d.err = fmt.Errorf("route of algorithm %q panicked: %v", l.spec.Algorithm, p)
		}
	}()
	if t := row.Out.Token; t < 0 || int(t) >= l.spec.Vocab {
		if lse := float64(row.Out.LogSumExp); math.IsNaN(lse) {
			return decision{err: errors.New("the logits are not finite numbers: on this sequence the model's activations left the range of float32")}
		}
		return decision{err: fmt.Errorf("no token could be drawn: got %d, want 0 to %d; is every token masked or biased away?", t, l.spec.Vocab-1)}
	}
	view := l.view()
	view.Row = row.Out
	if n := l.role.Needs.Top; len(view.Row.TopIDs) > n { // the caller's logprobs may have asked for more
		view.Row.TopIDs, view.Row.TopLogits = view.Row.TopIDs[:n], view.Row.TopLogits[:n]
	}
	if l.sharing != nil {
		l.threshold = l.sharing.threshold(view, l.written)
		view.Threshold = l.threshold
	}
	if l.spec.Trace {
		d.score = scoreOf(l.role.Score, view)
	}
	d.to = l.role.Route(view)
	if d.to < 0 || int(d.to) >= len(l.spec.Models) {
		return decision{err: fmt.Errorf("algorithm %q sent the request to peer %d: model %d of the route has peers 1 to %d",
			l.spec.Algorithm, d.to, l.self, len(l.spec.Models)-1)}
	}
	return d
}

// scoreOf is what the algorithm compares at this row; nil: nothing.
func scoreOf(s *router.Score, v router.View) *Score {
	if s == nil {
		return nil
	}
	out := &Score{Value: s.Of(v), Threshold: s.At}
	if v.Threshold != nil {
		out.Threshold = *v.Threshold
	}
	if sum := out.Value + out.Threshold; sum-sum != 0 { // not finite
		return nil
	}
	return out
}

// proceed moves on a request whose tokens were appended.
func (s *subserver) proceed(l *local, done *settled) {
	if err := s.pool.Advance(l.cache, l.take); err != nil {
		s.engine.fault(s.name, err)
	}
	if !s.engine.options.NoPrefixCache {
		s.pool.Publish(l.cache, l.tokens)
	}
	if l.row < 0 { // a chunk, not the last: go on without waiting for a threshold again
		l.urgent = true
		s.move(l, Waiting)
		return
	}
	l.urgent = false
	d, out := &s.step.decisions[l.row], &s.step.batch.Rows[l.row].Out
	if d.err != nil {
		s.fail(l, d.err)
		return
	}
	kept := d.to == router.Stay || l.role.Keep
	if len(l.spec.Models) > 1 {
		to := s.index
		if d.to != router.Stay {
			to = s.engine.byName[l.spec.Models[router.ModelOf(l.self, d.to)]].index
		}
		s.observed.routed(to, kept)
	}
	if kept {
		if over := s.commit(l, out, d.score, done); over {
			s.end(l)
			return
		}
	} else {
		// The token was never appended, so its keys and values were never computed: there is nothing to roll back.
		l.discarded = append(l.discarded, Discard{Model: l.self, Token: out.Token, LogProb: out.LogProb, Entropy: out.Entropy, Score: d.score})
		l.own = false
	}
	if d.to == router.Stay {
		s.move(l, Waiting)
		s.tell(l)
		return
	}
	s.handoff(l, router.ModelOf(l.self, d.to))
}

// commit appends the sampled token, tells the owner, and reports whether it was the last.
func (s *subserver) commit(l *local, out *router.Row, score *Score, done *settled) (over bool) {
	info := TokenInfo{
		Model: l.self, LogProb: out.LogProb, Entropy: out.Entropy, Score: score,
		Handoffs: l.handoffs, Discarded: l.discarded,
	}
	if n := min(l.spec.Top, len(out.TopIDs)); n > 0 {
		info.TopIDs = append([]int32(nil), out.TopIDs[:n]...)
		info.TopLogProbs = make([]float32, n)
		for i, logit := range out.TopLogits[:n] {
			info.TopLogProbs[i] = logit - out.LogSumExp
		}
	}
	start := len(l.tokens)
	l.append(out.Token)
	s.step.record.Committed++
	s.written++
	l.own, l.handoffs, l.discarded = true, 0, nil
	l.round = s.step.round
	if l.self == 0 {
		l.written++
		done.add(l, start, out.Token, info, len(s.step.batch.Rows))
	} else {
		s.peers.send(Message{Kind: Committed, Request: l.id, Generation: l.generation, To: l.spec.Models[0],
			Start: start, Tokens: []int32{out.Token}, Infos: []TokenInfo{info}, Anchor: len(l.tokens)})
	}
	_, over = l.spec.over(out.Token, len(l.tokens))
	return over
}

// settled gathers what the client-server loop of the same subserver is told after a step, so that it is told once.
type settled struct {
	tasks  []task      // memory of the step: push copies them
	tokens []int32     // the tasks refer to these, so they are of their own for every step
	infos  []TokenInfo // likewise
}

func (d *settled) add(l *local, start int, token int32, info TokenInfo, rows int) {
	if d.tokens == nil {
		d.tokens, d.infos = make([]int32, 0, rows), make([]TokenInfo, 0, rows)
	}
	d.tokens, d.infos = append(d.tokens, token), append(d.infos, info)
	n := len(d.tokens)
	d.tasks = append(d.tasks, task{kind: taskCommit, id: l.id, generation: l.generation,
		commit: commit{start: start, tokens: d.tokens[n-1 : n : n], infos: d.infos[n-1 : n : n]}})
}
