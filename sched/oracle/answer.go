package oracle

import (
	"math"
	"slices"
	"strings"

	"github.com/tokenrouter/tokenrouter/router"
	"github.com/tokenrouter/tokenrouter/sched"
)

// keep commits the token of a row and reports whether the answer is over.
func (l *loop) keep(row router.Row) bool {
	info := sched.TokenInfo{Model: l.active, LogProb: row.LogProb, Entropy: row.Entropy, Score: l.score(row), Handoffs: l.handoffs}
	if len(l.draft) > 0 {
		if info.Drafted = l.draft[0].Token == row.Token; info.Drafted {
			l.draft = l.draft[1:]
			a := &l.answer
			a.Drafted, a.Accepted = a.Drafted+1, a.Accepted+1
		} else {
			l.reject()
		}
	}
	if l.request.Trace {
		info.Discarded = l.discards
	}
	if n := min(l.request.Top, len(row.TopIDs)); n > 0 {
		info.TopIDs, info.TopLogProbs = slices.Clone(row.TopIDs[:n]), row.TopLogProbs(n)
	}
	l.sequence = append(l.sequence, row.Token)
	a := &l.answer
	a.Tokens, a.Infos = append(a.Tokens, row.Token), append(a.Infos, info)
	a.Discarded += len(l.discards)
	for _, d := range l.discards {
		if d.Draft {
			a.Drafted++
		}
	}
	a.Handoffs += l.handoffs
	l.discards, l.handoffs = nil, 0

	ended := !l.request.IgnoreEnd && slices.Contains(l.end, row.Token)
	over := ended || len(l.sequence) == l.most
	stopped := l.render(ended, over)
	switch {
	case stopped || ended:
		a.Finish = sched.FinishStop
	case over:
		a.Finish = sched.FinishLength
	}
	return stopped || over
}

// score is what the algorithm compares at a row, when a trace is asked for. No share is: thresholds are those of the request.
func (l *loop) score(row router.Row) *sched.Score {
	s := l.roles[l.active].Score
	if s == nil || !l.request.Trace || l.forced() {
		return nil
	}
	value := s.Of(l.view(row))
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return nil
	}
	return &sched.Score{Value: value, Threshold: s.At}
}

// reject throws the drafts away that are left.
func (l *loop) reject() {
	l.discards = append(l.discards, l.draft...)
	l.draft = nil
}

// render turns all tokens so far into text, from the first to the last, and reports whether a stop string is in it; the
// text then ends before the first one.
func (l *loop) render(ended, over bool) (stopped bool) {
	t := l.route.Models[0].Text
	if t == nil {
		return false
	}
	tokens := l.answer.Tokens
	if ended {
		tokens = tokens[:len(tokens)-1]
	}
	var b strings.Builder
	d := t.NewDetokenizer(l.request.Special)
	for _, id := range tokens {
		b.WriteString(d.Add(id))
	}
	if over {
		b.WriteString(d.Flush())
	}
	text := b.String()
	at := len(text)
	for _, stop := range l.request.Stop {
		if i := strings.Index(text, stop); i >= 0 {
			at, stopped = min(at, i), true
		}
	}
	l.answer.Text = text[:at]
	return stopped
}
