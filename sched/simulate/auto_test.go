package simulate

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/sched"
)

// gpu is the GPU-like pair on one device: steps of 2 and 8 ms and 0.02 ms per row.
func gpu(n int, share float64) *Scenario {
	s := scenario(n, true, Routing{Share: &share}, "2ms+0.02ms", "8ms+0.02ms")
	s.Duration, s.Warmup = Duration(10*time.Second), Duration(5*time.Second)
	return s
}

// best runs a scenario with some fixed thresholds of the last model and returns the best throughput.
func best(t *testing.T, make func() *Scenario) float64 {
	t.Helper()
	most := 0.0
	n := make().Requests
	for _, i := range []int{1, 2, 3, 4, 5, 6} { // of eight
		s := make()
		b := ones(len(s.Models))
		b[len(b)-1] = max(1, i*n/8)
		most = max(most, simulate(t, s.thresholds(b)).Throughput)
	}
	return most
}

// ones is thresholds of 1.
func ones(n int) []int {
	b := make([]int, n)
	for i := range b {
		b[i] = 1
	}
	return b
}

func eager(t *testing.T, make func() *Scenario) float64 {
	t.Helper()
	most := 0.0
	for _, order := range []sched.Order{sched.LargeFirst, sched.SmallFirst} {
		s := make()
		s.Batching.Policy, s.Batching.Order = sched.Eager, order
		most = max(most, simulate(t, s).Throughput)
	}
	return most
}

// What lazy batching must gain over eager, in the better order, on a GPU-like pair. Thresholds follow the throughput model.
func TestLazyPays(t *testing.T) {
	t.Parallel()
	if racing {
		t.Skip("long, and nothing runs in parallel")
	}
	for _, c := range []struct {
		n     int
		share float64
		gain  float64
	}{{16, 0.1, 1.6}, {8, 0.1, 1.4}, {16, 0.3, 1.25}} {
		t.Run(fmt.Sprintf("N=%d p=%g", c.n, c.share), func(t *testing.T) {
			t.Parallel()
			lazy := simulate(t, gpu(c.n, c.share))
			base := eager(t, func() *Scenario { return gpu(c.n, c.share) })
			t.Logf("lazy %.0f with B=%d, eager %.0f: %.2f times", lazy.Throughput, lazy.Models[1].Threshold, base, lazy.Throughput/base)
			require.GreaterOrEqual(t, lazy.Throughput, c.gain*base)
		})
	}
}

// Thresholds that follow the model are as good as the best fixed ones, and never worse than none.
func TestAutoThresholds(t *testing.T) {
	t.Parallel()
	if racing {
		t.Skip("long, and nothing runs in parallel")
	}
	for name, make := range map[string]func() *Scenario{
		"gpu":         func() *Scenario { return gpu(16, 0.1) },
		"gpu, often":  func() *Scenario { return gpu(32, 0.3) },
		"gpu, rarely": func() *Scenario { return gpu(16, 0.02) },
		"cpu":         func() *Scenario { return slow(scenario(8, true, Routing{Share: ptr(0.1)}, "17ms+1ms", "43ms+3.3ms")) },
		"apart":       func() *Scenario { return scenario(8, false, Routing{Share: ptr(0.4)}, "1ms", "8ms+0.02ms") },
		"apart, rarely": func() *Scenario {
			return scenario(16, false, Routing{Share: ptr(0.05)}, "1ms+0.02ms", "4ms+0.08ms")
		},
		"symmetric": func() *Scenario {
			return scenario(16, true, Routing{Share: ptr(0.1), Back: ptr(0.5)}, "2ms+0.02ms", "8ms+0.02ms")
		},
		"three": func() *Scenario {
			return scenario(16, true, Routing{Weights: []float64{0.8, 0.1, 0.1}}, "2ms+0.02ms", "8ms+0.02ms", "12ms+0.02ms")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := make()
			s.Warmup = Duration(10 * time.Second)
			got := simulate(t, s)
			most, base := best(t, make), eager(t, make)
			t.Logf("auto %.0f with B=%v, best fixed %.0f, eager %.0f", got.Throughput, got.Models, most, base)
			require.GreaterOrEqual(t, got.Throughput, 0.965*most)
			require.GreaterOrEqual(t, got.Throughput, 0.99*base)
		})
	}
}

// slow gives a scenario more time.
func slow(s *Scenario) *Scenario {
	s.Duration = Duration(100 * time.Second)
	return s
}

// When the routing or a latency changes, the thresholds follow: after a while throughput is what it is for fixed thresholds
// that are best then.
func TestAutoFollows(t *testing.T) {
	t.Parallel()
	if racing {
		t.Skip("long, and nothing runs in parallel")
	}
	s := gpu(16, 0.02)
	s.Warmup = Duration(10 * time.Second)
	s.Duration = Duration(100 * time.Second)
	s.Changes = []Change{
		{At: Duration(30 * time.Second), Routing: &Routing{Share: ptr(0.3)}},
		{At: Duration(40 * time.Second)}, // a mark
		{At: Duration(70 * time.Second), Slower: map[string]float64{"b": 4}},
		{At: Duration(80 * time.Second)},
	}
	r := simulate(t, s)
	require.Len(t, r.Phases, 5)
	first := best(t, func() *Scenario { return gpu(16, 0.02) })
	second := best(t, func() *Scenario { return gpu(16, 0.3) })
	third := best(t, func() *Scenario {
		return scenario(16, true, Routing{Share: ptr(0.3)}, "2ms+0.02ms", "32ms+0.08ms")
	})
	t.Logf("%.0f of %.0f, %.0f of %.0f, %.0f of %.0f", r.Phases[0], first, r.Phases[2], second, r.Phases[4], third)
	require.GreaterOrEqual(t, r.Phases[0], 0.965*first)
	require.GreaterOrEqual(t, r.Phases[2], 0.965*second)
	require.GreaterOrEqual(t, r.Phases[4], 0.965*third)
}
