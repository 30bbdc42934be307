package router

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRandomCheck(t *testing.T) {
	t.Parallel()
	value := func(x float64) Params { return Params{Threshold: &x} }
	for _, c := range []struct {
		name   string
		models int
		params Params
		want   string // of the error; "" for none
	}{
		{"default", 2, Params{}, ""},
		{"none", 2, value(0), ""},
		{"all", 2, value(1), ""},
		{"one model", 1, Params{}, "routes between 2 models, not 1"},
		{"negative", 2, value(-0.01), "from 0 to 1, not -0.01"},
		{"above one", 2, value(1.5), "from 0 to 1, not 1.5"},
		{"not a number", 2, value(math.NaN()), "from 0 to 1, not NaN"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			err := Random{}.Check(c.models, c.params)
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestRandomRoute(t *testing.T) {
	t.Parallel()
	const n = 20000
	for _, share := range []float64{0, 0.1, 0.3, 1} {
		small, large := Random{}.Role(0, 2, Params{Threshold: &share}), Random{}.Role(1, 2, Params{Threshold: &share})
		require.False(t, small.Keep)
		require.True(t, large.Keep)
		require.Equal(t, PeerOf(1, 0), large.Route(View{Model: 1}))
		routed := 0
		for i := range n {
			v := View{Tokens: make([]int32, i), Seed: 5}
			to := small.Route(v)
			v.Row.Token, v.Row.Entropy = 7, 3
			require.Equal(t, to, small.Route(v), "what the model says changes nothing")
			routed += int(to)
		}
		require.InDelta(t, share, float64(routed)/n, 5*math.Sqrt(share*(1-share)/n)) // five standard deviations
	}
}
