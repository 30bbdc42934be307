package simulate

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/tokenrouter/tokenrouter/internal/eventsim"
	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/sched/throughput"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func ptr[T any](v T) *T { return &v }

// scenario is n requests that write without end, nearly: prompts are short and answers long.
func scenario(n int, shared bool, routing Routing, latencies ...string) *Scenario {
	s := &Scenario{Requests: n, Prompt: 1, Tokens: 3000, Routing: routing, Duration: Duration(20 * time.Second), Jitter: 0.1, Seed: 1}
	for i, l := range latencies {
		m := Model{Name: string(rune('a' + i)), Latency: l}
		if shared {
			m.Device = "gpu"
		}
		s.Models = append(s.Models, m)
	}
	s.complete()
	return s
}

// judge asks the independent simulation.
func judge(t *testing.T, s *Scenario, b []int) float64 {
	t.Helper()
	system, err := s.System()
	require.NoError(t, err)
	j := eventsim.Judge{Requests: s.Requests, P: system.P, C: system.C, Shared: system.Shared, Jitter: s.Jitter}
	for _, l := range system.Latencies {
		j.Latency = append(j.Latency, l.Step)
	}
	return j.Run(b, 200_000, 7)
}

func (s *Scenario) thresholds(b []int) *Scenario {
	s.Batching.Threshold = make(map[string]int)
	for i, m := range s.Models {
		s.Batching.Threshold[m.Name] = b[i]
	}
	s.Batching.MaxWait = Duration(time.Hour)
	return s
}

func simulate(t *testing.T, s *Scenario) *Report {
	t.Helper()
	r, err := s.Run(nil)
	require.NoError(t, err)
	return r
}

// The scheduler does what the independent simulation does, for all kinds of routing, apart and on one device.
func TestSchedulerAgainstJudge(t *testing.T) {
	t.Parallel()
	if racing {
		t.Skip("long, and nothing runs in parallel")
	}
	for _, n := range []int{1, 4, 16, 64} {
		for name, routing := range map[string]Routing{
			"asymmetric": {Share: ptr(0.2)}, "symmetric": {Share: ptr(0.2), Back: ptr(0.5)}, "three": {Weights: []float64{0.6, 0.3, 0.1}},
		} {
			for _, shared := range []bool{false, true} {
				latencies := []string{"2ms+0.03ms", "9ms+0.05ms", "17ms+0.1ms"}
				if name != "three" {
					latencies = latencies[:2]
				}
				for _, part := range []int{1, 3, 5} { // of eight
					b := slices.Repeat([]int{max(1, part*n/8)}, len(latencies))
					b[0] = 1
					if n == 1 && part > 1 || name == "three" && part > 3 {
						continue
					}
					t.Run(fmt.Sprintf("%s N=%d shared=%t B=%v", name, n, shared, b), func(t *testing.T) {
						t.Parallel()
						s := scenario(n, shared, routing, latencies...).thresholds(b)
						s.Duration = Duration(time.Duration(20+100/n) * time.Second)
						want, got := judge(t, s, b), simulate(t, s).Throughput
						t.Logf("%.1f, should be %.1f: %+.1f%%", got, want, 100*(got/want-1))
						require.InEpsilon(t, want, got, 0.03)
					})
				}
			}
		}
	}
}

// On a shared device the orders of eager are B = 1 and B = N.
func TestEagerOrders(t *testing.T) {
	t.Parallel()
	if racing {
		t.Skip("long, and nothing runs in parallel")
	}
	for order, b := range map[sched.Order]int{sched.LargeFirst: 1, sched.SmallFirst: 16} {
		for _, back := range []*float64{nil, ptr(0.5)} {
			s := scenario(16, true, Routing{Share: ptr(0.1), Back: back}, "2ms+0.02ms", "8ms+0.02ms")
			s.Batching.Policy, s.Batching.Order = sched.Eager, order
			require.InEpsilon(t, judge(t, s, []int{1, b}), simulate(t, s).Throughput, 0.03, "%s", order)
		}
	}
}

// The synchronous policies have closed forms: all requests write one position in a small step and, if any is routed, a large
// one; or the small model goes on until all wait for the large one.
func TestSynchronousPolicies(t *testing.T) {
	t.Parallel()
	if racing {
		t.Skip("long, and nothing runs in parallel")
	}
	const n, p = 8, 0.2
	small, large := throughput.Affine{Base: 2e-3, PerRow: 1e-4}, throughput.Affine{Base: 10e-3, PerRow: 2e-4}
	for _, shared := range []bool{true, false} {
		s := scenario(n, shared, Routing{Share: ptr(p)}, "2ms+0.1ms", "10ms+0.2ms")
		s.Jitter = 0
		s.Batching.Policy = sched.StepSync
		routed := 1.0 // probability that any is
		for range n {
			routed *= 1 - p
		}
		routed = 1 - routed
		// Rows of the large model: every token once.
		per := small.Step(n, n) + routed*large.Base + n*large.PerRow
		require.InEpsilon(t, n/per, simulate(t, s).Throughput, 0.02)

		s.Batching.Policy = sched.ModelSync
		system, err := s.System()
		require.NoError(t, err)
		system.Shared = true // one model runs at a time, also on separate devices
		chain, err := throughput.NewShared(system)
		require.NoError(t, err)
		want, err := chain.Throughput(n)
		require.NoError(t, err)
		require.InEpsilon(t, want, simulate(t, s).Throughput, 0.02)
	}
}
