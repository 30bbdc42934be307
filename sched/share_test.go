package sched_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tokenrouter/tokenrouter/router"
	"github.com/tokenrouter/tokenrouter/sched"
)

// A share is reached within two points over 4,000 tokens: visits of one token, spans, and whole answers. The route's
// threshold is overridden; one request after another gives the same again in another engine.
func TestLargeShare(t *testing.T) {
	t.Parallel()
	for _, target := range []string{"nats", "half", "query"} {
		for _, share := range []float64{0, 0.15, 0.4, 1} {
			var before []int32
			for range 2 {
				l := newLab(t, models(), nil)
				var tokens []int32
				large, all := 0, 0
				for i := range 100 {
					a := l.ask(t, sched.Request{Target: target, Prompt: []int32{int32(i), 6}, MaxTokens: 40, IgnoreEnd: true,
						Params: router.Params{LargeShare: ptr(share)}})
					require.NoError(t, a.err)
					tokens = append(tokens, a.Tokens...)
					large, all = large+a.summary.Tokens["large"], all+len(a.Tokens)
				}
				l.close(t)
				require.Equal(t, 4000, all)
				within := 0.02
				if target == "query" && share > 0 && share < 1 {
					within = 0.15 // 100 answers, of which the first 31 go by the standard threshold: four standard deviations
				}
				require.InDelta(t, share, float64(large)/float64(all), within, "%s, share %g", target, share)
				if before != nil {
					require.Equal(t, before, tokens)
				}
				before = tokens
			}
		}
	}
}

// Requests of all kinds at once, some of which are cancelled: shares are a bias, not a fault, and the books stay right.
func TestLargeShareAtOnce(t *testing.T) {
	t.Parallel()
	l := newLab(t, models(), nil)
	defer l.close(t)
	var streams []*sched.Stream
	for i := range 200 {
		s, err := l.engine.Submit(t.Context(), sched.Request{Target: []string{"nats", "half", "query"}[i%3], Prompt: []int32{int32(i), 6}, MaxTokens: 60,
			IgnoreEnd: true, Params: router.Params{LargeShare: ptr(0.3)}})
		require.NoError(t, err)
		if i%5 == 0 {
			s.Cancel()
		}
		streams = append(streams, s)
	}
	large, all := 0, 0
	for i, s := range streams {
		a, err := collect(s)
		require.NoError(t, err)
		require.NoError(t, a.err)
		if i%3 == 0 {
			large, all = large+a.summary.Tokens["large"], all+len(a.Tokens)
		}
	}
	require.InDelta(t, 0.3, float64(large)/float64(all), 0.02)

	_, err := l.engine.Submit(t.Context(), sched.Request{Target: "nats", Prompt: []int32{1}, Params: router.Params{LargeShare: ptr(2.)}})
	require.ErrorIs(t, err, sched.ErrInvalid)
	_, err = l.engine.Submit(t.Context(), sched.Request{Target: "dice", Prompt: []int32{1}, Params: router.Params{LargeShare: ptr(0.2)}})
	require.ErrorContains(t, err, "compares no score")
}
