package throughput

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// The reference table: tokens per second of the large model alone, large first, small first, and lazy at the best B, of two
// models on one device. It was simulated elsewhere; times are in milliseconds.
func TestSharedTable(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name                     string
		small, perSmall          float64
		large, perLarge          float64
		p                        float64
		alone, first, last, lazy [5]float64 // N = 1, 4, 8, 16, 32
	}{
		{"GPU-like", 2, 0.02, 8, 0.02, 0.1, [5]float64{125, 495, 980, 1923, 3704},
			[5]float64{350, 816, 1168, 1749, 2906}, [5]float64{350, 799, 1249, 2008, 3242}, [5]float64{350, 1002, 1852, 3375, 5895}},
		{"GPU-like", 2, 0.02, 8, 0.02, 0.3, [5]float64{125, 495, 980, 1923, 3704},
			[5]float64{225, 489, 812, 1507, 2837}, [5]float64{225, 628, 1056, 1782, 2984}, [5]float64{225, 681, 1266, 2347, 4260}},
		{"GPU-like, dearer rows", 2, 0.02, 8, 0.08, 0.1, [5]float64{124, 481, 926, 1724, 3030},
			[5]float64{342, 778, 1091, 1583, 2475}, [5]float64{342, 763, 1162, 1792, 2714}, [5]float64{341, 945, 1667, 2807, 4356}},
		{"CPU", 17, 1, 43, 3.3, 0.1, [5]float64{22, 71, 115, 167, 215},
			[5]float64{39, 82, 106, 133, 163}, [5]float64{39, 72, 96, 124, 154}, [5]float64{39, 89, 126, 162, 190}},
		{"CPU", 17, 1, 43, 3.3, 0.3, [5]float64{22, 71, 115, 167, 215},
			[5]float64{29, 60, 87, 124, 162}, [5]float64{29, 64, 90, 121, 152}, [5]float64{29, 71, 106, 144, 178}},
	} {
		for i, n := range []int{1, 4, 8, 16, 32} {
			s := System{Requests: n, Shared: true, Latencies: []Latency{
				Affine{Base: row.small * 1e-3, PerRow: row.perSmall * 1e-3}, Affine{Base: row.large * 1e-3, PerRow: row.perLarge * 1e-3}}}
			s.P, s.C = Asymmetric(row.p)
			c, err := NewShared(&s)
			require.NoError(t, err)
			curve := make([]float64, n+1)
			for b := 1; b <= n; b++ {
				curve[b], err = c.Throughput(b)
				require.NoError(t, err)
			}
			for _, x := range []struct {
				what      string
				want, got float64
			}{
				{"alone", row.alone[i], s.Alone(1)}, {"large first", row.first[i], curve[1]},
				{"small first", row.last[i], curve[n]}, {"lazy", row.lazy[i], slices.Max(curve)},
			} {
				// 2%, and half a unit of the table's last digit.
				require.InDelta(t, x.want, x.got, 0.02*x.want+0.5, "%s p=%g N=%d: %s", row.name, row.p, n, x.what)
			}
		}
	}
}

// The chain against the judge, for both kinds of routing.
func TestSharedAgainstJudge(t *testing.T) {
	t.Parallel()
	if racing {
		t.Skip("long, and nothing runs in parallel")
	}
	var v verdict
	t.Run("grid", func(t *testing.T) {
		requests, shares := []int{4, 32}, []float64{0.05, 0.3}
		if fullGrid() {
			requests, shares = []int{4, 8, 16, 32}, []float64{0.05, 0.1, 0.3, 0.5}
		}
		for _, n := range requests {
			for _, p := range shares {
				for _, q := range []float64{1, 0.4} {
					for _, perRow := range []float64{0.01, 0.1} {
						name := fmt.Sprintf("N=%d p=%g q=%g rows=%g", n, p, q, perRow)
						t.Run(name, func(t *testing.T) {
							t.Parallel()
							s := apart(n, p, q, 4, 0)
							s.Shared = true
							s.Latencies = []Latency{Affine{Base: 1, PerRow: perRow}, Affine{Base: 4, PerRow: perRow}}
							c, err := NewShared(&s)
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
	require.Less(t, slices.Max(v.errors), 0.03)
	require.Less(t, slices.Max(v.regrets), 0.01)
}
