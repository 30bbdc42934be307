package throughput

import (
	"fmt"
	"math"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/internal/eventsim"
)

// profile is a step's time relative to that of one request: 1 + slope*n.
var profiles = []struct {
	name  string
	slope float64
}{{"flat", 0}, {"aff2", 0.02}, {"aff10", 0.1}}

// apart is two models on separate devices, the large one `ratio` times slower, in units of the small model's base.
func apart(n int, p, q, ratio, slope float64) System {
	s := System{Requests: n, Latencies: []Latency{Affine{Base: 1, PerRequest: slope}, Affine{Base: ratio, PerRequest: ratio * slope}}}
	if q == 1 {
		s.P, s.C = Asymmetric(p)
	} else {
		s.P, s.C = Symmetric(p, q)
	}
	return s
}

// spots are the thresholds that are looked at for n requests.
func spots(n int) []int {
	list := []int{1, 2}
	for i := 1; i <= 8; i++ {
		list = append(list, max(1, i*n/8))
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// judge is the independent simulation of a system.
func judge(s *System, jitter float64) *eventsim.Judge {
	j := &eventsim.Judge{Requests: s.Requests, P: s.P, C: s.C, Shared: s.Shared, Stretch: s.Stretch, Jitter: jitter}
	for _, l := range s.Latencies {
		j.Latency = append(j.Latency, l.Step)
	}
	return j
}

// verdict compares a prediction with the judge.
type verdict struct {
	sync.Mutex
	errors  []float64
	regrets []float64
	worst   string
}

// weigh adds the errors of a prediction at some thresholds, and the loss from following it. visits is the judge's patience.
func (v *verdict) weigh(t *testing.T, name string, s System, jitter float64, visits int, list []int, predict func(b int) float64) {
	t.Helper()
	truth := make([]float64, len(list))
	best, chosen := 0, 0
	said := make([]float64, len(list))
	for i, b := range list {
		j := judge(&s, jitter)
		truth[i] = j.Run([]int{1, b}, visits, 1)
		said[i] = predict(b)
		if truth[i] > truth[best] {
			best = i
		}
		if said[i] > said[chosen] {
			chosen = i
		}
	}
	// Both candidates again with other random numbers: the largest of many noisy values is too large.
	fresh := func(i int) float64 {
		j := judge(&s, jitter)
		return (j.Run([]int{1, list[i]}, 2*visits, 2) + j.Run([]int{1, list[i]}, 2*visits, 3)) / 2
	}
	regret := 0.0
	if best != chosen {
		regret = 1 - fresh(chosen)/fresh(best)
	}
	v.Lock()
	defer v.Unlock()
	for i := range list {
		e := math.Abs(said[i]/truth[i] - 1)
		if e > slices.Max(append(v.errors, 0)) {
			v.worst = fmt.Sprintf("%s B=%d: predicted %.4g, is %.4g", name, list[i], said[i], truth[i])
		}
		v.errors = append(v.errors, e)
	}
	v.regrets = append(v.regrets, regret)
}

func (v *verdict) mean() float64 {
	sum := 0.0
	for _, e := range v.errors {
		sum += e
	}
	return sum / float64(len(v.errors))
}

// fullGrid asks for every combination, which takes half a minute of processor time (make test-go); otherwise a part of each
// grid is tried that has every kind.
func fullGrid() bool { return os.Getenv("TOKENROUTER_GRID") == "full" }

// The cycle chain against the judge: steps vary by 10%.
func TestCycleAgainstJudge(t *testing.T) {
	t.Parallel()
	if racing {
		t.Skip("long, and nothing runs in parallel")
	}
	var v verdict
	t.Run("grid", func(t *testing.T) {
		requests, shares, ratios := []int{4, 16, 64}, []float64{0.05, 0.1, 0.4}, []float64{2, 8}
		if fullGrid() {
			requests, shares, ratios = []int{4, 8, 16, 32, 64}, []float64{0.02, 0.05, 0.1, 0.2, 0.4}, []float64{2, 4, 8}
		}
		for _, n := range requests {
			for _, p := range shares {
				for _, ratio := range ratios {
					for _, f := range profiles {
						name := fmt.Sprintf("N=%d p=%g R=%g %s", n, p, ratio, f.name)
						t.Run(name, func(t *testing.T) {
							t.Parallel()
							s := apart(n, p, 1, ratio, f.slope)
							c, err := NewCycle(&s)
							require.NoError(t, err)
							v.weigh(t, name, s, 0.1, 150_000, spots(n), func(b int) float64 {
								x, err := c.Throughput(b)
								require.NoError(t, err)
								return x
							})
						})
					}
				}
			}
		}
	})
	t.Logf("error: mean %.3f%%, most %.2f%% (%s); regret: most %.2f%%", 100*v.mean(), 100*slices.Max(v.errors), v.worst, 100*slices.Max(v.regrets))
	require.Less(t, v.mean(), 0.005)
	require.Less(t, slices.Max(v.errors), 0.065)
	require.Less(t, slices.Max(v.regrets), 0.01)
}

// The same for requests that may stay at the large model.
func TestSymmetricCycleAgainstJudge(t *testing.T) {
	t.Parallel()
	if racing {
		t.Skip("long, and nothing runs in parallel")
	}
	var v verdict
	t.Run("grid", func(t *testing.T) {
		pairs, ratios := [][2]float64{{0.05, 0.2}, {0.1, 0.1}, {0.2, 0.5}, {0.4, 0.4}, {0.1, 0.9}, {0.5, 0.9}, {0.3, 0.1}}, []float64{8}
		if fullGrid() {
			ratios = []float64{2, 4, 8}
		}
		for _, n := range []int{8, 32} {
			for _, pq := range pairs {
				for _, ratio := range ratios {
					name := fmt.Sprintf("N=%d p=%g q=%g R=%g", n, pq[0], pq[1], ratio)
					t.Run(name, func(t *testing.T) {
						t.Parallel()
						s := apart(n, pq[0], pq[1], ratio, 0.02)
						c, err := NewCycle(&s)
						require.NoError(t, err)
						v.weigh(t, name, s, 0.1, 150_000, spots(n), func(b int) float64 {
							x, err := c.Throughput(b)
							require.NoError(t, err)
							return x
						})
					})
				}
			}
		}
	})
	t.Logf("error: mean %.3f%%, most %.2f%% (%s); regret: most %.2f%%", 100*v.mean(), 100*slices.Max(v.errors), v.worst, 100*slices.Max(v.regrets))
	require.Less(t, v.mean(), 0.005)
	require.Less(t, slices.Max(v.errors), 0.025)
	require.Less(t, slices.Max(v.regrets), 0.005)
}
