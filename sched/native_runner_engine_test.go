package sched_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/internal/tinygguf"
	"github.com/tokenrouter/tokenrouter/router"
	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/sched/oracle"
)

// The engine on real forward passes: every answer is bit for bit that of the sequential oracle, tokens and signals alike,
// whatever was batched, chunked or evicted beside it.
func TestNativeRunnerIsExactInTheEngine(t *testing.T) {
	small := nativeModel(t, tinygguf.Options{Seed: 1, Weights: tinygguf.Q8_0})
	large := nativeModel(t, tinygguf.Options{Seed: 2, Weights: tinygguf.Q8_0, Layers: 3, Embd: 96, Heads: 6, Vocab: 320})
	requests := nativeRequests()
	var want []oracle.Answer
	for _, r := range requests {
		want = append(want, judgeNative(t, small, large, r))
	}
	written := map[int]int{}
	for _, a := range want {
		for _, i := range a.Infos {
			written[i.Model]++
		}
	}
	t.Logf("tokens by model: %v", written)
	require.Greater(t, written[0], 50, "tokens of the small model")
	require.Greater(t, written[1], 50, "tokens of the large model")

	for _, c := range []struct {
		name                     string
		pages, chunk, concurrent int
		threshold                int
	}{
		{"one at a time", 64, 16, 1, 1},
		{"all at once", 256, 512, len(requests), 1},
		{"all at once in small chunks, lazily", 256, 7, len(requests), 4},
		{"with hardly any memory", 7, 16, len(requests), 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			var mu sync.Mutex
			sizes, handoffs, evicted := map[int]bool{}, map[string]int{}, 0
			options := sched.Options{
				Routes:       []sched.RouteOptions{{Name: "stitch", Algorithm: router.RStitchName, Models: []string{"small", "large"}}},
				Policy:       sched.Lazy,
				PrefillChunk: c.chunk,
				MaxQueue:     len(requests),
				Observer: &sched.Observer{
					Batch: func(b sched.BatchRecord) {
						mu.Lock()
						defer mu.Unlock()
						sizes[b.Segments] = true
						evicted += b.Evicted
					},
					Handoff: func(h sched.HandoffRecord) {
						mu.Lock()
						defer mu.Unlock()
						handoffs[h.From+">"+h.To]++
					},
				},
			}
			for _, m := range []struct {
				name  string
				model *sched.NativeModel
			}{{"small", small}, {"large", large}} {
				r, err := m.model.NewRunner(sched.NativeLimits{Pages: c.pages})
				require.NoError(t, err)
				options.Models = append(options.Models, sched.ModelOptions{Name: m.name, Runner: r, Info: r.Info(), Threshold: c.threshold})
			}
			e, err := sched.NewEngine(options)
			require.NoError(t, err)

			requireAnswers(t, e, requests, want, c.concurrent)
			require.NotZero(t, handoffs["small>large"])
			require.NotZero(t, handoffs["large>small"])
			switch {
			case c.pages == 7: // two fit at a time, now and then three
				require.Greater(t, len(sizes), 1, "sizes of batches")
				require.NotZero(t, evicted)
			case c.concurrent > 1:
				require.Greater(t, len(sizes), 3, "sizes of batches")
			}
		})
	}
}

// nativeRequests are prompts of many lengths, greedy, sampled and with penalties.
func nativeRequests() []sched.Request {
	var requests []sched.Request
	threshold := 0.7
	for i := range 24 {
		r := sched.Request{
			ID:        fmt.Sprint("request ", i),
			Target:    "stitch",
			Prompt:    numbers(i, 3+i*5),
			MaxTokens: 30 + i%9,
			Params:    router.Params{Threshold: &threshold},
			LogProbs:  true,
			Top:       3,
		}
		switch i % 3 {
		case 1:
			r.Sampling = sched.Sampling{Temperature: 0.8, TopP: 0.95, Seed: uint64(i)}
		case 2:
			r.Sampling = sched.Sampling{Temperature: 1, TopK: 40, Seed: uint64(i), PresencePenalty: 0.3, FrequencyPenalty: 0.2, RepetitionPenalty: 1.1}
		}
		requests = append(requests, r)
	}
	return requests
}

// judgeNative asks the oracle, on caches of its own.
func judgeNative(t *testing.T, small, large *sched.NativeModel, r sched.Request) oracle.Answer {
	t.Helper()
	route := oracle.Route{Algorithm: router.RStitchName}
	for i, m := range []*sched.NativeModel{small, large} {
		runner := nativeRunner(t, m, sched.NativeLimits{Pages: 12})
		route.Models = append(route.Models, oracle.Model{Name: fmt.Sprint(i), Runner: runner, Info: runner.Info()})
	}
	a, err := oracle.Run(route, r)
	require.NoError(t, err)
	return a
}

// requireAnswers submits the requests, at most `concurrent` at once, and closes the engine: each is answered as wanted.
func requireAnswers(t *testing.T, e *sched.Engine, requests []sched.Request, want []oracle.Answer, concurrent int) {
	t.Helper()
	got, errs := make([]answer, len(requests)), make([]error, len(requests))
	slots := make(chan struct{}, concurrent)
	var group sync.WaitGroup
	for i, r := range requests {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			s, err := e.Submit(context.Background(), r)
			if err == nil {
				got[i], err = collect(s)
			}
			errs[i] = err
		})
	}
	group.Wait()
	require.NoError(t, e.Close(context.Background()))
	for i := range requests {
		require.NoError(t, errs[i])
		require.NoError(t, got[i].err)
		require.Equal(t, want[i].Tokens, got[i].Tokens, "request %d", i)
		require.Equal(t, want[i].Infos, got[i].Infos, "request %d", i)
		require.Equal(t, want[i].Finish, got[i].Finish)
	}
}
