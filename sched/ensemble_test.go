package sched_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tokenrouter/tokenrouter/router"
	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/sched/simrunner"
)

// Weights that leave one model, and a query's answer, give what that model gives alone: greedily and by a seed.
func TestOneModelWritesAsAlone(t *testing.T) {
	t.Parallel()
	m := models()
	for name, alike := range m { // so that the routes have the ids of each model
		alike.Vocab, alike.EndIDs = 500, []int32{2}
		m[name] = alike
	}
	l := newLab(t, m, nil)
	defer l.close(t)
	for _, temperature := range []float32{0, 0.8} {
		for i := range 20 {
			r := sched.Request{Target: "ensemble", Prompt: []int32{5, 6, int32(i)}, MaxTokens: 30, LogProbs: true, Top: 2,
				Sampling: sched.Sampling{Temperature: temperature, Seed: uint64(i)}}
			same := l.ask(t, r)
			require.Equal(t, same.Tokens, l.ask(t, r).Tokens, "the same seed")
			for at, name := range []string{"middle", "small", "large"} {
				weights := make([]float64, 3)
				weights[at] = 1
				r.Target, r.Params = "ensemble", router.Params{Weights: weights}
				l.journal.mu.Lock()
				l.journal.handoffs = nil
				l.journal.mu.Unlock()
				got := l.ask(t, r)
				require.Equal(t, len(got.Tokens), got.summary.Tokens[name])
				require.Zero(t, got.Handoffs)
				l.journal.expectBeginning(t, got.summary, name)
				r.Target, r.Params = name, router.Params{}
				alone := l.ask(t, r)
				require.Equal(t, alone.Tokens, got.Tokens)
				require.Equal(t, alone.Text, got.Text)
				require.Equal(t, alone.Infos[0].TopIDs, got.Infos[0].TopIDs)
			}
			r.Target, r.Params = "query", router.Params{}
			query := l.ask(t, r)
			r.Target = []string{"small", "large"}[query.Infos[0].Model]
			require.Equal(t, l.ask(t, r).Tokens, query.Tokens)
			require.Equal(t, len(query.Tokens), query.summary.Tokens[r.Target], "one model writes all")
		}
	}
}

// expectBeginning checks the records of the last request: it began at a model, and was handed off to nobody.
func (j *journal) expectBeginning(t *testing.T, s sched.Summary, at string) {
	t.Helper()
	j.mu.Lock()
	defer j.mu.Unlock()
	if at == "middle" { // the entry
		require.Empty(t, j.handoffs)
		return
	}
	require.Len(t, j.handoffs, 1)
	h := j.handoffs[0]
	require.Equal(t, []any{"middle", at, s.Prompt, true}, []any{h.From, h.To, h.Tokens, h.Start})
}

// The models of 20,000 first tokens, drawn at admission, and of 20,000 tokens of long answers have the shares of the weights.
// Chi-square, 2 degrees of freedom: above 18.4 once in 10,000.
func TestEnsembleSharesInTheEngine(t *testing.T) {
	t.Parallel()
	var o sched.Options
	names := []string{"a", "b", "c"}
	for i, name := range names {
		s := simrunner.Script{Default: router.Row{Token: int32(10 * (i + 1))}}
		o.Models = append(o.Models, sched.ModelOptions{Name: name, Runner: s, Info: s.Info(1)})
	}
	weights := []float64{0.5, 0.3, 0.2}
	o.Routes = []sched.RouteOptions{{Name: "mix", Algorithm: "ensemble", Models: names, Params: router.Params{Weights: weights}}}
	o.MaxQueue = 1 << 20
	e, err := sched.NewEngine(o)
	require.NoError(t, err)
	defer func() { require.NoError(t, e.Close(context.Background())) }()
	for _, c := range []struct{ requests, tokens int }{{20000, 1}, {40, 500}} {
		counts := make([]float64, 3)
		for first := 0; first < c.requests; first += 1000 {
			var streams []*sched.Stream
			for i := range min(1000, c.requests) {
				s, err := e.Submit(t.Context(), sched.Request{Target: "mix", Prompt: []int32{5}, MaxTokens: c.tokens, Sampling: sched.Sampling{Seed: uint64(first + i)}})
				require.NoError(t, err)
				streams = append(streams, s)
			}
			for _, s := range streams {
				a, err := collect(s)
				require.NoError(t, err)
				for i, token := range a.Tokens {
					require.EqualValues(t, 10*(a.Infos[i].Model+1), token)
					counts[a.Infos[i].Model]++
				}
			}
		}
		chi := 0.0
		for i, w := range weights {
			want := float64(c.requests*c.tokens) * w
			chi += (counts[i] - want) * (counts[i] - want) / want
		}
		require.Less(t, chi, 18.4, "%v", counts)
	}
}
