package sched_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"github.com/tokenrouter/tokenrouter/router"
	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/sched/oracle"
	"github.com/tokenrouter/tokenrouter/sched/simrunner"
)

// lab is an engine on simulated models, with the means to ask the oracle the same questions.
type lab struct {
	engine  *sched.Engine
	models  map[string]simrunner.Model
	options sched.Options
	journal *journal
}

var text = simrunner.Text{Special: 4}

// models are three that differ in everything that may differ.
func models() map[string]simrunner.Model {
	return map[string]simrunner.Model{
		"small":  {Seed: 1, Vocab: 500, PageTokens: 8, Pages: 400, EndIDs: []int32{2}, EndRate: 0.02, Sure: 0.8, Accord: 0.9},
		"large":  {Seed: 2, Vocab: 520, PageTokens: 16, Pages: 200, EndIDs: []int32{2, 3}, EndRate: 0.02, Sure: 0.6, Accord: 0.9},
		"middle": {Seed: 3, Vocab: 510, PageTokens: 4, Pages: 800, EndIDs: []int32{1}, EndRate: 0.02, Sure: 0.7, Accord: 0.8},
	}
}

// routes are all the ways in which the models answer together, beside each alone.
func routes() []sched.RouteOptions {
	return append(learnedRoutes(), []sched.RouteOptions{
		{Name: "stitch", Algorithm: "r-stitch", Models: []string{"small", "large"}},
		{Name: "half", Algorithm: "r-stitch", Models: []string{"small", "large"}, Params: router.Params{Threshold: ptr(0.5)}},
		{Name: "backward", Algorithm: "r-stitch", Models: []string{"large", "small"}, Params: router.Params{Threshold: ptr(0.2)}},
		{Name: "visit", Algorithm: "test-visit", Models: []string{"small", "large"}},
		{Name: "mix", Algorithm: "test-mix", Models: []string{"middle", "small", "large"}},
		{Name: "cascade", Algorithm: "test-cascade", Models: []string{"small", "middle", "large"}},
		{Name: "ensemble", Algorithm: "ensemble", Models: []string{"middle", "small", "large"}, Params: router.Params{Weights: []float64{5, 3, 2}}},
		{Name: "query", Algorithm: "query", Models: []string{"small", "large"}, Params: router.Params{Threshold: ptr(0.01)}},
		{Name: "nats", Algorithm: "r2r", Models: []string{"small", "large"}, Params: router.Params{Strategy: "entropy"}},
		{Name: "dice", Algorithm: "r2r", Models: []string{"small", "large"}, Params: router.Params{Strategy: "random", Threshold: ptr(0.3)}},
		{Name: "drafts", Algorithm: "speculative", Models: []string{"small", "large"}},
		{Name: "drafts-of-1", Algorithm: "speculative", Models: []string{"large", "middle"}, Params: router.Params{Draft: ptr(1)}},
		{Name: "doubt", Algorithm: "test-doubt", Models: []string{"middle", "small", "large"}},
		{Name: "guess", Algorithm: "test-guess", Models: []string{"small", "large", "middle"}},
		{Name: "bounce", Algorithm: "test-bounce", Models: []string{"small", "large"}},
		{Name: "panic", Algorithm: "test-panic", Models: []string{"small", "large"}},
		{Name: "lost", Algorithm: "test-lost", Models: []string{"small", "large"}},
	}...)
}

func ptr[T any](v T) *T { return &v }

// newLab starts an engine on these models. adjust may change the options first.
func newLab(t testing.TB, models map[string]simrunner.Model, adjust func(*sched.Options)) *lab {
	t.Helper()
	l := &lab{models: models, journal: &journal{}, options: sched.Options{MaxQueue: 10000, Routes: routes()}}
	for _, name := range []string{"small", "large", "middle"} {
		m := models[name]
		l.options.Models = append(l.options.Models, sched.ModelOptions{
			Name: name, Runner: simrunner.New(m), Info: m.Info(), Text: text, Grammars: hashed{},
		})
	}
	l.options.Observer = l.journal.observer()
	if adjust != nil {
		adjust(&l.options)
	}
	e, err := sched.NewEngine(l.options)
	if err != nil {
		t.Fatal(err)
	}
	l.engine = e
	return l
}

// close ends the engine and checks that it kept its books.
func (l *lab) close(t testing.TB) {
	t.Helper()
	require.NoError(t, l.shut())
}

func (l *lab) shut() error {
	if err := l.engine.Close(context.Background()); err != nil {
		return err
	}
	snap := l.engine.Snapshot()
	if len(l.journal.faults) > 0 || snap.Fault != nil || snap.Queue+snap.Live > 0 {
		return fmt.Errorf("closed with faults %v and snapshot %+v", l.journal.faults, snap)
	}
	for _, m := range snap.Models {
		if m.Pages != m.FreePages || m.Live+m.Waiting+m.Running+m.Pending > 0 {
			return fmt.Errorf("left over after the end: %+v", m)
		}
	}
	return nil
}

// answer is an answer as a client sees it.
type answer struct {
	oracle.Answer
	err     error
	events  int
	summary sched.Summary
}

// ask submits a request and reads its answer to the end.
func (l *lab) ask(t testing.TB, r sched.Request) answer {
	t.Helper()
	s, err := l.engine.Submit(context.Background(), r)
	require.NoError(t, err)
	return read(t, s)
}

func read(t testing.TB, s *sched.Stream) answer {
	t.Helper()
	a, err := collect(s)
	require.NoError(t, err)
	return a
}

// collect reads an answer to its end and checks that the stream is in order.
func collect(s *sched.Stream) (a answer, err error) {
	var b strings.Builder
	for {
		e, err := s.Next(context.Background())
		if err == io.EOF {
			break
		}
		if err != nil {
			return a, err
		}
		if a.Finish != "" {
			return a, fmt.Errorf("event %+v after the last", e)
		}
		if !utf8.ValidString(e.Text) {
			return a, fmt.Errorf("event with half a character: %q", e.Text)
		}
		a.events++
		b.WriteString(e.Text)
		for _, token := range e.Tokens {
			a.Tokens = append(a.Tokens, token.ID)
			a.Infos = append(a.Infos, token.Info)
		}
		a.Finish, a.err = e.Finish, e.Err
	}
	a.Text, a.summary = b.String(), s.Summary()
	a.Discarded, a.Handoffs = a.summary.Discarded, a.summary.Handoffs
	a.Drafted, a.Accepted = a.summary.Drafted, a.summary.Accepted
	if n := a.summary.Completion; n != len(a.Tokens) {
		return a, fmt.Errorf("%d tokens, but %d in the summary", len(a.Tokens), n)
	}
	return a, nil
}

// want asks the oracle, on caches of its own.
func (l *lab) want(t testing.TB, r sched.Request) oracle.Answer {
	t.Helper()
	a, err := l.judge(r)
	require.NoError(t, err)
	return a
}

func (l *lab) judge(r sched.Request) (oracle.Answer, error) {
	route := oracle.Route{Algorithm: router.SingleName}
	names := []string{r.Target}
	for _, o := range l.options.Routes {
		if o.Name == r.Target {
			route.Algorithm, route.Params, route.Head, names = o.Algorithm, o.Params, o.Head, o.Models
		}
	}
	for _, name := range names {
		m := l.models[name]
		m.Latency, m.Fail = nil, nil
		route.Models = append(route.Models, oracle.Model{Name: name, Runner: simrunner.New(m), Info: m.Info(), Text: text, Grammars: hashed{}})
	}
	return oracle.Run(route, r)
}

// journal records what an engine did.
type journal struct {
	mu       sync.Mutex
	batches  []sched.BatchRecord
	handoffs []sched.HandoffRecord
	faults   []error
}

func (j *journal) observer() *sched.Observer {
	return &sched.Observer{
		Batch: func(r sched.BatchRecord) {
			j.mu.Lock()
			defer j.mu.Unlock()
			j.batches = append(j.batches, r)
		},
		Handoff: func(r sched.HandoffRecord) {
			j.mu.Lock()
			defer j.mu.Unlock()
			j.handoffs = append(j.handoffs, r)
		},
		Fault: func(model string, err error) {
			j.mu.Lock()
			defer j.mu.Unlock()
			j.faults = append(j.faults, err)
		},
	}
}
