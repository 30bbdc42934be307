package sched

// commit appends the tokens of rows, tells the owner, and reports whether the last of them ends the answer.
func (s *subserver) commit(l *local, rows []Row, scores []*Score, done *settled) (over bool) {
	if len(rows) == 0 {
		return false
	}
	start, right := len(l.tokens), len(l.tokens)
	var own settled
	to, most := &own, len(rows)
	if l.self == 0 {
		to, most = done, len(s.step.batch.Rows)
	}
	for i := range rows {
		out := &rows[i].Out
		info := TokenInfo{Model: l.self, LogProb: out.LogProb, Entropy: out.Entropy, Score: scores[i], Handoffs: l.handoffs}
		if len(l.draft) > 0 {
			if info.Drafted = out.Token == l.draft[0].Token; info.Drafted {
				l.draft = l.draft[1:]
				right++
				s.step.record.Accepted++
			} else {
				s.reject(l)
			}
		}
		info.Discarded = l.discarded
		if n := min(l.spec.Top, len(out.TopIDs)); n > 0 {
			info.TopIDs, info.TopLogProbs = append([]int32(nil), out.TopIDs[:n]...), out.TopLogProbs(n)
		}
		l.append(out.Token)
		l.handoffs, l.discarded = 0, nil
		to.add(out.Token, info, most)
		_, over = l.spec.over(out.Token, len(l.tokens))
	}
	s.step.record.Committed += len(rows)
	s.written += uint64(len(rows))
	l.own, l.round = true, s.step.round
	s.keep(l, right)
	tokens, infos := to.last(len(rows))
	if l.self == 0 {
		l.written += len(rows)
		done.tasks = append(done.tasks, task{kind: taskCommit, id: l.id, generation: l.generation,
			commit: commit{start: start, tokens: tokens, infos: infos, cached: l.found}})
		return over
	}
	s.peers.send(Message{Kind: Committed, Request: l.id, Generation: l.generation, To: l.spec.Models[0],
		Start: start, Tokens: tokens, Infos: infos, Cached: l.found, Anchor: len(l.tokens)})
	return over
}

// reject throws away drafts that are not what this model writes.
func (s *subserver) reject(l *local) {
	if len(l.draft) == 0 {
		return
	}
	s.step.record.Rejected += len(l.draft)
	l.discarded = append(l.discarded, l.drop()...)
	s.keep(l, len(l.tokens))
}

// settled gathers what the client-server loop of the same subserver is told after a step, so that it is told once.
type settled struct {
	tasks  []task      // memory of the step: push copies them
	tokens []int32     // the tasks refer to these, so they are of their own for every step
	infos  []TokenInfo // likewise
}

// add takes in a committed token. There will be at most so many.
func (d *settled) add(token int32, info TokenInfo, most int) {
	if d.tokens == nil {
		d.tokens, d.infos = make([]int32, 0, most), make([]TokenInfo, 0, most)
	}
	d.tokens, d.infos = append(d.tokens, token), append(d.infos, info)
}

// last returns the last n tokens.
func (d *settled) last(n int) ([]int32, []TokenInfo) {
	end := len(d.tokens)
	return d.tokens[end-n : end : end], d.infos[end-n : end : end]
}

// flush hands over what was gathered.
func (d *settled) flush(c *clients) {
	c.push(d.tasks...)
	clear(d.tasks)
	d.tasks = d.tasks[:0]
}
