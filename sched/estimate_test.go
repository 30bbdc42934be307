package sched

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func seconds(x float64) time.Duration { return time.Duration(x * float64(time.Second)) }

// A latency is found again from steps that vary by a tenth, with a profile and without.
func TestLatencyEstimate(t *testing.T) {
	t.Parallel()
	for _, profiled := range []bool{false, true} {
		rng := rand.New(rand.NewPCG(1, 2))
		truth := func(n, rows int) float64 { return 0.008 + 0.0001*float64(n) + 0.00002*float64(rows) }
		o := observed{moves: make([]float64, 2), commits: make([]float64, 2)}
		if profiled {
			for _, n := range []int{1, 2, 4, 8, 16} {
				o.profile = append(o.profile, shapeOf(n, n, seconds(truth(n, n))), shapeOf(n, 8*n, seconds(truth(n, 8*n))))
			}
		}
		for range 1000 {
			n := 1 + rng.IntN(16)
			rows := n * (1 + rng.IntN(20))
			o.step(n, rows, seconds(truth(n, rows)*(1+0.1*rng.NormFloat64())))
			if rng.IntN(50) == 0 {
				o.step(n, rows, time.Second) // something else took the processor
			}
		}
		got, ok := o.latency()
		require.True(t, ok)
		for _, n := range []int{1, 8, 16} {
			require.InEpsilon(t, truth(n, 10*n), got.Step(float64(n), float64(10*n)), 0.05)
		}

		// It becomes twice as slow, while all steps are alike: the profile tells what part of it is the step's own.
		for range 1000 {
			o.step(10, 100, seconds(2*truth(10, 100)*(1+0.1*rng.NormFloat64())))
		}
		got, _ = o.latency()
		require.InEpsilon(t, 2*truth(10, 100), got.Step(10, 100), 0.05)
		if profiled {
			require.InEpsilon(t, 2*truth(2, 2), got.Step(2, 2), 0.1)
		}
		// And ten times, all at once.
		for range 100 {
			o.step(10, 100, seconds(20*truth(10, 100)))
		}
		got, _ = o.latency()
		require.InEpsilon(t, 20*truth(10, 100), got.Step(10, 100), 0.05)
	}
}

// Shares of handoffs are found, and followed when they change.
func TestShareEstimate(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	o := observed{moves: make([]float64, 2), commits: make([]float64, 2)}
	require.False(t, o.enough())
	for _, p := range []float64{0.1, 0.3, 0.02} {
		for range 3000 {
			for range 8 {
				away := rng.Float64() < p
				o.routed(map[bool]int{false: 0, true: 1}[away], map[bool]int{false: 1, true: 0}[away])
			}
			o.age(8, 0)
		}
		share := o.moves[1] / (o.moves[0] + o.moves[1])
		require.InEpsilon(t, p, share, 0.35) // three standard deviations: it remembers what knows p to a tenth
		require.True(t, o.enough())
		require.InDelta(t, o.moves[0], o.commits[0], 1e-9)
		require.Zero(t, o.commits[1])
	}
}

func TestNonNegative(t *testing.T) {
	t.Parallel()
	// y = 3 - x, where no coefficient may be negative: the mean is the best.
	var xx [3][3]float64
	var xy [3]float64
	for _, x := range []float64{0, 1, 2} {
		v, y := [3]float64{1, x, 0}, 3-x
		for i := range v {
			for j := range v {
				xx[i][j] += v[i] * v[j]
			}
			xy[i] += v[i] * y
		}
	}
	require.Equal(t, [3]float64{2, 0, 0}, nonNegative(xx, xy))
}
