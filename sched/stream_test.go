package sched_test

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tokenrouter/tokenrouter/router"
	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/sched/simrunner"
)

// R-Stitch in the engine, worked out by hand: the example of the oracle's test. Prompt of 2 tokens, threshold 0.03 of
// ln 100 = 0.138 nats. The small model's 20 and 23 are thrown away; 30, 31 and 33 are the large one's.
func TestRoutedAnswerByHand(t *testing.T) {
	t.Parallel()
	says := func(token int32, entropy float32) router.Row { return router.Row{Token: token, Entropy: entropy} }
	small := simrunner.Script{Rows: map[int]router.Row{2: says(20, 2), 4: says(22, 0.1), 5: says(23, 0.2), 6: says(1, 0)}}
	large := simrunner.Script{Rows: map[int]router.Row{2: says(30, 0.2), 3: says(31, 0.1), 5: says(33, 0.13)}}
	var j journal
	e, err := sched.NewEngine(sched.Options{
		Models: []sched.ModelOptions{
			{Name: "small", Runner: small, Info: small.Info(1), Text: simrunner.Text{Special: 4}},
			{Name: "large", Runner: large, Info: large.Info(1)},
		},
		Routes:   []sched.RouteOptions{{Name: "r", Algorithm: "r-stitch", Models: []string{"small", "large"}}},
		Observer: j.observer(),
	})
	require.NoError(t, err)
	s, err := e.Submit(t.Context(), sched.Request{ID: "q", Target: "r", Prompt: []int32{8, 9}, Trace: true})
	require.NoError(t, err)
	require.Equal(t, "q", s.ID())
	a := read(t, s)
	require.Equal(t, []int32{30, 31, 22, 33, 1}, a.Tokens)
	// Ids 30, 31, 22, 33 are the pieces d and half an é, nothing, a space, b; the end is no text.
	require.Equal(t, "d\uFFFD b", a.Text)
	require.Equal(t, sched.FinishStop, a.Finish)
	require.Equal(t, sched.Summary{Prompt: 2, Completion: 5, Tokens: map[string]int{"small": 2, "large": 3},
		Discarded: 2, Handoffs: 4, Route: "r", Algorithm: "r-stitch"}, s.Summary())
	require.NoError(t, e.Close(t.Context()))

	// What went over: the prompt; back the two tokens written there; 22, the one that the large model had not seen; 33.
	type sent struct {
		to     string
		tokens int
		kept   bool
	}
	var handoffs []sent
	for _, h := range j.handoffs {
		handoffs = append(handoffs, sent{h.To, h.Tokens, h.Kept})
	}
	require.Equal(t, []sent{{"large", 2, false}, {"small", 2, true}, {"large", 1, false}, {"small", 1, true}}, handoffs)

	// Every step is one extend: the return to the small model takes in both tokens and asks for one row.
	type step struct {
		model                   string
		prefill, decode, resume int
	}
	var steps []step
	for _, b := range j.batches {
		require.Equal(t, 1, b.Rows)
		steps = append(steps, step{b.Model, b.Prefill, b.Decode, b.Resume})
	}
	require.Equal(t, []step{
		{"small", 2, 0, 0}, {"large", 2, 0, 0}, {"large", 0, 1, 0}, {"small", 0, 0, 2}, {"small", 0, 1, 0},
		{"large", 0, 0, 2}, // its own 31, which it handed over without extending it, and 22
		{"small", 0, 0, 1},
	}, steps)
}

// A stop string that two models write together ends the answer, and the span at the peer with it.
func TestStopStringAcrossModels(t *testing.T) {
	t.Parallel()
	unsure, sure := float32(4), float32(0)
	small := simrunner.Script{Rows: map[int]router.Row{1: {Token: 16, Entropy: sure}}, Default: router.Row{Token: 99, Entropy: unsure}}
	large := simrunner.Script{Rows: map[int]router.Row{2: {Token: 17, Entropy: unsure}, 3: {Token: 18, Entropy: unsure}},
		Default: router.Row{Token: 16, Entropy: unsure}} // never hands back
	e, err := sched.NewEngine(sched.Options{
		Models: []sched.ModelOptions{
			{Name: "small", Runner: small, Info: small.Info(), Text: text},
			{Name: "large", Runner: large, Info: large.Info(), Text: text},
		},
		Routes: []sched.RouteOptions{{Name: "r", Algorithm: "r-stitch", Models: []string{"small", "large"}}},
	})
	require.NoError(t, err)
	s, err := e.Submit(t.Context(), sched.Request{Target: "r", Prompt: []int32{9}, Stop: []string{"abc"}})
	require.NoError(t, err)
	a := read(t, s)
	require.Empty(t, a.Text, "a by the small model, b and c by the large one")
	require.Equal(t, []int32{16, 17, 18}, a.Tokens)
	require.Equal(t, sched.FinishStop, a.Finish)
	require.Equal(t, map[string]int{"small": 1, "large": 2}, a.summary.Tokens)
	require.NoError(t, e.Close(t.Context()), "Close checks that all pages are free")
}

// A peer ends a request by itself at an end-of-sequence token, and at the last token that is allowed: it takes no step
// more, though the owner's message cannot have come yet.
func TestPeerEndsTheAnswer(t *testing.T) {
	t.Parallel()
	unsure := float32(4)
	for name, c := range map[string]struct {
		request sched.Request
		finish  sched.FinishReason
		tokens  []int32
	}{
		"end of sequence": {sched.Request{}, sched.FinishStop, []int32{17, 17, 2}},
		"length":          {sched.Request{MaxTokens: 2}, sched.FinishLength, []int32{17, 17}},
		"ignored":         {sched.Request{MaxTokens: 4, IgnoreEnd: true}, sched.FinishLength, []int32{17, 17, 2, 17}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			small := simrunner.Script{Default: router.Row{Token: 99, Entropy: unsure}}
			large := simrunner.Script{Rows: map[int]router.Row{3: {Token: 2, Entropy: unsure}}, Default: router.Row{Token: 17, Entropy: unsure}}
			var j journal
			e, err := sched.NewEngine(sched.Options{
				// 2 ends answers of the large model only: in a route the ends of all its models count.
				Models: []sched.ModelOptions{
					{Name: "small", Runner: small, Info: small.Info(1), Text: text},
					{Name: "large", Runner: large, Info: large.Info(2), Text: text},
				},
				Routes:   []sched.RouteOptions{{Name: "r", Algorithm: "r-stitch", Models: []string{"small", "large"}}},
				Observer: j.observer(),
			})
			require.NoError(t, err)
			c.request.Target, c.request.Prompt = "r", []int32{9}
			s, err := e.Submit(t.Context(), c.request)
			require.NoError(t, err)
			a := read(t, s)
			require.Equal(t, c.finish, a.Finish)
			require.Equal(t, c.tokens, a.Tokens)
			require.NoError(t, e.Close(t.Context()))
			require.Len(t, j.batches, 1+len(c.tokens), "one step of the small model and one per token")
		})
	}
}

// Tokens come with the event in which their text is complete.
func TestTokensComeWithTheirText(t *testing.T) {
	t.Parallel()
	// a, b, half an é, its other half, an end-of-sequence token.
	m := simrunner.Script{Rows: map[int]router.Row{1: {Token: 16}, 2: {Token: 17}, 3: {Token: 24}, 4: {Token: 25}, 5: {Token: 1}}}
	e, err := sched.NewEngine(sched.Options{Models: []sched.ModelOptions{{Name: "m", Runner: m, Info: m.Info(1), Text: text}}})
	require.NoError(t, err)
	s, err := e.Submit(t.Context(), sched.Request{Target: "m", Prompt: []int32{9}, Stop: []string{"bx"}})
	require.NoError(t, err)
	type piece struct {
		text   string
		tokens []string
		finish sched.FinishReason
	}
	var got []piece
	for {
		e, err := s.Next(t.Context())
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		p := piece{text: e.Text, finish: e.Finish}
		for _, token := range e.Tokens {
			p.tokens = append(p.tokens, token.Text)
		}
		got = append(got, p)
	}
	require.Equal(t, []piece{
		{"a", []string{"a"}, ""},
		{"bé", []string{"b", "\xc3", "\xa9"}, ""}, // the b might have been the beginning of bx
		{"", []string{"<|1|>"}, sched.FinishStop},
	}, got)
	require.NoError(t, e.Close(t.Context()))
}

// A client that does not read holds up nobody, and finds its whole answer later.
func TestSlowReader(t *testing.T) {
	t.Parallel()
	l := newLab(t, models(), nil)
	defer l.close(t)
	r := sched.Request{Target: "half", Prompt: []int32{9, 9}, MaxTokens: 80, IgnoreEnd: true}
	slow, err := l.engine.Submit(t.Context(), r)
	require.NoError(t, err)
	for range 20 {
		l.ask(t, r)
	}
	require.Equal(t, l.want(t, r), read(t, slow).Answer)
	_, err = slow.Next(t.Context())
	require.Equal(t, io.EOF, err, "for ever")
}

func TestNextGivesUpWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := simrunner.Script{Latency: time.Hour, Default: router.Row{Token: 16}}
		e, err := sched.NewEngine(sched.Options{Models: []sched.ModelOptions{{Name: "m", Runner: m, Info: m.Info(), Text: text}}})
		require.NoError(t, err)
		s, err := e.Submit(t.Context(), sched.Request{Target: "m", Prompt: []int32{9}, MaxTokens: 2})
		require.NoError(t, err)
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errors.New("no patience"))
		defer cancel()
		_, err = s.Next(ctx)
		require.EqualError(t, err, "no patience")
		require.Equal(t, sched.FinishLength, read(t, s).Finish, "the request goes on")
		require.NoError(t, e.Close(t.Context()))
	})
}

// Cancelling ends a request wherever it is: queued, waiting, running or away, by Cancel or by its context.
func TestCancelAnywhere(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, unsureAfter(1), func(o *sched.Options) { o.MaxLive, o.MaxQueue = 2, 9 })
		defer p.close(t)
		ctx, cancel := context.WithCancel(t.Context())
		away, err := p.engine.Submit(ctx, sched.Request{Target: "r", Prompt: []int32{5, 6, 7, 8}, MaxTokens: 9})
		require.NoError(t, err)
		running, queued := p.submit(t, "small", 40), p.submit(t, "small", 40)

		done, stop := context.WithCancel(t.Context())
		stop()
		never, err := p.engine.Submit(done, sched.Request{Target: "small", Prompt: []int32{5}, MaxTokens: 40})
		require.NoError(t, err)
		require.Equal(t, sched.FinishCancelled, read(t, never).Finish, "its context was done before it came")

		time.Sleep(45 * ms) // the first is in a step of the large model, the second in one of the small model
		synctest.Wait()
		snap := p.engine.Snapshot()
		require.Equal(t, 1, snap.Models[0].Pending)
		require.Equal(t, 1, snap.Models[0].Running)
		require.Equal(t, 1, snap.Models[1].Running)
		require.Equal(t, 1, snap.Queue)

		queued.Cancel()
		require.Zero(t, read(t, queued).summary.Completion)
		running.Cancel()
		require.NotZero(t, read(t, running).summary.Completion)
		cancel()
		a := read(t, away)
		require.Equal(t, sched.FinishCancelled, a.Finish)
		require.Equal(t, []int32{21}, a.Tokens)
		away.Cancel() // does nothing

		time.Sleep(100 * ms)
		synctest.Wait()
		for _, m := range p.engine.Snapshot().Models {
			require.Equal(t, m.Pages, m.FreePages)
			require.Zero(t, m.Running+m.Waiting+m.Pending+m.Live)
		}
	})
}

// Two readers of one stream see every event once between them, and both see its end.
func TestTwoReaders(t *testing.T) {
	t.Parallel()
	l := newLab(t, models(), nil)
	defer l.close(t)
	s, err := l.engine.Submit(t.Context(), sched.Request{Target: "small", Prompt: []int32{9}, MaxTokens: 200, IgnoreEnd: true})
	require.NoError(t, err)
	var wg sync.WaitGroup
	counts := make([]int, 2)
	for i := range counts {
		wg.Go(func() {
			for {
				e, err := s.Next(context.Background())
				if err != nil {
					return
				}
				counts[i] += len(e.Tokens)
			}
		})
	}
	wg.Wait()
	require.Equal(t, 200, counts[0]+counts[1])
}
