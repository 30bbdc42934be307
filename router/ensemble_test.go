package router

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEnsembleCheck(t *testing.T) {
	t.Parallel()
	half := 0.5
	for name, c := range map[string]struct {
		models int
		params Params
		want   string // of the error; "" for none
	}{
		"default":       {2, Params{}, ""},
		"three":         {3, Params{Weights: []float64{5, 3, 2}}, ""},
		"one has all":   {3, Params{Weights: []float64{0, 0, 1}}, ""},
		"one model":     {1, Params{}, "needs 2 models or more, not 1"},
		"too few":       {3, Params{Weights: []float64{1, 1}}, "2 weights for 3 models"},
		"empty":         {2, Params{Weights: []float64{}}, "0 weights for 2 models"},
		"negative":      {2, Params{Weights: []float64{1, -1}}, "weight 1 is -1: weights are 0 or more"},
		"not a number":  {2, Params{Weights: []float64{math.NaN(), 1}}, "weight 0 is NaN"},
		"nothing":       {2, Params{Weights: []float64{0, 0}}, "add up to 0"},
		"infinite":      {2, Params{Weights: []float64{math.Inf(1), 1}}, "add up to +Inf"},
		"overflow":      {2, Params{Weights: []float64{math.MaxFloat64, math.MaxFloat64}}, "add up to +Inf"},
		"threshold":     {2, Params{Threshold: &half}, "takes no threshold (got 0.5)"},
		"with strategy": {2, Params{Strategy: "x"}, `has no strategies (got "x")`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := Ensemble{}.Check(c.models, c.params)
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.want)
		})
	}
}

// The shares of 20,000 draws match the weights: over the positions of one answer, and over the first tokens of 20,000 requests
// (other seeds, and other choices of one call). Pearson's chi-square has 2 degrees of freedom; by chance it is above 18.4 once in
// 10,000 (its tail is exp(-x/2)).
func TestEnsembleShares(t *testing.T) {
	t.Parallel()
	const n = 20000
	weights := []float64{5, 3, 2}
	role := func(model int) Role { return Ensemble{}.Role(model, 3, Params{Weights: weights}) }
	require.True(t, role(0).Keep)
	tokens := make([]int32, n+10)
	view := func(model, length int, seed uint64, choice uint32) View {
		return View{Model: model, Models: 3, Tokens: tokens[:length], Seed: seed, Choice: choice}
	}
	for name, draw := range map[string]func(i int) int{
		"positions": func(i int) int {
			next := ModelOf(1, role(1).Route(view(1, i, 7, 0)))
			require.Equal(t, next, ModelOf(2, role(2).Route(view(2, i, 7, 0))), "whoever asks")
			return next
		},
		"first tokens by seed":   func(i int) int { return role(0).Start(view(0, 5, uint64(i), 0)) },
		"first tokens by choice": func(i int) int { return role(0).Start(view(0, 5, 7, uint32(i))) },
	} {
		var counts [3]float64
		for i := range n {
			counts[draw(i)]++
		}
		chi := 0.0
		for i, w := range weights {
			want := n * w / 10
			chi += (counts[i] - want) * (counts[i] - want) / want
		}
		require.Less(t, chi, 18.4, "%s: %v", name, counts)
	}
	require.Equal(t, role(0).Start(view(0, 6, 3, 1)), ModelOf(0, role(0).Route(view(0, 5, 3, 1))), "a position has one draw")
	for only := range 3 {
		all := make([]float64, 3)
		all[only] = 0.1
		r := Ensemble{}.Role(0, 3, Params{Weights: all})
		for i := range 1000 {
			require.Equal(t, only, r.Start(view(0, i, 1, 0)))
		}
	}
}
