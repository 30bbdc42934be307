package router

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Scores of a known distribution: after 2,000 tokens the share that was asked for is reached within two points, whichever side of
// the threshold is the large model's, also where half of all scores are equal, and where the distribution changes on the way.
func TestCalibratorReachesShares(t *testing.T) {
	t.Parallel()
	const n = 2000
	for name, score := range map[string]func(rng *rand.Rand, i int) float64{
		"uniform":  func(rng *rand.Rand, _ int) float64 { return rng.Float64() },
		"skewed":   func(rng *rand.Rand, _ int) float64 { return math.Pow(rng.Float64(), 8) },
		"half 0":   func(rng *rand.Rand, _ int) float64 { return max(0, rng.Float64()-0.5) },
		"shifting": func(rng *rand.Rand, i int) float64 { return rng.Float64() + float64(i)/(2*n) }, // by half its width
	} {
		for _, share := range []float64{0, 0.05, 0.15, 0.5, 0.9, 1} {
			for _, low := range []bool{false, true} {
				c, again := NewCalibrator(), NewCalibrator()
				rng := rand.New(rand.NewPCG(1, 2))
				large := 0
				for i := range n {
					x := score(rng, i)
					c.Seen(x)
					again.Seen(x)
					threshold, ok := c.Threshold(share, low)
					same, _ := again.Threshold(share, low)
					require.Equal(t, threshold, same, "the same scores give the same thresholds")
					require.Equal(t, ok, share == 0 || share == 1 || i >= calibratorLeast-1)
					wrote := 0
					if ok && (x > threshold) != low {
						wrote = 1
					}
					c.Wrote(share, wrote, 1-wrote)
					again.Wrote(share, wrote, 1-wrote)
					large += wrote
				}
				require.InDelta(t, share, float64(large)/n, 0.02, "%s, share %g, low %v", name, share, low)
			}
		}
	}
}

// By hand: of the scores 1 to 100 a quarter is above 75.5, and a quarter below 25.5; what lacks shifts that.
func TestCalibratorQuantiles(t *testing.T) {
	t.Parallel()
	c := NewCalibrator()
	for i := range 100 {
		c.Seen(float64(100 - i))
	}
	c.Seen(math.NaN())
	at := func(share float64, low bool) float64 {
		x, ok := c.Threshold(share, low)
		require.True(t, ok)
		return x
	}
	require.Equal(t, 75.5, at(0.25, false))
	require.Equal(t, 25.5, at(0.25, true))
	c.Wrote(0.25, 0, 256) // 64 tokens too few: a quarter of the correction's unit
	require.Equal(t, 50.5, at(0.25, false))
	require.Equal(t, 50.5, at(0.2501, false), "shares are told apart to a thousandth")
	require.Equal(t, 80.5, at(0.2, false), "another share is another account")
	c.Wrote(0.25, 256*100, 0)
	require.Equal(t, math.Inf(1), at(0.25, false), "far too many: none")
	for i := range calibratorMemory { // those before are forgotten
		c.Seen(1000 + float64(i))
	}
	require.Equal(t, 1255.5, at(0.5, false))
}

func TestCheckShare(t *testing.T) {
	t.Parallel()
	half, more := 0.5, 1.5
	nan := math.NaN()
	for name, c := range map[string]struct {
		algorithm string
		params    Params
		want, who string
	}{
		"r-stitch":     {RStitchName, Params{LargeShare: &half}, "", ""},
		"citer":        {CITERName, Params{LargeShare: &half}, "", ""},
		"r2r":          {R2RName, Params{LargeShare: &half}, "", ""},
		"entropy":      {R2RName, Params{LargeShare: &half, Strategy: "entropy"}, "", ""},
		"query":        {QueryName, Params{LargeShare: &half}, "", ""},
		"above":        {RStitchName, Params{LargeShare: &more}, "from 0 to 1, not 1.5", "large_share"},
		"no number":    {RStitchName, Params{LargeShare: &nan}, "from 0 to 1, not NaN", "large_share"},
		"both":         {RStitchName, Params{LargeShare: &half, Threshold: &half}, "give one of them", "large_share"},
		"random":       {RandomName, Params{LargeShare: &half}, "compares no score", "large_share"},
		"r2r random":   {R2RName, Params{LargeShare: &half, Strategy: "random"}, "compares no score", "large_share"},
		"ensemble":     {EnsembleName, Params{LargeShare: &half}, "compares no score", "large_share"},
		"query random": {QueryName, Params{LargeShare: &half, Strategy: "random"}, "compares no score", "large_share"},
		"threshold":    {RStitchName, Params{Threshold: &more}, "from 0 to 1, not 1.5", "threshold"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := lookup(t, c.algorithm)
			err := Check(a, 2, c.params)
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.want)
			require.Equal(t, c.who, Culprit(a, 2, c.params))
		})
	}
	require.Equal(t, Params{LargeShare: &half}, Params{Threshold: &more}.Override(Params{LargeShare: &half}), "one takes the place of the other")
	require.Equal(t, Params{Threshold: &half}, Params{LargeShare: &more}.Override(Params{Threshold: &half}))
}

// Which side of the score is the large model's, and that the threshold of a share takes the place of the one given.
func TestScores(t *testing.T) {
	t.Parallel()
	for name, low := range map[string]bool{CITERName: true, R2RName: false, CoLLMName: false, RStitchName: false, QueryName: false} {
		role := lookup(t, name).Role(0, 2, Params{})
		require.Equal(t, low, role.Score.Low, name)
		v := View{Models: 2, Vocab: 1000, Tokens: []int32{1}, Prompt: 1, Row: Row{Entropy: 3}}
		for _, off := range []float64{-0.01, 0.01} {
			at := role.Score.Of(v) + off
			v.Threshold = &at
			require.Equal(t, (off < 0) != low, role.Route(v) == 1, "%s %g", name, off)
		}
	}
	once := Query{}.Role(0, 2, Params{}).Score
	require.True(t, once.Answers)
	require.True(t, math.IsNaN(once.Of(View{Vocab: 10, Tokens: []int32{1, 2}, Prompt: 1})))
}
