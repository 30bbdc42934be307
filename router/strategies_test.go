package router

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStrategyChecks(t *testing.T) {
	t.Parallel()
	value := func(strategy string, x float64) Params { return Params{Strategy: strategy, Threshold: &x} }
	for name, c := range map[string]struct {
		algorithm Algorithm
		models    int
		params    Params
		want      string // of the error; "" for none
	}{
		"r2r neural":            {lookup(t, R2RName), 2, value("neural", 0.5), ""},
		"r2r neural high":       {lookup(t, R2RName), 2, value("", 1.5), "threshold is a probability, from 0 to 1, not 1.5"},
		"r2r entropy":           {lookup(t, R2RName), 2, value("entropy", 1.5), ""},
		"r2r entropy negative":  {lookup(t, R2RName), 2, value("entropy", -1), "an entropy in nats, 0 or more, not -1"},
		"r2r entropy infinite":  {lookup(t, R2RName), 2, value("entropy", math.Inf(1)), "0 or more, not +Inf"},
		"r2r random":            {lookup(t, R2RName), 2, value("random", 1.5), "from 0 to 1, not 1.5"},
		"r2r unknown":           {lookup(t, R2RName), 2, Params{Strategy: "momentum"}, `has no strategy "momentum": it has neural, entropy, random`},
		"r2r three":             {lookup(t, R2RName), 3, Params{Strategy: "entropy"}, "routes between 2 models, not 3"},
		"r2r weights":           {lookup(t, R2RName), 2, Params{Weights: []float64{1, 1}}, "takes no weights"},
		"co-llm defer":          {lookup(t, CoLLMName), 2, Params{Strategy: "defer"}, ""},
		"co-llm compose":        {lookup(t, CoLLMName), 2, Params{Strategy: "compose"}, `the strategy "compose" mixes the distributions`},
		"co-llm unknown":        {lookup(t, CoLLMName), 2, Params{Strategy: "x"}, `has no strategy "x"`},
		"citer":                 {lookup(t, CITERName), 2, Params{Strategy: "entropy"}, "has no strategies"},
		"single":                {Single{}, 1, Params{Weights: []float64{1}}, "takes no weights"},
		"query":                 {Query{}, 2, Params{}, ""},
		"query three":           {Query{}, 3, Params{}, "routes between 2 models, not 3"},
		"query entropy":         {Query{}, 2, value("entropy", 1.1), "a normalised entropy, from 0 to 1, not 1.1"},
		"query logprob":         {Query{}, 2, value("logprob", -3), ""},
		"query logprob above":   {Query{}, 2, value("logprob", 0.1), "a log-probability, 0 or less, not 0.1"},
		"query logprob nothing": {Query{}, 2, value("logprob", math.NaN()), "not NaN"},
		"query head":            {Query{}, 2, value("head", 2), "a probability, from 0 to 1, not 2"},
		"query random":          {Query{}, 2, value("random", -1), "the share of answers"},
		"query unknown":         {Query{}, 2, Params{Strategy: "length"}, "it has entropy, logprob, head, random"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := c.algorithm.Check(c.models, c.params)
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.want)
		})
	}
}

func lookup(t *testing.T, name string) Algorithm {
	t.Helper()
	a, err := Lookup(name)
	require.NoError(t, err)
	return a
}

// R2R's published defaults: entropy in nats, the large model at 0.45 and above.
func TestR2RStrategies(t *testing.T) {
	t.Parallel()
	r2r := lookup(t, R2RName)
	entropy := r2r.Role(0, 2, Params{Strategy: "entropy"})
	require.Equal(t, Needs{}, entropy.Needs, "no head")
	for h, want := range map[float32]Destination{0: Stay, 0.44: Stay, 0.46: 1, 9: 1, float32(math.NaN()): 1} {
		require.Equal(t, want, entropy.Route(View{Row: Row{Entropy: h}}), "%g nats", h)
	}
	half := 0.5
	at := r2r.Role(0, 2, Params{Strategy: "entropy", Threshold: &half})
	require.Equal(t, Destination(1), at.Route(View{Row: Row{Entropy: 0.5}}), "at the threshold")

	random, same := r2r.Role(0, 2, Params{Strategy: "random", Threshold: &half}), Random{}.Role(0, 2, Params{Threshold: &half})
	for i := range 100 {
		v := View{Tokens: make([]int32, i), Seed: 3}
		require.Equal(t, same.Route(v), random.Route(v))
	}
	for _, strategy := range []string{"entropy", "random"} {
		back := r2r.Role(1, 2, Params{Strategy: strategy})
		require.True(t, back.Keep)
		require.Equal(t, PeerOf(1, 0), back.Route(View{Model: 1}))
	}
}

func TestQueryRoutes(t *testing.T) {
	t.Parallel()
	// V = 1000: ln V = 6.908, so the default threshold of 0.03 is 0.207 nats.
	row := func(strategy string, r Row) Destination {
		return Query{}.Role(0, 2, Params{Strategy: strategy}).Route(View{Vocab: 1000, Tokens: make([]int32, 4), Prompt: 4, Row: r})
	}
	nan := float32(math.NaN())
	require.Equal(t, Stay, row("", Row{Entropy: 0.20}))
	require.Equal(t, Destination(1), row("", Row{Entropy: 0.21}))
	require.Equal(t, Destination(1), row("entropy", Row{Entropy: nan}))
	require.Equal(t, Stay, row("logprob", Row{TopLogits: []float32{9.4}, LogSumExp: 10}), "exp(-0.6) is above a half")
	require.Equal(t, Destination(1), row("logprob", Row{TopLogits: []float32{9.2}, LogSumExp: 10}))
	require.Equal(t, Destination(1), row("logprob", Row{TopLogits: []float32{nan}, LogSumExp: 10}))
	require.Equal(t, Destination(1), row("head", Row{HeadLogit: 0.1}))
	require.Equal(t, Stay, row("head", Row{HeadLogit: -0.1}))
	require.Equal(t, Destination(1), row("head", Row{HeadLogit: nan}))

	small, large := Query{}.Role(0, 2, Params{}), Query{}.Role(1, 2, Params{})
	require.Equal(t, Stay, small.Route(View{Vocab: 1000, Tokens: make([]int32, 5), Prompt: 4, Row: Row{Entropy: 5}}), "once an answer")
	require.Equal(t, Stay, large.Route(View{Model: 1, Vocab: 1000, Row: Row{Entropy: 0}}))

	// A share of the answers, drawn before anything is read: within five standard deviations of 20,000 draws.
	const n, share = 20000, 0.3
	threshold := share
	random := Query{}.Role(0, 2, Params{Strategy: "random", Threshold: &threshold})
	count := 0
	for i := range n {
		count += random.Start(View{Tokens: make([]int32, 4), Prompt: 4, Seed: uint64(i)})
	}
	require.InDelta(t, share, float64(count)/n, 5*math.Sqrt(share*(1-share)/n))
	require.Equal(t, Stay, random.Route(View{Vocab: 1000, Tokens: make([]int32, 4), Prompt: 4, Row: Row{Entropy: 9}}))
}

func TestOverrideStrategyAndWeights(t *testing.T) {
	t.Parallel()
	half := 0.5
	p := Params{Strategy: "entropy", Threshold: &half, Weights: []float64{1, 2}}
	require.Equal(t, p, p.Override(Params{}))
	require.Equal(t, p, p.Override(Params{Strategy: "entropy"}))
	require.Equal(t, Params{Strategy: "random", Weights: []float64{1, 2}}, p.Override(Params{Strategy: "random"}), "thresholds are a strategy's")
	require.Equal(t, []float64{3, 4}, p.Override(Params{Weights: []float64{3, 4}}).Weights)
}
