// Package oracle is the judge of the scheduler: the plainest loop that answers a request with several models. One request
// at a time, one model at a time, one step at a time; no batches, no loops beside it, no KV bookkeeping. The engine must
// give exactly its tokens, whatever it batches, chunks, evicts or overlaps.
//
// It is written from the definition of the algorithms and shares no code with the scheduler.
package oracle

import (
	"fmt"
	"slices"

	"github.com/tokenrouter/tokenrouter/router"
	"github.com/tokenrouter/tokenrouter/sched"
)

// Model is a model with a runner that nobody else uses at the same time.
type Model struct {
	Name   string
	Runner sched.Runner
	Info   sched.Info
	Text   sched.Text // needed of the entry for text and stop strings; may be nil

	Grammars sched.Grammars // likewise for grammars
}

// Route is what answers: models, the entry first, and an algorithm whose Send and Receive are the default ones.
type Route struct {
	Algorithm string
	Params    router.Params
	Models    []Model
	Head      sched.Head // of the entry, or nil
}

// Answer is what a request must give.
type Answer struct {
	Tokens    []int32
	Infos     []sched.TokenInfo // [tokens]; Model says who wrote it
	Text      string
	Finish    sched.FinishReason
	Discarded int
	Drafted   int // tokens that a model drafted and another one judged
	Accepted  int // those of them that stand in the answer
	Handoffs  int
}

// Run answers a request. Request.Algorithm and Params override those of the route; Target and ID are not looked at.
func Run(route Route, r sched.Request) (Answer, error) {
	l, err := newLoop(route, r)
	if err != nil {
		return Answer{}, err
	}
	if start := l.roles[0].Start; start != nil {
		l.active = start(l.view(router.Row{}))
	}
	for {
		row, err := l.extend()
		if err != nil {
			return l.answer, err
		}
		to := l.decide(row)
		if l.roles[l.active].Draft {
			l.draft = append(l.draft, sched.Discard{Model: l.active, Token: row.Token, LogProb: row.LogProb, Entropy: row.Entropy, Score: l.score(row), Draft: true})
		} else if to == router.Stay || l.roles[l.active].Keep {
			if l.keep(row) {
				return l.answer, nil
			}
			if err := l.advance(row.Token); err != nil {
				return l.answer, err
			}
		} else {
			l.reject()
			l.discards = append(l.discards, sched.Discard{Model: l.active, Token: row.Token, LogProb: row.LogProb, Entropy: row.Entropy, Score: l.score(row)})
		}
		if to != router.Stay {
			if !l.roles[l.active].Draft {
				l.reject()
			}
			l.handoffs++
			l.active = router.ModelOf(l.active, to)
			if l.roles[l.active].Draft {
				l.reject()
			}
		}
		if l.handoffs > len(route.Models) {
			return l.answer, fmt.Errorf("%d handoffs without a token", l.handoffs)
		}
	}
}

// loop is the state of the one request.
type loop struct {
	route    Route
	request  sched.Request
	params   router.Params
	roles    []router.Role
	vocab    int
	most     int     // tokens of a finished sequence
	end      []int32 // end-of-sequence ids of any model
	sequence []int32
	cached   []int           // [models] tokens of the sequence in the model's cache
	active   int             // the model that writes
	draft    []sched.Discard // tokens that may follow the sequence: of a model that drafts, then of one that judges them
	discards []sched.Discard
	handoffs int
	answer   Answer

	grammar sched.Constraint // at the end of the sequence; nil: none
}

func newLoop(route Route, r sched.Request) (*loop, error) {
	l := &loop{route: route, request: r, params: route.Params.Override(r.Params),
		sequence: slices.Clone(r.Prompt), cached: make([]int, len(route.Models))}
	name := route.Algorithm
	if r.Algorithm != "" && r.Algorithm != name {
		name, l.params = r.Algorithm, r.Params
	}
	a, err := router.Lookup(name)
	if err != nil {
		return nil, err
	}
	if err := a.Check(len(route.Models), l.params); err != nil {
		return nil, err
	}
	for i, m := range route.Models {
		role := a.Role(i, len(route.Models), l.params)
		if rule := ruleOf(name, i, l.params); rule != nil {
			role.Route, role.Keep, role.Start, role.Draft = rule.route, rule.keep, rule.start, rule.draft
		}
		if role.Needs.Head && (i != 0 || route.Head == nil) {
			return nil, fmt.Errorf("algorithm %q needs a router head for model %q, which has none", name, m.Name)
		}
		if role.Send != nil || role.Receive != nil {
			return nil, fmt.Errorf("algorithm %q has a send or receive of its own", name)
		}
		l.roles = append(l.roles, role)
		limit := min(m.Info.MaxContext, m.Info.Pages*m.Info.PageTokens)
		if i == 0 || limit < l.most {
			l.most = limit
		}
		if i == 0 || m.Info.Vocab < l.vocab {
			l.vocab = m.Info.Vocab
		}
		l.end = append(l.end, m.Info.EndIDs...)
	}
	if r.Grammar != "" {
		if l.grammar, err = route.Models[0].Grammars.Constraint(r.Grammar); err != nil {
			return nil, err
		}
	}
	if len(r.Prompt) >= l.most {
		return nil, fmt.Errorf("a prompt of %d tokens leaves no room in %d", len(r.Prompt), l.most)
	}
	if r.MaxTokens > 0 {
		l.most = min(l.most, len(r.Prompt)+r.MaxTokens)
	}
	return l, nil
}

// extend brings the cache of the active model to the end of the sequence, with the drafts of a model that drafts, and returns the
// row of its last token. One row at a time: drafts of others are not looked at here.
func (l *loop) extend() (router.Row, error) {
	m, cached := &l.route.Models[l.active], &l.cached[l.active]
	sequence := slices.Clone(l.sequence)
	if l.roles[l.active].Draft {
		for _, d := range l.draft {
			sequence = append(sequence, d.Token)
		}
	}
	*cached = min(*cached, len(sequence)-1)                    // the last token at least, for its row
	defer func() { *cached = min(*cached, len(l.sequence)) }() // drafts may not last
	pages := make([]int32, m.Info.Pages)
	for i := range pages {
		pages[i] = int32(i)
	}
	for {
		n := len(sequence) - *cached
		if m.Info.MaxTokens > 0 {
			n = min(n, m.Info.MaxTokens)
		}
		end := *cached + n
		used := (end + m.Info.PageTokens - 1) / m.Info.PageTokens
		b := sched.Batch{Segments: []sched.Segment{{Tokens: sequence[*cached:end], Position: *cached, Pages: pages[:used]}}}
		if end == len(sequence) {
			b.Rows = []sched.Row{l.row(n-1, sequence)}
		}
		if err := m.Runner.Step(&b); err != nil {
			return router.Row{}, fmt.Errorf("model %q: %w", m.Name, err)
		}
		*cached = end
		if len(b.Rows) == 1 {
			return b.Rows[0].Out, nil
		}
	}
}

func (l *loop) row(offset int, sequence []int32) sched.Row {
	needs := l.roles[l.active].Needs
	needs.Top = max(needs.Top, l.request.Top)
	var head sched.Head
	if needs.Head {
		head = l.route.Head
		needs.Top = max(needs.Top, head.Top())
	}
	var allowed []uint32
	if l.grammar != nil {
		allowed, _ = l.ahead().Mask()
	}
	row := sched.Row{Allowed: allowed, Head: head, Offset: offset, Needs: needs, Vocab: l.vocab, Stream: l.stream(), Sampling: &l.request.Sampling}
	if s := l.request.Sampling; s.PresencePenalty != 0 || s.FrequencyPenalty != 0 || s.RepetitionPenalty != 0 && s.RepetitionPenalty != 1 {
		row.History = &sched.History{}
		row.History.Add(sequence...)
	}
	return row
}

func (l *loop) stream() uint32 {
	if l.roles[l.active].AsAlone {
		return 0
	}
	return uint32(l.active)
}

func (l *loop) view(row router.Row) router.View {
	top := min(l.roles[l.active].Needs.Top, len(row.TopIDs))
	row.TopIDs, row.TopLogits = row.TopIDs[:top], row.TopLogits[:top]
	at := len(l.sequence) // where the token of the row stands
	var draft []int32
	for _, d := range l.draft {
		draft = append(draft, d.Token)
	}
	if l.roles[l.active].Draft {
		at += len(draft)
	}
	ends := at+1 == l.most || !l.request.IgnoreEnd && slices.Contains(l.end, row.Token)
	return router.View{Model: l.active, Models: len(l.route.Models), Vocab: l.vocab, Tokens: l.sequence, Draft: draft, Left: l.most - at, Ends: ends,
		Prompt: len(l.request.Prompt), Params: l.params, Seed: l.request.Sampling.Seed, Choice: l.request.Sampling.Choice, Row: row}
}
