package sched_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tokenrouter/tokenrouter/router"
	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/sched/simrunner"
)

const ms = time.Millisecond

// pair is an engine on two scripted models, each on a device of its own: steps of 10 ms and 40 ms. The small one is unsure
// about every token unless sure says otherwise, so every token is written by the large one, which hands back at once.
type pair struct {
	engine  *sched.Engine
	journal journal
	start   time.Time
	context context.Context
}

func newPair(t *testing.T, small simrunner.Script, adjust func(*sched.Options)) *pair {
	t.Helper()
	p := &pair{start: time.Now()}
	small.Latency = 10 * ms
	large := simrunner.Script{Default: router.Row{Token: 30, Entropy: 0}, Latency: 40 * ms}
	o := sched.Options{
		Models: []sched.ModelOptions{
			{Name: "small", Runner: small, Info: small.Info(1), Text: text, Device: "a"},
			{Name: "large", Runner: large, Info: large.Info(1), Text: text, Device: "b"},
		},
		Routes:   []sched.RouteOptions{{Name: "r", Algorithm: "r-stitch", Models: []string{"small", "large"}}},
		Policy:   sched.Lazy,
		Observer: p.journal.observer(),
	}
	adjust(&o)
	e, err := sched.NewEngine(o)
	require.NoError(t, err)
	p.engine = e
	return p
}

func (p *pair) submit(t *testing.T, target string, tokens int) *sched.Stream {
	t.Helper()
	s, err := p.engine.Submit(context.Background(), sched.Request{Target: target, Prompt: []int32{5, 6, 7, 8}, MaxTokens: tokens})
	require.NoError(t, err)
	return s
}

// launch is a batch as seen from the start of the test.
type launch struct {
	at   time.Duration
	size int
}

func (p *pair) launches(model string) (out []launch) {
	for _, b := range p.journal.batches {
		if b.Model == model {
			out = append(out, launch{b.Start.Sub(p.start), b.Segments})
		}
	}
	return out
}

func (p *pair) close(t *testing.T) {
	t.Helper()
	require.NoError(t, p.engine.Close(context.Background()))
}

// unsureAfter is a small model that writes its first n tokens after the prompt of 4 itself and is unsure from then on.
func unsureAfter(n int) simrunner.Script {
	s := simrunner.Script{Default: router.Row{Token: 20, Entropy: 4}, Rows: map[int]router.Row{}}
	for i := range n {
		s.Rows[4+i] = router.Row{Token: 21, Entropy: 0}
	}
	return s
}

// With B = 2 the large model waits for two requests: the first one that comes waits for the second.
func TestLazyWaitsForTheThreshold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, unsureAfter(1), func(o *sched.Options) { o.Models[1].Threshold = 2 })
		defer p.close(t)
		a := p.submit(t, "r", 2)
		time.Sleep(5 * ms) // b's prefill starts when a's has ended, at 10
		b := p.submit(t, "r", 2)
		_, _ = read(t, a), read(t, b)
		// small: a 0-10 (token 1), {a, b} 10-20 (a: unsure, away at 20; b: token 1), b 20-30 (unsure, away at 30).
		require.Equal(t, []launch{{0, 1}, {10 * ms, 2}, {20 * ms, 1}}, p.launches("small"))
		require.Equal(t, []launch{{30 * ms, 2}}, p.launches("large"))
	})
}

// The same without lazy batching: the large model takes each as it comes.
func TestEagerDoesNotWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, unsureAfter(1), func(o *sched.Options) {
			o.Policy = sched.Eager
			o.Models[1].Threshold = 2 // is for lazy only
		})
		defer p.close(t)
		a := p.submit(t, "r", 2)
		time.Sleep(5 * ms)
		b := p.submit(t, "r", 2)
		_, _ = read(t, a), read(t, b)
		require.Equal(t, []launch{{20 * ms, 1}, {60 * ms, 1}}, p.launches("large"))
	})
}

// A request that has no token yet waits for no threshold, at no model.
func TestFirstTokenNeverWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, unsureAfter(0), func(o *sched.Options) { o.Models[0].Threshold, o.Models[1].Threshold = 9, 9 })
		defer p.close(t)
		busy := p.submit(t, "small", 40) // keeps the small model busy, so that nothing is quiescent
		other := p.submit(t, "r", 1)
		_, _ = read(t, busy), read(t, other)
		require.Equal(t, launch{10 * ms, 1}, p.launches("large")[0])
	})
}

// Below the threshold a request waits at most MaxWait, counted from when it came. Without a bound it waits until it is
// the only one left: then the threshold falls to one.
func TestMaxWait(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ wait, start time.Duration }{
		{33 * ms, 63 * ms}, // comes at 30
		{0, 400 * ms},      // the other request ends after 40 steps
	} {
		synctest.Test(t, func(t *testing.T) {
			p := newPair(t, unsureAfter(1), func(o *sched.Options) { o.Models[1].Threshold, o.Models[1].MaxWait = 2, c.wait })
			defer p.close(t)
			keeper, err := p.engine.Submit(context.Background(), sched.Request{Target: "r", Prompt: []int32{5, 6, 7, 8}, MaxTokens: 40,
				Params: router.Params{Threshold: ptr(1.0)}}) // never leaves the small model, but counts as live at the large one
			require.NoError(t, err)
			time.Sleep(5 * ms)
			other := p.submit(t, "r", 2) // 10-20: its first token; 20-30: unsure
			_, _ = read(t, other), read(t, keeper)
			require.Equal(t, []launch{{c.start, 1}}, p.launches("large"))
		})
	}
}

// A threshold counts for no more than there are live requests.
func TestThresholdIsClippedToLive(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, unsureAfter(1), func(o *sched.Options) { o.Models[1].Threshold = 8 })
		defer p.close(t)
		busy := p.submit(t, "small", 40) // not of the route: does not count at the large model
		other := p.submit(t, "r", 2)
		_, _ = read(t, busy), read(t, other)
		require.Equal(t, []launch{{20 * ms, 1}}, p.launches("large"))
	})
}

// When nothing runs and nothing is on its way, what waits must start, whatever the thresholds.
func TestQuiescenceStarts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		// Three live requests, B = 3 at the large model. Two of them are away there; the third waits at the small model,
		// which waits for three, too.
		p := newPair(t, unsureAfter(1), func(o *sched.Options) { o.Models[0].Threshold, o.Models[1].Threshold = 3, 3 })
		defer p.close(t)
		a, b := p.submit(t, "r", 2), p.submit(t, "r", 3)
		c, err := p.engine.Submit(context.Background(), sched.Request{Target: "r", Prompt: []int32{5}, MaxTokens: 9,
			Params: router.Params{Threshold: ptr(1.0)}}) // never leaves the small model
		require.NoError(t, err)
		_, _, _ = read(t, a), read(t, b), read(t, c)
		require.Equal(t, 2, p.launches("large")[0].size)
	})
}
