package throughput

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// visits is the share of steps that a request spends on each model in the long run.
func (s *System) visits() []float64 {
	rows := make([]sparse, len(s.P))
	for i := range s.P {
		for j, p := range s.P[i] {
			rows[i].add(j, p)
		}
	}
	// From the entry, and half-way lazy, so that periodic chains settle and closed sets of models keep what came to them.
	pi := make([]float64, len(rows))
	pi[0] = 1
	return iterate(rows, pi, 0.5, 1e-13)
}

// sparse is one row of a transition matrix.
type sparse struct {
	to []int
	p  []float64
}

func (r *sparse) add(to int, p float64) {
	if p > 0 {
		r.to, r.p = append(r.to, to), append(r.p, p)
	}
}

// iterate finds a stationary distribution by power iteration from pi, keeping a share `lazy` of each state's mass in place
// per round, until a round moves less than `tolerance` in all.
func iterate(rows []sparse, pi []float64, lazy, tolerance float64) []float64 {
	next := make([]float64, len(pi))
	const rounds = 20000
	for range rounds {
		for i, x := range pi {
			next[i] = lazy * x
		}
		for i := range rows {
			x := (1 - lazy) * pi[i]
			if x == 0 {
				continue
			}
			r := &rows[i]
			for k, to := range r.to {
				next[to] += x * r.p[k]
			}
		}
		moved, sum := 0.0, 0.0
		for i := range next {
			moved += math.Abs(next[i] - pi[i])
			sum += next[i]
		}
		for i := range next {
			next[i] /= sum
		}
		pi, next = next, pi
		if moved < tolerance {
			break
		}
	}
	return pi
}

// largestDense is the number of states up to which the equations are solved directly.
const largestDense = 1200

// stationary solves pi = pi M. Where there are several solutions it returns the one that is reached from state 0.
func stationary(rows []sparse) []float64 {
	n := len(rows)
	if n <= largestDense {
		if pi, err := solve(rows); err == nil {
			return pi
		}
	}
	pi := make([]float64, n)
	pi[0] = 1
	return iterate(rows, pi, 0.5, 1e-12)
}

// solve finds the one stationary distribution; an error if there are several, or nearly so.
func solve(rows []sparse) ([]float64, error) {
	n := len(rows)
	// (M - I)' pi = 0 with the last equation replaced by sum(pi) = 1.
	a := mat.NewDense(n, n, nil)
	for i := range rows {
		for k, j := range rows[i].to {
			a.Set(j, i, a.At(j, i)+rows[i].p[k])
		}
		a.Set(i, i, a.At(i, i)-1)
	}
	b := mat.NewVecDense(n, nil)
	for j := range n {
		a.Set(n-1, j, 1)
	}
	b.SetVec(n-1, 1)
	var pi mat.VecDense
	if err := pi.SolveVec(a, b); err != nil {
		return nil, fmt.Errorf("stationary distribution of %d states: %w", n, err)
	}
	return pi.RawVector().Data, nil
}
