package sched

import (
	"errors"
	"fmt"
	"math"

	"github.com/tokenrouter/tokenrouter/router"
)

// decision is what becomes of a request after a step: its rows are taken in order, up to the one that sends it elsewhere, or that
// makes those after it void.
type decision struct {
	rows int // rows that were taken; with an error, those before it
	to   router.Destination
	err  error
}

// decide asks the algorithm where a request goes, row by row, and notes what it compared. A function that panics, or answers
// nonsense, costs its own request.
func decide(l *local, rows []Row, scores []*Score) (d decision) {
	defer func() {
		if p := recover(); p != nil {
			d.err = fmt.Errorf("route of algorithm %q panicked: %v", l.spec.Algorithm, p)
		}
	}()
	for i := range rows {
		to, ends, err := l.route(&rows[i], i, &scores[i])
		if err != nil {
			d.err = err
			return d
		}
		d.to = to
		d.rows++
		if to != router.Stay || ends || i == len(l.draft) || rows[i].Out.Token != l.draft[i].Token {
			return d
		}
	}
	return d
}

// route asks the algorithm about one row: the first, or one whose predecessors were all drafted right.
func (l *local) route(row *Row, before int, score **Score) (to router.Destination, ends bool, err error) {
	if err := l.unmasked(row); err != nil {
		return 0, false, err
	}
	out := &row.Out
	if t := out.Token; t < 0 || int(t) >= l.spec.Vocab {
		if lse := float64(out.LogSumExp); math.IsNaN(lse) {
			return 0, false, errors.New("the logits are not finite numbers: on this sequence the model's activations left the range of float32")
		}
		return 0, false, fmt.Errorf("no token could be drawn: got %d, want 0 to %d; is every token masked or biased away?", t, l.spec.Vocab-1)
	}
	view := l.view()
	view.Row = *out
	at := len(l.tokens) + before // where the token stands in the sequence
	if l.role.Draft {
		at = len(l.sequence())
	} else {
		view.Tokens, view.Draft = l.sequence()[:at:at], l.sequence()[at:]
	}
	view.Left = l.spec.MaxLength - at
	_, view.Ends = l.spec.over(out.Token, at+1)
	if l.forced(row) {
		return router.Stay, view.Ends, nil
	}
	if n := l.role.Needs.Top; len(view.Row.TopIDs) > n { // the caller's logprobs may have asked for more
		view.Row.TopIDs, view.Row.TopLogits = view.Row.TopIDs[:n], view.Row.TopLogits[:n]
	}
	if l.sharing != nil {
		l.threshold = l.sharing.threshold(view, l.written+before)
		view.Threshold = l.threshold
	}
	if l.spec.Trace {
		*score = scoreOf(l.role.Score, view)
	}
	to = l.role.Route(view)
	switch {
	case to < 0 || int(to) >= len(l.spec.Models):
		return 0, false, fmt.Errorf("algorithm %q sent the request to peer %d: model %d of the route has peers 1 to %d",
			l.spec.Algorithm, to, l.self, len(l.spec.Models)-1)
	case l.role.Draft && view.Ends && to == router.Stay:
		return 0, false, fmt.Errorf("algorithm %q drafts on at model %d after a token that ends the answer", l.spec.Algorithm, l.self)
	}
	return to, view.Ends, nil
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
