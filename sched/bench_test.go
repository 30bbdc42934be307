package sched_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tokenrouter/tokenrouter/internal/cputime"
	"github.com/tokenrouter/tokenrouter/sched"
)

// trivial is a runner that costs nothing, so that what is left is the scheduler.
type trivial struct {
	entropy float32
	steps   int
	rows    int
}

func (r *trivial) Step(b *sched.Batch) error {
	r.steps++
	r.rows += len(b.Rows)
	for i := range b.Rows {
		b.Rows[i].Out.Token, b.Rows[i].Out.Entropy = 7, r.entropy
	}
	return nil
}

func (r *trivial) Close() error { return nil }

// BenchmarkStep measures what the scheduler adds to a step at a batch of n, after a history of `length` tokens, all three
// loops and reading clients together. Nothing may grow with the length of the sequences.
func BenchmarkStep(b *testing.B) {
	for _, n := range []int{1, 16, 64} {
		for _, length := range []int{16, 4096} {
			b.Run(fmt.Sprintf("batch=%d/length=%d", n, length), func(b *testing.B) { benchmarkStep(b, n, length) })
		}
	}
}

func benchmarkStep(b *testing.B, n, length int) {
	runner := &trivial{}
	e, err := sched.NewEngine(sched.Options{
		Models: []sched.ModelOptions{{Name: "m", Runner: runner, Text: text, Info: sched.Info{
			Vocab: 100, PageTokens: 32, Pages: n * (b.N + length + 64) / 32, MaxContext: b.N + length + 2}}},
		PrefillChunk: 1 << 20, MaxBatchTokens: 1 << 30, MaxLive: n,
	})
	require.NoError(b, err)
	prompt := make([]int32, length)
	b.ReportAllocs()
	b.ResetTimer()
	before := cputime.Now(b)
	done := make(chan error, n)
	for range n {
		s, err := e.Submit(context.Background(), sched.Request{Target: "m", Prompt: prompt, MaxTokens: b.N})
		require.NoError(b, err)
		go func() {
			_, err := collect(s)
			done <- err
		}()
	}
	for range n {
		require.NoError(b, <-done)
	}
	b.StopTimer()
	b.ReportMetric(float64((cputime.Now(b)-before).Nanoseconds())/float64(runner.steps), "cpu-ns/step")
	require.NoError(b, e.Close(context.Background()))
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(runner.steps), "ns/step")
	b.ReportMetric(float64(runner.rows)/float64(runner.steps), "rows/step")
}

// BenchmarkHandoff measures a token that needs a handoff there and one back.
func BenchmarkHandoff(b *testing.B) {
	info := sched.Info{Vocab: 100, PageTokens: 32, Pages: (b.N + 64) / 16, MaxContext: b.N + 8}
	e, err := sched.NewEngine(sched.Options{
		Models: []sched.ModelOptions{
			{Name: "small", Runner: &trivial{entropy: 4}, Info: info},
			{Name: "large", Runner: &trivial{entropy: 0}, Info: info},
		},
		Routes: []sched.RouteOptions{{Name: "r", Algorithm: "r-stitch", Models: []string{"small", "large"}}},
	})
	require.NoError(b, err)
	b.ResetTimer()
	s, err := e.Submit(context.Background(), sched.Request{Target: "r", Prompt: []int32{1}, MaxTokens: b.N})
	require.NoError(b, err)
	_, err = collect(s)
	require.NoError(b, err)
	b.StopTimer()
	require.NoError(b, e.Close(context.Background()))
}
