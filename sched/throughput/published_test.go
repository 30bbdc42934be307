package throughput

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// The values published with the model: p = 0.35, steps of 6.0 and 27.9 ms, a quantum of 0.1 ms, B of the small model 1.
func TestPublishedValues(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		requests, b, states int
		want                float64
	}{
		{2, 1, 0, 99.0}, {2, 2, 0, 110.3},
		{4, 1, 715, 187.2}, {4, 2, 28, 195.4}, {4, 3, 14, 207.9}, {4, 4, 5, 190.7},
	} {
		t.Run(fmt.Sprintf("N=%d B=%d", c.requests, c.b), func(t *testing.T) {
			t.Parallel()
			p, commits := Asymmetric(0.35)
			chain := Published{Requests: c.requests, P: p, C: commits, Steps: []int{60, 279}, Quantum: 1e-4}
			got, states, err := chain.Throughput([]int{1, c.b})
			require.NoError(t, err)
			require.InDelta(t, c.want, got, 0.1) // one decimal was published
			if c.states > 0 {
				require.Equal(t, c.states, states)
			}
		})
	}
}

// One request never waits for another: its throughput is tokens per visit over time per visit, for any number of models.
func TestPublishedOneRequest(t *testing.T) {
	t.Parallel()
	p, c := Ensemble(0.5, 0.3, 0.2)
	chain := Published{Requests: 1, P: p, C: c, Steps: []int{2, 5, 10}, Quantum: 1e-3}
	got, _, err := chain.Throughput([]int{1, 1, 1})
	require.NoError(t, err)
	require.InDelta(t, 1000/(0.5*2+0.3*5+0.2*10), got, 1e-6)

	p, c = Symmetric(0.2, 0.5) // a visit to the large model is 2 steps of it and 5 of the small one, 4 of which commit
	chain = Published{Requests: 1, P: p, C: c, Steps: []int{2, 10}, Quantum: 1e-3}
	got, _, err = chain.Throughput([]int{1, 1})
	require.NoError(t, err)
	require.InDelta(t, 1000*(2+4)/(2*10+5*2.0), got, 1e-6)
}

func TestPublishedErrors(t *testing.T) {
	t.Parallel()
	p, c := Asymmetric(0.5)
	chain := Published{Requests: 4, P: p, C: c, Steps: []int{1, 1}, Quantum: 1}
	for _, b := range [][]int{{2, 4}, {0, 1}, {1}, {1, 5}} {
		_, _, err := chain.Throughput(b)
		require.ErrorContains(t, err, "thresholds", "%v", b)
	}
	chain.P = [][]float64{{0.5, 0.6}, {1, 0}}
	_, _, err := chain.Throughput([]int{1, 1})
	require.ErrorContains(t, err, "sum to 1.1")
	chain = Published{Requests: 64, P: p, C: c, Steps: []int{60, 279}, Quantum: 1}
	_, _, err = chain.Throughput([]int{1, 1})
	require.ErrorIs(t, err, ErrTooManyStates)
}
