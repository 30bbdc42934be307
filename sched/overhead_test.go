package sched_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tokenrouter/tokenrouter/internal/cputime"
	"github.com/tokenrouter/tokenrouter/sched"
)

// serve answers n requests of `tokens` tokens with runners that cost nothing, over a route that hands every tenth token to the
// large model, and returns the processor time per token: of scheduling, all loops and reading clients together.
func serve(t *testing.T, policy sched.Policy, n, prompt, tokens int) time.Duration {
	t.Helper()
	info := sched.Info{Vocab: 100, PageTokens: 32, Pages: n * (prompt + tokens + 64) / 32, MaxContext: prompt + tokens + 2}
	e, err := sched.NewEngine(sched.Options{
		Models: []sched.ModelOptions{
			{Name: "small", Runner: &trivial{}, Info: info},
			{Name: "large", Runner: &trivial{}, Info: info, Threshold: sched.AutoThreshold, MaxWait: sched.AutoWait},
		},
		Routes: []sched.RouteOptions{{Name: "r", Algorithm: "random", Models: []string{"small", "large"}}},
		Policy: policy, PrefillChunk: 1 << 20, MaxBatchTokens: 1 << 30, MaxLive: n,
	})
	require.NoError(t, err)
	runtime.GC()
	before := cputime.Now(t)
	done := make(chan error, n)
	for i := range n {
		s, err := e.Submit(context.Background(), sched.Request{Target: "r", Prompt: make([]int32, prompt), MaxTokens: tokens,
			Sampling: sched.Sampling{Seed: uint64(i)}})
		require.NoError(t, err)
		go func() {
			_, err := collect(s)
			done <- err
		}()
	}
	for range n {
		require.NoError(t, <-done)
	}
	took := cputime.Now(t) - before
	require.NoError(t, e.Close(context.Background()))
	return took / time.Duration(n*tokens)
}

// What the scheduler costs beside the models, at 64 live requests: less than 20 microseconds of processor time per token.
// Not parallel, since the time is that of the process.
func TestOverhead(t *testing.T) {
	for _, policy := range sched.Policies() {
		took := serve(t, policy, 64, 16, 400)
		t.Logf("%s: %v per token", policy, took)
		require.Less(t, took, overheadBound, policy)
	}
}

// A long sequence costs no more per token than a short one.
func TestOverheadDoesNotGrow(t *testing.T) {
	short, long := serve(t, sched.Lazy, 16, 16, 512), serve(t, sched.Lazy, 16, 16, 4096)
	t.Logf("%v per token of 512, %v of 4096", short, long)
	require.Less(t, long, 2*short+time.Microsecond)
}

// Ten thousand requests, finished, cancelled and failed: every page is free or cached in the end. (TestMain looks for
// goroutines that are left.)
func TestTenThousandRequests(t *testing.T) {
	t.Parallel()
	m := models()
	for name := range m {
		n := 0
		failing(m, name, func(*sched.Batch) bool {
			n++
			return n%300 == 0
		})
	}
	l := newLab(t, m, func(o *sched.Options) {
		o.Policy = sched.Lazy
		for i := range o.Models {
			o.Models[i].Threshold, o.Models[i].MaxWait = sched.AutoThreshold, sched.AutoWait
		}
	})
	ends := make(chan sched.FinishReason, 10_000)
	work := make(chan int)
	for range 32 {
		go func() {
			for i := range work {
				r := sched.Request{Target: answering[i%len(answering)], Prompt: []int32{5, int32(i % 500), 6}, MaxTokens: 1 + i%7, IgnoreEnd: true}
				s, err := l.engine.Submit(context.Background(), r)
				if err == nil {
					if i%5 == 0 {
						s.Cancel()
					}
					var a answer
					a, err = collect(s)
					ends <- a.Finish
				}
				if err != nil {
					t.Error(err)
				}
			}
		}()
	}
	for i := range 10_000 {
		work <- i
	}
	close(work)
	count := map[sched.FinishReason]int{}
	for range 10_000 {
		count[<-ends]++
	}
	t.Log(count)
	require.Greater(t, count[sched.FinishLength], 5000)
	require.Greater(t, count[sched.FinishCancelled], 500)
	require.Greater(t, count[sched.FinishError], 20)
	l.close(t)
}
