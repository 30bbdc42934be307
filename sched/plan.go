package sched

// plan forms the next batch: waiting requests in the order in which they came to wait, each with its next tokens. Every
// request in the batch gets at least one token of the step's budget, so decode goes on beside prefill; what is left of
// the budget goes to chunks, first come first served. So it is with rows: one each, what is left goes to drafts. Requests whose pages
// cannot be had stay waiting.
//
// The caller holds the lock. The batch may be empty: then nothing changes until somebody gives pages back.
func (s *subserver) plan() {
	st := &s.step
	st.reset()
	st.record = BatchRecord{Model: s.name, Pending: s.counts[Pending], Requests: st.record.Requests[:0], Lengths: st.record.Lengths[:0], Waits: st.record.Waits[:0]}
	if s.engine.observer.Batch != nil && s.waiting.n > 0 {
		st.record.Threshold = s.bound()
	}

	limit, budget, rows := s.batchLimit(), s.tokenLimit(), s.rowLimit()
	st.round = s.domain.current()
	together := s.engine.options.Policy == StepSync
	left := s.waiting.n // requests not looked at yet
	for l := s.waiting.head; l != nil && len(st.picked) < limit && budget > 0; {
		next := l.next
		left--
		if together && l.round >= st.round {
			l = next // has written this position
			continue
		}
		others := min(limit-len(st.picked)-1, left) // they get a token and a row each
		empty := l.cache.Length() == 0
		if empty {
			s.recall(l)
		}
		full := min(l.need(), s.engine.options.PrefillChunk)
		l.take = min(full, max(1, budget-others), l.reach(max(1, rows-others)))
		// A single token of a chunk is not worth its overhead, unless it has a row, or nobody else goes.
		worthwhile := l.take == full || l.take > 1 || len(st.picked) == 0 || l.outputs(l.cache.Length()+1) > 0
		if worthwhile && s.makeRoom(l, empty) {
			budget -= l.take
			s.pick(l)
			rows -= l.rows
		}
		l = next
	}
	s.blocked = len(st.picked) == 0
	s.checked = false
	st.record.Waiting = s.waiting.n
	if len(st.picked) > 0 {
		s.steps++
		s.batch = len(st.picked)
		s.served += uint64(s.batch)
	}
}

// reset empties a step.
func (st *step) reset() {
	st.batch.Segments, st.batch.Rows = st.batch.Segments[:0], st.batch.Rows[:0]
	clear(st.picked)
	st.picked = st.picked[:0]
}

// pick puts a request into the batch, with a row if the batch brings it to the end of its tokens, and one at each draft of a peer.
func (s *subserver) pick(l *local) {
	st := &s.step
	from := l.cache.Length()
	to := from + l.take
	s.move(l, Running)
	l.row, l.rows, l.device = len(st.batch.Rows), l.outputs(to), true
	st.batch.Segments = append(st.batch.Segments, Segment{
		Tokens: l.sequence()[from:to], Position: from, Pages: l.cache.Pages(),
	})
	for at := to - l.rows; at < to; at++ {
		needs := l.role.Needs
		needs.Top = max(needs.Top, l.spec.Top)
		if l.head != nil {
			needs.Top = max(needs.Top, l.head.Top())
		}
		st.batch.Rows = append(st.batch.Rows, Row{
			Segment: len(st.picked), Offset: at - from,
			Needs: needs, Vocab: l.spec.Vocab, Stream: l.stream(),
			Sampling: &l.spec.Sampling, Head: l.head, History: l.seen(at + 1 - len(l.tokens)),
		})
	}
	st.picked = append(st.picked, l)
	st.record.Recalled += l.recalled
	st.record.Ahead += l.early
	l.recalled, l.early = 0, 0
	st.record.add(l, from, to)
	if s.engine.observer.Batch != nil {
		st.record.Requests, st.record.Lengths = append(st.record.Requests, l.id), append(st.record.Lengths, l.take)
		st.record.Waits = append(st.record.Waits, Wait{First: l.first(), Time: s.step.now.Sub(l.since)})
	}
	l.stepped, l.read = true, true
}

// add accounts for one segment.
func (r *BatchRecord) add(l *local, from, to int) {
	r.Segments++
	r.Rows += l.rows
	rebuilt := max(0, min(to, l.rebuild)-from)
	from += rebuilt
	prompt := max(0, min(to, l.spec.Prompt)-from)
	from += prompt
	r.Rebuild += rebuilt
	r.Prefill += prompt
	if l.own && to == len(l.sequence()) && from < to {
		r.Decode++
		to--
	}
	r.Resume += to - from
}
