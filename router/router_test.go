package router

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPeerOf(t *testing.T) {
	t.Parallel()
	// With models 0, 1, 2 the peers of model 1 are peer 1 = model 0 and peer 2 = model 2 (documentation of Destination).
	for _, c := range []struct {
		self, other int
		want        Destination
	}{
		{0, 0, Stay}, {0, 1, 1}, {0, 2, 2},
		{1, 0, 1}, {1, 1, Stay}, {1, 2, 2},
		{2, 0, 1}, {2, 1, 2}, {2, 2, Stay},
	} {
		require.Equal(t, c.want, PeerOf(c.self, c.other), "from %d to %d", c.self, c.other)
		require.Equal(t, c.other, ModelOf(c.self, c.want), "from %d by %d", c.self, c.want)
	}
}

func TestParamsOverride(t *testing.T) {
	t.Parallel()
	a, b := 0.1, 0.2
	require.Equal(t, 0.1, *Params{Threshold: &a}.Override(Params{}).Threshold)
	require.Equal(t, 0.2, *Params{Threshold: &a}.Override(Params{Threshold: &b}).Threshold)
	require.Equal(t, 0.2, *Params{}.Override(Params{Threshold: &b}).Threshold)
	require.Nil(t, Params{}.Override(Params{}).Threshold)
}

// The log-probability of the sampled token is one number, wherever it is shown, and the list stays in order.
func TestTopLogProbs(t *testing.T) {
	t.Parallel()
	// Logits 8, 7, 7 and 5 of a vocabulary of four: lse = 8 + ln(1 + 2/e + 1/e^3) = 8.579989..., which float32 rounds, so that
	// a difference of float32 numbers has another last digit than the exact one.
	lse := 8 + math.Log(1+2*math.Exp(-1)+math.Exp(-3))
	row := Row{LogSumExp: float32(lse), TopIDs: []int32{4, 2, 9, 7}, TopLogits: []float32{8, 7, 7, 5}}
	for at, token := range row.TopIDs {
		for _, off := range []float64{-1e-6, 0, 1e-6} { // what an engine may be off by
			row.Token, row.LogProb = token, float32(float64(row.TopLogits[at])-lse+off)
			for n := range len(row.TopIDs) + 1 {
				got := row.TopLogProbs(n)
				require.Len(t, got, n)
				if at < n {
					require.Equal(t, row.LogProb, got[at])
				}
				for i := range got {
					require.InDelta(t, float64(row.TopLogits[i])-lse, got[i], 3e-6)
					require.True(t, i == 0 || got[i] <= got[i-1], "%v", got)
				}
			}
		}
	}
	row.Token, row.LogProb = 1, -9 // not among them
	require.Equal(t, []float32{row.TopLogits[0] - row.LogSumExp}, row.TopLogProbs(1))
}

func TestRegistry(t *testing.T) {
	t.Parallel()
	require.Subset(t, Names(), []string{"r-stitch", "single"})
	require.IsIncreasing(t, Names())

	a, err := Lookup("r-stitch")
	require.NoError(t, err)
	require.Equal(t, RStitch{}, a)

	_, err = Lookup("r-stich")
	require.ErrorContains(t, err, `unknown routing algorithm "r-stich"`)
	require.ErrorContains(t, err, "r-stitch, r2r, random, single")

	require.PanicsWithValue(t, `router: algorithm "single" registered twice`, func() { Register(Single{}) })
	require.PanicsWithValue(t, "router: Register of a nil algorithm", func() { Register(nil) })
	require.PanicsWithValue(t, "router: Register of an algorithm without a name", func() { Register(nameless{}) })
}

type nameless struct{ Single }

func (nameless) Name() string { return "" }

func TestSingle(t *testing.T) {
	t.Parallel()
	threshold := 0.5
	require.NoError(t, Single{}.Check(1, Params{}))
	require.ErrorContains(t, Single{}.Check(2, Params{}), "serves one model, not a route of 2")
	require.ErrorContains(t, Single{}.Check(1, Params{Threshold: &threshold}), "takes no threshold (got 0.5)")

	role := Single{}.Role(0, 1, Params{})
	require.Equal(t, Stay, role.Route(View{Models: 1, Vocab: 10, Row: Row{Entropy: float32(math.NaN())}}))
	require.Equal(t, Needs{}, role.Needs)
}
