package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/tokenrouter/tokenrouter/internal/tinygguf"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// All policies on a pair of tiny models: they write the same tokens, and every figure is there.
func TestCompare(t *testing.T) {
	small := tinygguf.Temp(t, tinygguf.Options{Seed: 1, Weights: tinygguf.Q8_0})
	large := tinygguf.Temp(t, tinygguf.Options{Seed: 2, Weights: tinygguf.Q8_0, Layers: 3, Embd: 96, Heads: 6})
	out := filepath.Join(t.TempDir(), "out.json")
	o, path, err := parse([]string{"--small", small, "--large", large, "--requests", "1,4", "--share", "0.2", "--tokens", "24",
		"--each", "2", "--rounds", "2", "--threads", "1", "--out", out,
		"--policies", "lazy,lazy:2,eager-large-first,eager-small-first,step-sync,model-sync,large"})
	require.NoError(t, err)
	require.Equal(t, out, path)
	lines := 0
	require.NoError(t, compare(context.Background(), o, nil, func(r *Result) error { return write(path, r) }, func(string) { lines++ }))
	require.Equal(t, 2*7*2, lines)

	written := func() (r Result) { // anew each time: a field that is 0 is not in the file
		text, err := os.ReadFile(out)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, &r))
		return r
	}
	r := written()
	require.True(t, r.Complete)
	require.Len(t, r.Cases, 2)
	for _, c := range r.Cases {
		require.True(t, c.SameTokens)
		require.Len(t, c.Policies, 7)
		for name, f := range c.Policies {
			require.Len(t, f.Runs, 2, name)
			require.Positive(t, f.All, name)
			require.Positive(t, f.Equal, name)
			require.LessOrEqual(t, f.FirstP50, f.FirstP95, name)
			for _, run := range f.Runs {
				require.Positive(t, run.Busy, name)
				require.LessOrEqual(t, run.Busy, 1.0, name) // the models take turns on one device
				require.Equal(t, run.SmallSteps.Count+run.LargeSteps.Count-1, run.Gaps.Count, name)
				require.LessOrEqual(t, run.Gaps.Median, run.Gaps.P95, name)
				require.Greater(t, run.LargeSteps.Cached, run.LargeSteps.Rows, name) // at least what it appends, and what was there
			}
			share := 0.2 // of 48 tokens or more
			if name == largeAloneName {
				share = 1
			}
			require.InDelta(t, share, f.LargeShare, 0.15, name)
			require.Positive(t, c.Prediction.Policies[name], name)
		}
		require.Positive(t, c.LazyOverEager)
		require.Positive(t, c.LazyOverLarge)
		require.Positive(t, c.LazyOverPredicted)
	}

	// One more share, added: what is there stays, and the large model is not measured again.
	more, _, err := parse([]string{"--small", small, "--large", large, "--requests", "4", "--share", "0.1", "--tokens", "24",
		"--each", "2", "--rounds", "2", "--threads", "1", "--out", out, "--add", "--policies", "lazy,eager-large-first,large"})
	require.NoError(t, err)
	before, err := read(out, more)
	require.NoError(t, err)
	require.NoError(t, compare(context.Background(), more, before, func(r *Result) error { return write(path, r) }, func(string) {}))
	added := written()
	require.Equal(t, []float64{0.1, 0.2}, added.Options.Shares)
	require.Equal(t, []int{1, 4}, added.Options.Requests)
	require.Len(t, added.Cases, 3)
	require.Equal(t, r.Cases, added.Cases[1:])
	require.Len(t, added.Cases[0].Policies, 2)
	require.Positive(t, added.Cases[0].LazyOverLarge)

	// One more round of it.
	more.Rounds = 1
	before, err = read(out, more)
	require.NoError(t, err)
	require.NoError(t, compare(context.Background(), more, before, func(r *Result) error { return write(path, r) }, func(string) {}))
	added = written()
	require.Len(t, added.Cases, 3)
	require.Len(t, added.Cases[0].Policies[lazyName].Runs, 3)
	require.Len(t, added.Cases[1].Policies[lazyName].Runs, 2)

	// No further round: the comparisons alone, which are the same again.
	more.Rounds = 0
	before, err = read(out, more)
	require.NoError(t, err)
	require.NoError(t, compare(context.Background(), more, before, func(r *Result) error { return write(path, r) }, func(string) {}))
	require.Equal(t, added.Cases, written().Cases)

	other, _, err := parse([]string{"--small", small, "--large", large, "--out", out, "--add", "--tokens", "25"})
	require.NoError(t, err)
	_, err = read(out, other)
	require.ErrorContains(t, err, "write to another file")
}

// Two clients with two requests of four tokens each, one token per second, the second client half as fast: its first request
// has settled, with its second token, after 4 s; the first client is through at 8 s.
func TestRates(t *testing.T) {
	t.Parallel()
	start := time.Unix(100, 0)
	at := func(first, step int) (a answer) {
		a.asked = start.Add(time.Duration(first) * time.Second)
		for i := range 4 {
			a.tokens = append(a.tokens, a.asked.Add(time.Duration((i+1)*step)*time.Second))
		}
		return a
	}
	l := &load{clients: 2, tokens: 4}
	all, steady, part := l.rates([]answer{at(0, 1), at(0, 2), at(4, 1), at(8, 2)})
	require.Equal(t, 1.0, all)     // 16 tokens in 16 s
	require.Equal(t, 1.5, steady)  // of the first client those of 5 to 8 s, of the second those of 6 and 8 s
	require.Equal(t, 6.0/16, part) // these six
}

// Gaps of 20, 40 and 60 us between steps that do not overlap, as they come from two models; two that overlap have none between them, nor
// has one that runs within another.
func TestGaps(t *testing.T) {
	t.Parallel()
	start := time.Unix(100, 0)
	of := func(began, ended int) call {
		return call{start.Add(time.Duration(began) * time.Microsecond), start.Add(time.Duration(ended) * time.Microsecond)}
	}
	calls := []call{of(120, 220), of(0, 100), of(900, 1000), of(260, 500), of(300, 840), of(400, 410)}
	got := gapsOf(calls)
	require.Equal(t, 3, got.Count)
	require.InDelta(t, 40, got.Median, 1e-9)
	require.InDelta(t, 60, got.P95, 1e-9)
	require.Equal(t, "gaps of 40 us (p95 60)", got.String())
	require.Nil(t, gapsOf(calls[:1]))
	require.Equal(t, "no gaps", gapsOf(nil).String())
}

// Two runs of 100 tokens: 10 small steps of 3 rows at 10 ms and 1 ms a row, and 2 or 4 large steps of 5 rows at 30 ms and 2 ms: 0.21 or 0.29 s.
func TestEqualSteps(t *testing.T) {
	t.Parallel()
	run := func(large int) Run {
		return Run{SmallSteps: Steps{Count: 10, Requests: 3, Rows: 3}, LargeSteps: Steps{Count: large, Requests: 1, Rows: 5}}
	}
	few, many := &Figure{Runs: []Run{run(2)}}, &Figure{Runs: []Run{run(4), {}}} // one of before steps were counted
	c := &Case{Policies: map[string]*Figure{lazyName: few, largeFirstName: many}}
	for _, f := range c.Policies {
		f.equalize(&Latency{Base: 10, PerRow: 1}, &Latency{Base: 30, PerRow: 2}, 100)
	}
	require.InDelta(t, 100/0.21, few.Equal, 1e-9)
	require.InDelta(t, 100/0.29, many.Equal, 1e-9)
	c.conclude(nil)
	require.InDelta(t, 0.29/0.21, c.EqualOverEager, 1e-9)
	require.Zero(t, c.EqualOverLarge)
}

func TestPrediction(t *testing.T) {
	t.Parallel()
	lazy, err := parsePolicy(lazyName)
	require.NoError(t, err)
	sync, err := parsePolicy(stepSyncName)
	require.NoError(t, err)
	p, err := predict(2, 0.5, 0, Latency{Base: 2}, Latency{Base: 8}, []policy{lazy, sync})
	require.NoError(t, err)
	// Two tokens in a small step, and a large one unless neither is routed: 2 / (2 ms + 3/4 * 8 ms).
	require.InEpsilon(t, 250, p.Policies[stepSyncName], 1e-9)
	require.Equal(t, p.Best, p.Policies[lazyName])
	require.Equal(t, 2, p.Threshold)

	// With prompts of a quarter of the answers: a quarter of a row more of each model per token; the large model alone spares the small one's.
	alone, err := parsePolicy(largeAloneName)
	require.NoError(t, err)
	small, large := Latency{Base: 2, PerRow: 1}, Latency{Base: 8, PerRow: 3}
	without, err := predict(2, 0.5, 0, small, large, []policy{lazy, sync, alone})
	require.NoError(t, err)
	with, err := predict(2, 0.5, 0.25, small, large, []policy{lazy, sync, alone})
	require.NoError(t, err)
	for name, more := range map[string]float64{lazyName: 0.001, stepSyncName: 0.001, largeAloneName: 0.00075} {
		require.InEpsilon(t, 1/without.Policies[name]+more, 1/with.Policies[name], 1e-9, name)
	}
	require.Equal(t, with.Best, with.Policies[lazyName])
	require.Equal(t, without.Threshold, with.Threshold)
}

func TestParse(t *testing.T) {
	t.Parallel()
	for want, arguments := range map[string][]string{
		"two GGUF files are needed":                {},
		`"0" is no number of requests`:             {"--requests", "0"},
		`"1" is no share between 0 and 1`:          {"--share", "1"},
		`"lazy:0": the threshold is no number`:     {"--policies", "lazy:0"},
		`"greedy" is none of lazy`:                 {"--policies", "greedy"},
		"--tokens 4, --each 1, --rounds 3: want":   {"--small", "a", "--large", "b", "--tokens", "4"},
		"flag provided but not defined: -nonsense": {"--nonsense"},
	} {
		_, _, err := parse(arguments)
		require.ErrorContains(t, err, want)
	}
	_, err := texts(filepath.Join(t.TempDir(), "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
	path := filepath.Join(t.TempDir(), "prompts.jsonl")
	require.NoError(t, os.WriteFile(path, []byte("{\"question\": \"why?\"}\n{\"prompt\": \"go on\"}\n"), 0o600))
	list, err := texts(path)
	require.NoError(t, err)
	require.Equal(t, []string{"why?", "go on"}, list)
}
