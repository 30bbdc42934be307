package throughput

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Identities that hold exactly, or in a limit.
func TestCycleLimits(t *testing.T) {
	t.Parallel()
	// B = N: all requests are in every large step, then all start at the small model together.
	s := apart(8, 0.3, 1, 4, 0.05)
	c, err := NewCycle(&s)
	require.NoError(t, err)
	got, err := c.Throughput(8)
	require.NoError(t, err)
	gap := newGather(8, 8, c.law, func(n int) float64 { return c.small[n] }).time[0]
	require.InDelta(t, 8/0.3/(c.large[8]+gap), got, 1e-6)

	// Nearly nothing is routed: the small model alone.
	s = apart(16, 1e-7, 1, 4, 0.05)
	c, err = NewCycle(&s)
	require.NoError(t, err)
	got, err = c.Throughput(1)
	require.NoError(t, err)
	require.InEpsilon(t, 16/(1+0.05*16), got, 1e-4)

	// Everything is routed, one request: a step of each per token.
	s = apart(1, 1, 1, 4, 0)
	got, err = s.Throughput([]int{1, 1})
	require.NoError(t, err)
	require.InEpsilon(t, 1.0/5, got, 1e-3)
}

// R-Stitch that always hands back is the asymmetric routing: its tokens are those of the large model and of small steps that
// stay.
func TestSymmetricContainsAsymmetric(t *testing.T) {
	t.Parallel()
	for _, shared := range []bool{true, false} {
		a := apart(16, 0.2, 1, 4, 0.05)
		b := a
		b.P, b.C = Symmetric(0.2, 1)
		a.Shared, b.Shared = shared, shared
		for _, threshold := range []int{1, 5, 16} {
			x, err := a.Throughput([]int{1, threshold})
			require.NoError(t, err)
			y, err := b.Throughput([]int{1, threshold})
			require.NoError(t, err)
			require.InEpsilon(t, x, y, 1e-5)
		}
	}
}

// A sum over a binomial law is its mean and variance.
func TestBinomial(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n int
		q float64
	}{{0, 0.5}, {1, 0.1}, {20, 0}, {20, 1}, {20, 0.3}, {500, 0.001}, {500, 0.999}} {
		var sum, mean, square float64
		for k, x := range binomial(c.n, c.q) {
			sum += x
			mean += x * float64(k)
			square += x * float64(k) * float64(k)
		}
		n := float64(c.n)
		require.InDelta(t, 1, sum, 1e-12)
		require.InDelta(t, n*c.q, mean, 1e-9)
		require.InDelta(t, n*c.q*(1-c.q), square-mean*mean, 1e-7)
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	table, err := NewTable(map[float64]float64{1: 2, 4: 3.5, 8: 4.5})
	require.NoError(t, err)
	for _, c := range []struct{ rows, want float64 }{{1, 2}, {0.5, 2}, {2, 2.5}, {4, 3.5}, {6, 4}, {8, 4.5}, {12, 5.5}} {
		require.InDelta(t, c.want, table.Step(1, c.rows), 1e-12, "%g rows", c.rows)
	}
	_, err = NewTable(map[float64]float64{0: 1})
	require.ErrorContains(t, err, "at 0 rows")
	_, err = NewTable(nil)
	require.ErrorContains(t, err, "no entries")
}

func TestSystemCheck(t *testing.T) {
	t.Parallel()
	good := apart(4, 0.2, 1, 4, 0)
	require.NoError(t, good.Check())
	for want, spoil := range map[string]func(*System){
		"0 live requests":    func(s *System) { s.Requests = 0 },
		"no models":          func(s *System) { s.Latencies = nil },
		"has no latency":     func(s *System) { s.Latencies = []Latency{nil, Constant(1)} },
		"sum to 0.9":         func(s *System) { s.P = [][]float64{{0.8, 0.1}, {1, 0}} },
		"probability 2":      func(s *System) { s.P = [][]float64{{2, -1}, {1, 0}} },
		"takes 0 s":          func(s *System) { s.Latencies = []Latency{Constant(0), Constant(1)} },
		"want as many":       func(s *System) { s.P = s.P[:1] },
		"from model 1 to 0:": func(s *System) { s.C = [][]float64{{1, 0}, {-1, 0}} },
	} {
		s := apart(4, 0.2, 1, 4, 0)
		spoil(&s)
		require.ErrorContains(t, s.Check(), want)
		_, err := s.Optimum()
		require.Error(t, err)
	}
}
