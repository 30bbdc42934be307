package throughput

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// mix is three models with these weights, apart or on one device.
func mix(n int, shared bool, weights ...float64) System {
	s := System{Requests: n, Shared: shared}
	s.P, s.C = Ensemble(weights...)
	for i := range weights {
		base := float64(int(1) << i)
		s.Latencies = append(s.Latencies, Affine{Base: base, PerRow: base * 0.02})
	}
	return s
}

// Trajectories against the judge, where no chain goes: three models, and a small model that waits.
func TestTrajectoryAgainstJudge(t *testing.T) {
	t.Parallel()
	if racing {
		t.Skip("long, and nothing runs in parallel")
	}
	for _, shared := range []bool{false, true} {
		for _, c := range []struct {
			s System
			b []int
		}{
			{mix(8, shared, 0.5, 0.3, 0.2), []int{1, 1, 1}},
			{mix(8, shared, 0.5, 0.3, 0.2), []int{1, 2, 4}},
			{mix(32, shared, 0.7, 0.2, 0.1), []int{1, 6, 9}},
			{mix(32, shared, 0.7, 0.2, 0.1), []int{20, 20, 20}}, // none is ever met: whoever is nearest starts
			{apart(16, 0.8, 1, 1, 0.02), []int{4, 8}},
			{apart(16, 0.3, 0.5, 4, 0.02), []int{1, 5}},
		} {
			t.Run(fmt.Sprintf("%d models N=%d B=%v shared=%t", len(c.b), c.s.Requests, c.b, shared), func(t *testing.T) {
				t.Parallel()
				c.s.Shared = shared
				j := judge(&c.s, 0.1)
				trajectory := Trajectory{System: &c.s, Visits: 150_000, Jitter: 0.1, Seed: 5}
				got, err := trajectory.Throughput(c.b)
				require.NoError(t, err)
				require.InEpsilon(t, j.Run(c.b, 150_000, 9), got, 0.02) // noise of about 0.5% on either side
				again, err := trajectory.Throughput(c.b)
				require.NoError(t, err)
				require.Equal(t, got, again, "seeded")
			})
		}
	}
}

// The search finds what the judge finds by trying everything, within a percent, and never less than eager.
func TestOptimumAgainstJudge(t *testing.T) {
	t.Parallel()
	if racing {
		t.Skip("long, and nothing runs in parallel")
	}
	for name, s := range map[string]System{
		"asymmetric apart":  apart(8, 0.4, 1, 8, 0.02),
		"symmetric apart":   apart(8, 0.5, 0.9, 8, 0),
		"as slow":           apart(8, 0.8, 1, 1, 0),
		"asymmetric shared": {Requests: 8, Shared: true, P: apart(8, 0.1, 1, 4, 0).P, C: apart(8, 0.1, 1, 4, 0).C, Latencies: []Latency{Affine{Base: 2, PerRow: 0.02}, Affine{Base: 8, PerRow: 0.02}}},
		"three shared":      mix(8, true, 0.8, 0.1, 0.1),
		"three apart":       mix(8, false, 0.5, 0.3, 0.2),
		"many":              apart(48, 0.2, 1, 8, 0.02),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, err := s.Optimum()
			require.NoError(t, err)
			ask := func(b []int) float64 {
				j := judge(&s, 0.1)
				return (j.Run(b, 100_000, 1) + j.Run(b, 100_000, 2)) / 2
			}
			found := ask(o.Best.Thresholds)
			require.InEpsilon(t, found, o.Best.Throughput, 0.03)
			require.GreaterOrEqual(t, found, 0.99*ask(o.Eager.Thresholds))
			best := 0.0
			for _, b := range candidates(s.Requests) {
				best = max(best, ask(s.last(b)))
			}
			require.GreaterOrEqual(t, found, 0.985*best, "found %v", o.Best.Thresholds)
			for i, p := range o.Curve {
				require.True(t, i == 0 || p.Thresholds[1] > o.Curve[i-1].Thresholds[1])
			}
			if len(o.Curve) > 0 {
				require.Less(t, slices.MaxFunc(o.Curve, worse).Throughput, o.Best.Throughput*(1+Adopt)+1e-9)
			}
		})
	}
}
