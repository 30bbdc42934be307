package throughput

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// Steps that run side by side on one device, between not getting in each other's way at all and taking turns.
func TestStretchAgainstJudge(t *testing.T) {
	t.Parallel()
	visits := 150_000
	if racing {
		visits = 20_000
	}
	for _, stretch := range [][]float64{{1, 1}, {1.3, 1.1}, {2, 2}, {1, 3}} {
		for _, b := range [][]int{{1, 1}, {1, 5}} {
			t.Run(fmt.Sprint(stretch, b), func(t *testing.T) {
				t.Parallel()
				s := apart(16, 0.3, 1, 4, 0.02)
				s.Stretch = stretch
				got, err := (&Trajectory{System: &s, Visits: visits, Jitter: 0.1, Seed: 5}).Throughput(b)
				require.NoError(t, err)
				require.InEpsilon(t, judge(&s, 0.1).Run(b, visits, 9), got, 0.03)
			})
		}
	}
}

// A stretch of 1 changes nothing, not even by rounding; a larger one costs throughput, and waiting pays more, never less.
func TestStretchCosts(t *testing.T) {
	t.Parallel()
	s := apart(16, 0.1, 1, 4, 0.02)
	one := s
	one.Stretch = []float64{1, 1}
	plain, err := s.trajectory().Throughput([]int{1, 4})
	require.NoError(t, err)
	same, err := one.trajectory().Throughput([]int{1, 4})
	require.NoError(t, err)
	require.Equal(t, plain, same)
	before := plain
	for _, x := range []float64{1.3, 1.7, 2.5} {
		slow := s
		slow.Stretch = []float64{x, x}
		got, err := slow.Throughput([]int{1, 4})
		require.NoError(t, err)
		require.Less(t, got, before)
		before = got
	}
	s.Stretch = []float64{1}
	require.ErrorContains(t, s.Check(), "1 stretches of 2 models")
	s.Stretch = []float64{1, 0.5}
	require.ErrorContains(t, s.Check(), "model 1: steps stretch 0.5 times")
}
