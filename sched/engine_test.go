package sched_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tokenrouter/tokenrouter/router"
	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/sched/simrunner"
)

// More requests than may be live wait in order; more than may wait are refused.
func TestQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, unsureAfter(1), func(o *sched.Options) { o.MaxLive, o.MaxQueue = 2, 2 })
		defer p.close(t)
		var streams []*sched.Stream
		for i := range 4 {
			streams = append(streams, p.submit(t, []string{"small", "large"}[i%2], 5)) // the limit is the engine's
			synctest.Wait()
		}
		require.Equal(t, 2, p.engine.Snapshot().Live)
		require.Equal(t, 2, p.engine.Snapshot().Queue)
		_, err := p.engine.Submit(t.Context(), sched.Request{Target: "small", Prompt: []int32{1}})
		require.ErrorIs(t, err, sched.ErrQueueFull)
		require.EqualError(t, err, "queue full: 2 requests are being answered and 2 wait")

		// The first, of 5 steps of 10 ms, makes room for the third.
		time.Sleep(51 * ms)
		synctest.Wait()
		require.Equal(t, 1, p.engine.Snapshot().Queue)
		streams = append(streams, p.submit(t, "small", 5))
		for _, s := range streams {
			require.Equal(t, sched.FinishLength, read(t, s).Finish)
		}
	})
}

// A request is admitted when the KV cache has room for its prompt beside those that are there.
func TestAdmissionWaitsForRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := models()
		small := m["small"]
		small.Pages = 8 // 64 tokens
		small.Latency = func(*sched.Batch) time.Duration { return ms }
		m["small"] = small
		l := newLab(t, m, nil)
		defer l.close(t)
		r := sched.Request{Target: "small", Prompt: make([]int32, 30), MaxTokens: 10, IgnoreEnd: true}
		var streams []*sched.Stream
		for range 3 {
			s, err := l.engine.Submit(t.Context(), r)
			require.NoError(t, err)
			streams = append(streams, s)
		}
		time.Sleep(ms / 2)
		synctest.Wait()
		require.Equal(t, 2, l.engine.Snapshot().Live, "two prompts of 30 and a token take 4 pages of 8 each")
		for _, s := range streams {
			require.Equal(t, l.want(t, r), read(t, s).Answer)
		}
	})
}

func TestIDInUseIsRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, unsureAfter(1), func(*sched.Options) {})
		defer p.close(t)
		r := sched.Request{ID: "same", Target: "r", Prompt: []int32{1}, MaxTokens: 5}
		s, err := p.engine.Submit(t.Context(), r)
		require.NoError(t, err)
		_, err = p.engine.Submit(t.Context(), r)
		require.ErrorIs(t, err, sched.ErrInvalid)
		require.ErrorContains(t, err, `the ID "same" is in use by a live request`)
		read(t, s)
	})
}

// An ID may be used again as soon as its answer has ended, also for another target.
func TestIDsAreUsedAgain(t *testing.T) {
	t.Parallel()
	l := newLab(t, models(), nil)
	defer l.close(t)
	for i := range 300 {
		r := sched.Request{ID: "same", Target: answering[i%len(answering)], Prompt: []int32{int32(i), 7}, MaxTokens: 12}
		s, err := l.engine.Submit(t.Context(), r)
		require.NoError(t, err)
		if i%3 == 0 {
			s.Cancel()
			read(t, s)
			continue
		}
		require.Equal(t, l.want(t, r), read(t, s).Answer)
	}
}

// Close lets answers end; new requests are refused at once.
func TestCloseIsGraceful(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, unsureAfter(1), func(o *sched.Options) { o.MaxLive, o.MaxQueue = 1, 5 })
		live, queued := p.submit(t, "r", 6), p.submit(t, "small", 6)
		closed := make(chan error)
		go func() { closed <- p.engine.Close(context.Background()) }()
		synctest.Wait()
		require.True(t, p.engine.Snapshot().Closed)
		_, err := p.engine.Submit(t.Context(), sched.Request{Target: "r", Prompt: []int32{1}})
		require.ErrorIs(t, err, sched.ErrClosed)
		require.Equal(t, sched.FinishLength, read(t, live).Finish)
		require.Equal(t, sched.FinishLength, read(t, queued).Finish)
		require.NoError(t, <-closed)
		require.NoError(t, p.engine.Close(context.Background()), "again")
	})
}

// When its context is done Close cancels what is left.
func TestCloseCancelsAtItsDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, unsureAfter(1), func(o *sched.Options) { o.MaxLive, o.MaxQueue = 1, 5 })
		live, queued := p.submit(t, "r", 500), p.submit(t, "small", 6)
		ctx, cancel := context.WithTimeout(t.Context(), 100*ms)
		defer cancel()
		require.NoError(t, p.engine.Close(ctx))
		require.Less(t, time.Since(p.start), 150*ms, "no longer than a step after the deadline")
		require.Equal(t, sched.FinishCancelled, read(t, live).Finish)
		require.Equal(t, sched.FinishCancelled, read(t, queued).Finish)
	})
}

type badCloser struct{ simrunner.Script }

func (badCloser) Close() error { return errors.New("busy") }

func TestCloseClosesRunners(t *testing.T) {
	t.Parallel()
	m := simrunner.Model{}
	good := simrunner.New(m)
	e, err := sched.NewEngine(sched.Options{Models: []sched.ModelOptions{
		{Name: "bad", Runner: badCloser{}, Info: m.Info()}, {Name: "good", Runner: good, Info: m.Info()},
	}})
	require.NoError(t, err)
	require.EqualError(t, e.Close(t.Context()), `close the runner of "bad": busy`)
	require.True(t, good.Closed())
}

// Steps of models that share an exclusive device never overlap: eagerly, whoever was handed a request goes first. Those on
// devices of their own do overlap, and go on while requests are away.
func TestDevices(t *testing.T) {
	t.Parallel()
	for _, shared := range []bool{true, false} {
		t.Run(fmt.Sprintf("shared %v", shared), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := newPair(t, unsureAfter(3), func(o *sched.Options) {
					o.Policy = sched.Eager
					if shared {
						o.Models[0].Device, o.Models[1].Device = "same", "same"
					}
				})
				var streams []*sched.Stream
				for i := range 6 {
					streams = append(streams, p.submit(t, []string{"r", "small"}[i%2], 8))
				}
				for _, s := range streams {
					read(t, s)
				}
				p.close(t)
				overlaps, away := 0, 0
				for i, a := range p.journal.batches {
					away += b2i(a.Model == "small" && a.Pending > 0)
					for _, b := range p.journal.batches[:i] {
						overlaps += b2i(a.Start.Before(b.End) && b.Start.Before(a.End))
					}
				}
				require.Equal(t, shared, overlaps == 0, "%d overlaps", overlaps)
				require.Equal(t, shared, away == 0, "%d steps of the small model while requests were away", away)
			})
		})
	}
}

// A full batch and a long prompt: decode goes on beside the chunks, which get what is left of the step's budget.
func TestChunkedPrefillBesideDecode(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		script := simrunner.Script{Default: router.Row{Token: 16}, Latency: 10 * ms}
		info := script.Info()
		var j journal
		e, err := sched.NewEngine(sched.Options{
			Models:       []sched.ModelOptions{{Name: "m", Runner: script, Info: info}},
			PrefillChunk: 50, MaxBatchTokens: 40, MaxBatch: 8, Observer: j.observer(),
		})
		require.NoError(t, err)
		var streams []*sched.Stream
		for range 4 {
			s, err := e.Submit(t.Context(), sched.Request{Target: "m", Prompt: []int32{1}, MaxTokens: 20})
			require.NoError(t, err)
			streams = append(streams, s)
			synctest.Wait()
		}
		time.Sleep(15 * ms)
		s, err := e.Submit(t.Context(), sched.Request{Target: "m", Prompt: make([]int32, 100), MaxTokens: 3})
		require.NoError(t, err)
		for _, s := range append(streams, s) {
			read(t, s)
		}
		require.NoError(t, e.Close(t.Context()))
		type step struct{ segments, rows, prefill, decode int }
		var steps []step
		for _, b := range j.batches[1:6] {
			steps = append(steps, step{b.Segments, b.Rows, b.Prefill, b.Decode})
		}
		require.Equal(t, []step{
			{4, 4, 3, 1},  // the others' prompts of one token; the first came alone
			{5, 4, 36, 4}, // 36 of the 100, no row for them
			{5, 4, 36, 4},
			{5, 5, 28, 4}, // the rest, and the first row
			{5, 5, 0, 5},
		}, steps)
	})
}
