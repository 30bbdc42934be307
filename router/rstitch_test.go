package router

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRStitchCheck(t *testing.T) {
	t.Parallel()
	value := func(x float64) Params { return Params{Threshold: &x} }
	for _, c := range []struct {
		name   string
		models int
		params Params
		want   string // of the error; "" for none
	}{
		{"default", 2, Params{}, ""},
		{"lowest", 2, value(0), ""},
		{"highest", 2, value(1), ""},
		{"one model", 1, Params{}, "routes between 2 models, not 1"},
		{"three models", 3, Params{}, "routes between 2 models, not 3"},
		{"negative", 2, value(-0.01), "from 0 to 1, not -0.01"},
		{"above one", 2, value(1.5), "from 0 to 1, not 1.5"},
		{"not a number", 2, value(math.NaN()), "from 0 to 1, not NaN"},
		{"infinite", 2, value(math.Inf(1)), "from 0 to 1, not +Inf"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			err := RStitch{}.Check(c.models, c.params)
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.want)
		})
	}
}

// The vocabulary of Qwen2.5 has V = 151,936 ids: ln V = 11.931215, so the default threshold of 0.03 is 0.357936 nats.
// A fair coin has ln 2 = 0.693147 nats: normalised by ln 4 that is exactly one half.
func TestRStitchRoute(t *testing.T) {
	t.Parallel()
	const qwen = 151936
	nan := float32(math.NaN())
	for _, c := range []struct {
		name         string
		vocab        int
		threshold    float64 // negative: not given
		entropy      float32
		small, large Destination
	}{
		{"default, just below", qwen, -1, 0.3579, Stay, 1},
		{"default, just above", qwen, -1, 0.3580, 1, Stay},
		{"certain", qwen, -1, 0, Stay, 1},
		{"even at threshold 0, certainty stays", qwen, 0, 0, Stay, 1},
		{"threshold 0", qwen, 0, 1e-6, 1, Stay},
		{"half", 4, 0.5001, float32(math.Ln2), Stay, 1},
		{"above half", 4, 0.4999, float32(math.Ln2), 1, Stay},
		{"uniform at threshold 1", 4, 1, float32(2*math.Ln2) - 1e-6, Stay, 1},
		{"one id", 1, 0.03, 0, Stay, 1},
		{"not a number goes to the large model and stays there", qwen, 1, nan, 1, Stay},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var p Params
			if c.threshold >= 0 {
				p.Threshold = &c.threshold
			}
			require.NoError(t, RStitch{}.Check(2, p))
			v := View{Models: 2, Vocab: c.vocab, Params: p, Row: Row{Token: 7, Entropy: c.entropy}}
			require.Equal(t, c.small, RStitch{}.Role(0, 2, p).Route(v), "small")
			v.Model = 1
			require.Equal(t, c.large, RStitch{}.Role(1, 2, p).Route(v), "large")
		})
	}
}

// The small model's token is thrown away on a handoff, the large model's is shipped (Algorithm 1).
func TestRStitchKeep(t *testing.T) {
	t.Parallel()
	small, large := RStitch{}.Role(0, 2, Params{}), RStitch{}.Role(1, 2, Params{})
	require.False(t, small.Keep)
	require.True(t, large.Keep)
	for _, r := range []Role{small, large} {
		require.Nil(t, r.Send)
		require.Nil(t, r.Receive)
		require.Equal(t, Needs{}, r.Needs)
	}
}
