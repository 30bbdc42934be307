package router

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// The rule of each learned algorithm at, below and above its threshold, as its paper and published code state it: R2R includes
// the threshold, CITER keeps a token at it, Co-LLM defers strictly above it.
func TestLearnedRules(t *testing.T) {
	logit := func(p float64) float32 { return float32(math.Log(p / (1 - p))) }
	half := 0.5 // the logistic function of 0, exactly
	for _, c := range []struct {
		name              string
		low, at, high     Destination // for probabilities below, at and above the threshold
		needs             Needs
		lowest, highest   float64 // probabilities on either side of the standard threshold
		lowGoes, highGoes Destination
	}{
		{CITERName, 1, Stay, Stay, Needs{Head: true}, 0.97, 0.99, 1, Stay},
		{R2RName, Stay, 1, 1, Needs{Head: true, Top: 100}, 0.49, 0.51, Stay, 1},
		{CoLLMName, Stay, Stay, 1, Needs{Head: true}, 0.14, 0.16, Stay, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, err := Lookup(c.name)
			require.NoError(t, err)
			require.Equal(t, c.name, a.Name())
			role := a.Role(0, 2, Params{Threshold: &half})
			require.Equal(t, c.needs, role.Needs)
			require.False(t, role.Keep)
			route := func(r Role, logit float32) Destination {
				return r.Route(View{Models: 2, Tokens: []int32{1}, Row: Row{HeadLogit: logit}})
			}
			require.Equal(t, c.low, route(role, logit(0.4)))
			require.Equal(t, c.at, route(role, 0))
			require.Equal(t, c.high, route(role, logit(0.6)))
			require.Equal(t, Destination(1), route(role, float32(math.NaN())))

			standard := a.Role(0, 2, Params{})
			require.Equal(t, c.lowGoes, route(standard, logit(c.lowest)))
			require.Equal(t, c.highGoes, route(standard, logit(c.highest)))

			large := a.Role(1, 2, Params{})
			require.Equal(t, Needs{}, large.Needs)
			require.True(t, large.Keep)
			require.Equal(t, PeerOf(1, 0), large.Route(View{Model: 1, Models: 2}))
		})
	}
}

func TestLearnedCheck(t *testing.T) {
	for _, name := range []string{CITERName, R2RName, CoLLMName} {
		a, err := Lookup(name)
		require.NoError(t, err)
		require.NoError(t, a.Check(2, Params{}))
		require.ErrorContains(t, a.Check(3, Params{}), "routes between 2 models, not 3")
		for _, bad := range []float64{-0.1, 1.1, math.NaN()} {
			require.ErrorContains(t, a.Check(2, Params{Threshold: &bad}), "threshold is a probability")
		}
	}
}
