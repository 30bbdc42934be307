package throughput

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// System is what a prediction is about. P and C are [models][models], the entry first.
type System struct {
	Requests  int         // live requests, N
	P         [][]float64 // P[i][j]: probability that a request goes to j after a step on i; rows sum to 1
	C         [][]float64 // C[i][j]: mean number of tokens committed with that move
	Latencies []Latency   // [models]
	Shared    bool        // the models take turns on one device; otherwise each has its own, or Stretch says more
	// Stretch is for models that step side by side on one device: [models] how many times as long a step takes while another model's
	// runs. Nil: 1 for all, as on separate devices.
	Stretch []float64
}

// Asymmetric returns P and C of the algorithms by which the small model hands a token to the large one with probability p,
// and the large one writes it and hands back (R2R, CITER, Co-LLM).
func Asymmetric(p float64) (moves, commits [][]float64) {
	return [][]float64{{1 - p, p}, {1, 0}}, [][]float64{{1, 0}, {1, 0}}
}

// Symmetric returns P and C of R-Stitch: the small model hands over with probability p, the large one writes on and hands
// back with probability q.
func Symmetric(p, q float64) (moves, commits [][]float64) {
	return [][]float64{{1 - p, p}, {q, 1 - q}}, [][]float64{{1, 0}, {1, 1}}
}

// Ensemble returns P and C of models that each write a token with a probability of their own, whoever wrote the last.
func Ensemble(weights ...float64) (moves, commits [][]float64) {
	for range weights {
		moves = append(moves, append([]float64(nil), weights...))
		ones := make([]float64, len(weights))
		for j := range ones {
			ones[j] = 1
		}
		commits = append(commits, ones)
	}
	return moves, commits
}

// Check reports the first thing that makes no sense.
func (s *System) Check() error {
	n := len(s.Latencies)
	switch {
	case s.Requests < 1:
		return fmt.Errorf("%d live requests: want 1 or more", s.Requests)
	case n == 0:
		return errors.New("no models")
	case len(s.P) != n || len(s.C) != n:
		return fmt.Errorf("%d latencies with %d rows of probabilities and %d of commits: want as many of each", n, len(s.P), len(s.C))
	}
	if s.Stretch != nil && len(s.Stretch) != n {
		return fmt.Errorf("%d stretches of %d models", len(s.Stretch), n)
	}
	for i, x := range s.Stretch {
		if !(x >= 1) || math.IsInf(x, 0) {
			return fmt.Errorf("model %d: steps stretch %g times: want 1 or more", i, x)
		}
	}
	for i := range n {
		if s.Latencies[i] == nil {
			return fmt.Errorf("model %d has no latency", i)
		}
		if len(s.P[i]) != n || len(s.C[i]) != n {
			return fmt.Errorf("row %d has %d probabilities and %d commits for %d models", i, len(s.P[i]), len(s.C[i]), n)
		}
		sum, tokens := 0.0, 0.0
		for j := range n {
			if !(s.P[i][j] >= 0 && s.P[i][j] <= 1) || !(s.C[i][j] >= 0) {
				return fmt.Errorf("from model %d to %d: probability %g, tokens %g", i, j, s.P[i][j], s.C[i][j])
			}
			sum += s.P[i][j]
			tokens += s.C[i][j]
		}
		if math.Abs(sum-1) > 1e-6 {
			return fmt.Errorf("the probabilities of model %d sum to %g, not 1", i, sum)
		}
		if l := s.Latencies[i].Step(1, 1); !(l > 0) {
			return fmt.Errorf("a step of model %d takes %g s", i, l)
		}
	}
	return nil
}

// stretched reports whether steps get in each other's way.
func (s *System) stretched() bool {
	return !s.Shared && slices.ContainsFunc(s.Stretch, func(x float64) bool { return x > 1.02 })
}

// feasible reports whether thresholds can all be waited for at once without a standstill.
func (s *System) feasible(b []int) bool {
	sum := 0
	for _, x := range b {
		if x < 1 || x > s.Requests {
			return false
		}
		sum += x - 1
	}
	return sum < s.Requests
}

// tokens is the mean number of tokens that a step on each model commits per request.
func (s *System) tokens() []float64 {
	t := make([]float64, len(s.P))
	for i := range t {
		for j := range t {
			t[i] += s.P[i][j] * s.C[i][j]
		}
	}
	return t
}

// rows is the mean number of rows per request of a step on each model: the tokens written, by anybody, since the last one.
func (s *System) rows() []float64 {
	visits := s.visits()
	all := 0.0
	for i, t := range s.tokens() {
		all += visits[i] * t
	}
	rows := make([]float64, len(visits))
	for i, v := range visits {
		rows[i] = 1
		if v > 0 {
			rows[i] = max(1, all/v)
		}
	}
	return rows
}

// Alone is the throughput of model i when it writes everything by itself.
func (s *System) Alone(i int) float64 {
	n := float64(s.Requests)
	return n / s.Latencies[i].Step(n, n)
}
