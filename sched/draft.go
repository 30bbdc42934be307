package sched

import (
	"fmt"
	"slices"

	"github.com/tokenrouter/tokenrouter/router"
)

// Drafts are tokens that may follow those that are committed. A role that drafts (router.Role.Draft) samples them one by one, and
// hands them on with the request. The peer extends its sequence by all of them at once, in one step or in chunks, with a row at
// each; its rows are then taken in order, each as if it had come from a step of its own, for as long as what is committed is what
// was drafted. Nothing is lost by a draft that proves wrong but the work: its keys and values are forgotten, and the row after it is
// not looked at.

// sequence is the committed tokens, and behind them the drafts: what a step extends the cache by.
func (l *local) sequence() []int32 { return l.tokens[:len(l.tokens)+len(l.draft)] }

// propose puts a draft behind the sequence.
func (l *local) propose(d Discard) {
	l.tokens = append(l.sequence(), d.Token)[:len(l.tokens)]
	l.draft = append(l.draft, d)
}

// drop gives up all drafts. The cache may still have some: see keep.
func (l *local) drop() (dropped []Discard) {
	dropped, l.draft = l.draft, nil
	return dropped
}

// outputs is the number of output positions of an extend up to `to`. Every draft of a peer is one, and the token before the
// first of them; of drafts of one's own only the last, since the others have had theirs.
func (l *local) outputs(to int) int {
	if l.role.Draft {
		if to == len(l.sequence()) {
			return 1
		}
		return 0
	}
	return max(0, to-max(l.cache.Length(), len(l.tokens)-1))
}

// reach is the most tokens that an extend can take with at most so many rows, at least 1.
func (l *local) reach(rows int) int {
	if l.role.Draft {
		return l.need()
	}
	return min(l.need(), len(l.tokens)-1-l.cache.Length()+rows)
}

// seen is the history for the output after `drafts` of the drafts; nil without penalties.
func (l *local) seen(drafts int) *History {
	if l.history == nil || drafts == 0 {
		return l.history
	}
	h := &History{}
	h.Add(l.sequence()[:len(l.tokens)+drafts]...)
	return h
}

// keep forgets what the cache has beyond the first n tokens.
func (s *subserver) keep(l *local, n int) {
	if l.cache.Length() <= n {
		return
	}
	if _, err := s.pool.Truncate(l.cache, n); err != nil {
		s.engine.fault(s.name, err)
	}
}

// drafted moves on a request whose role drafts, by what was decided about its row.
func (s *subserver) drafted(l *local, d decision, out *router.Row, score *Score) {
	l.own = true
	l.propose(Discard{Model: l.self, Token: out.Token, LogProb: out.LogProb, Entropy: out.Entropy, Score: score, Draft: true})
	s.step.record.Drafted++
	if d.to == router.Stay {
		s.move(l, Waiting)
		return
	}
	s.handoff(l, router.ModelOf(l.self, d.to))
}

// adopt takes the drafts that came with a handoff.
func (l *local) adopt(drafts []Discard) {
	if l.role.Draft { // it drafts itself
		l.discarded = slices.Concat(l.discarded, drafts)
		return
	}
	for _, d := range drafts {
		l.propose(d)
	}
}

// learn appends tokens that others have committed. Of what was drafted here the cache keeps what proved right.
func (s *subserver) learn(l *local, fresh []int32) {
	right := 0
	for _, d := range l.drop() {
		if right == len(fresh) || fresh[right] != d.Token {
			break
		}
		right++
	}
	s.keep(l, len(l.tokens)+right)
	l.append(fresh...)
}

// checkDraft says what is wrong with the drafts of a handoff, after which the sequence has `length` tokens.
func (s *Spec) checkDraft(m *Message, length int) error {
	for _, d := range m.Draft {
		if d.Token < 0 || int(d.Token) >= s.Vocab {
			return fmt.Errorf("draft %d from %q is outside the %d ids of the route", d.Token, m.From, s.Vocab)
		}
	}
	if n := length + len(m.Draft); len(m.Draft) > 0 && n > s.MaxLength {
		return fmt.Errorf("drafts from %q make the sequence %d tokens long, its end is at %d", m.From, n, s.MaxLength)
	}
	return nil
}
