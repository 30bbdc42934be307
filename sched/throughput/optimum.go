package throughput

import (
	"fmt"
	"slices"
)

// Adopt is the predicted gain from which on other thresholds are worth a change.
const Adopt = 0.01

// Point is a throughput at some thresholds.
type Point struct {
	Thresholds []int   // [models]
	Throughput float64 // tokens per second
}

// Optimum is what is known of a system's throughput.
type Optimum struct {
	Best  Point   // B*: Eager, unless the gain is at least Adopt
	Eager Point   // no thresholds; on a shared device the better of large first and small first
	Curve []Point // two models: by the threshold of the large one, that of the small one being 1
}

// patience is the number of visits that a trajectory follows.
const patience = 120_000

// defaultJitter is what step times are taken to vary by.
const defaultJitter = 0.1

// trajectory is the system on a virtual clock, always with the same random numbers, so that differences between thresholds
// are not noise.
func (s *System) trajectory() *Trajectory {
	return &Trajectory{System: s, Visits: patience, Jitter: defaultJitter, Seed: 1}
}

// predictor returns the best way to predict the throughput of a system when the small model never waits, and whether there is
// a chain for it.
func (s *System) predictor() (func(b int) (float64, error), bool) {
	if len(s.Latencies) != 2 || s.stretched() || s.P[0][1] <= 0 || s.P[1][0] <= 0 {
		return nil, false
	}
	if s.Shared {
		c, err := NewShared(s)
		return c.Throughput, err == nil
	}
	// With models that are about as fast, the phase that the cycle chain averages over is locked.
	n := float64(s.Requests)
	if rows := s.rows(); s.Latencies[1].Step(n, n*rows[1]) < 1.5*s.Latencies[0].Step(n, n*rows[0]) {
		return nil, false
	}
	c, err := NewCycle(s)
	return c.Throughput, err == nil
}

// Throughput predicts the throughput at thresholds b.
func (s *System) Throughput(b []int) (float64, error) {
	if err := s.Check(); err != nil {
		return 0, err
	}
	if len(b) == 2 && b[0] == 1 {
		if predict, ok := s.predictor(); ok {
			return predict(b[1])
		}
	}
	return s.trajectory().Throughput(b)
}

// Optimum finds the thresholds that give the most.
func (s *System) Optimum() (*Optimum, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	o := &Optimum{}
	predict, chain := s.predictor()
	var err error
	switch {
	case chain:
		err = o.scan(s, predict)
		if rows := s.rows(); err == nil && s.slowSmall(rows) {
			err = o.ascend(s, slices.Clone(o.Best.Thresholds))
		}
	case len(s.Latencies) == 1 || s.Requests == 1:
		ones := s.uniform(1)
		o.Eager.Thresholds = ones
		o.Eager.Throughput, err = s.trajectory().Throughput(ones)
		o.Best = o.Eager
	default:
		err = o.ascend(s, nil)
	}
	if err != nil {
		return nil, err
	}
	if o.Best.Throughput < o.Eager.Throughput*(1+Adopt) {
		o.Best = o.Eager
	}
	return o, nil
}

// slowSmall reports whether it may pay that the small model waits, too: where it is nearly as slow as the large one, which is
// often asked.
func (s *System) slowSmall(rows []float64) bool {
	n := float64(s.Requests)
	return !s.Shared && !s.stretched() && s.P[0][1] >= 0.4 && s.Latencies[1].Step(n, n*rows[1]) <= 2*s.Latencies[0].Step(n, n*rows[0])
}

func (s *System) uniform(b int) []int { return slices.Repeat([]int{b}, len(s.Latencies)) }

// last returns thresholds of b for all models but the entry.
func (s *System) last(b int) []int {
	list := s.uniform(b)
	list[0] = 1
	return list
}

// scan tries the thresholds of the large model: all of them, or with many requests a grid, since the curve may have several
// maxima.
func (o *Optimum) scan(s *System, predict func(int) (float64, error)) error {
	n := s.Requests
	tries := make([]int, 0, n)
	for b := 1; b <= n; b++ {
		tries = append(tries, b)
	}
	if n > 32 {
		tries = tries[:3]
		for i := 1; i <= 16; i++ {
			tries = append(tries, max(4, (i*n+8)/16))
		}
		slices.Sort(tries)
		tries = slices.Compact(tries)
	}
	for _, b := range tries {
		x, err := predict(b)
		if err != nil {
			return err
		}
		o.Curve = append(o.Curve, Point{[]int{1, b}, x})
	}
	o.Best = slices.MaxFunc(o.Curve, worse)
	o.Eager = o.Curve[0]
	if s.Shared {
		o.Eager = slices.MaxFunc([]Point{o.Curve[0], o.Curve[len(o.Curve)-1]}, worse)
	}
	return nil
}

// worse orders points by throughput, and by the sum of their thresholds where it is the same: the smaller is the better.
func worse(a, b Point) int {
	switch {
	case a.Throughput != b.Throughput:
		if a.Throughput < b.Throughput {
			return -1
		}
		return 1
	default:
		return sum(b.Thresholds) - sum(a.Thresholds)
	}
}

func sum(b []int) (total int) {
	for _, x := range b {
		total += x
	}
	return total
}

// Steps of the coordinate ascent that gain less than this are noise.
const leastGain = 0.001

// ascend searches thresholds of all models with trajectories, one coordinate after the other, from no thresholds and from
// `from`, or else from a quarter of the requests for each.
func (o *Optimum) ascend(s *System, from []int) error {
	t := s.trajectory()
	known := make(map[string]float64)
	ask := func(b []int) (Point, error) {
		key := fmt.Sprint(b)
		x, ok := known[key]
		if !ok {
			var err error
			if x, err = t.Throughput(b); err != nil {
				return Point{}, err
			}
			known[key] = x
		}
		return Point{slices.Clone(b), x}, nil
	}
	eager, err := ask(s.uniform(1))
	if err != nil {
		return err
	}
	starts := [][]int{eager.Thresholds, s.last(max(1, s.Requests/4))}
	if from != nil {
		starts[1] = from
	}
	if s.Shared {
		last, err := ask(s.last(s.Requests))
		if err != nil {
			return err
		}
		eager = slices.MaxFunc([]Point{eager, last}, worse)
	}
	best := eager
	for _, start := range starts {
		p, err := ask(start)
		if err != nil {
			return err
		}
		if p, err = climb(s, p, ask); err != nil {
			return err
		}
		if p.Throughput > best.Throughput {
			best = p
		}
	}
	o.Eager, o.Best = eager, best
	return nil
}

// climb moves one threshold at a time as long as that gains.
func climb(s *System, p Point, ask func([]int) (Point, error)) (Point, error) {
	for round := true; round; {
		round = false
		for i := range p.Thresholds {
			if s.Shared && i == 0 {
				continue // whoever has the lowest priority never gains by waiting
			}
			for _, b := range candidates(s.Requests) {
				try := slices.Clone(p.Thresholds)
				try[i] = b
				if !s.Shared && !s.feasible(try) {
					continue
				}
				q, err := ask(try)
				if err != nil {
					return p, err
				}
				if q.Throughput > p.Throughput*(1+leastGain) {
					p, round = q, true
				}
			}
		}
	}
	return p, nil
}

// candidates are the thresholds that the ascent tries.
func candidates(n int) []int {
	list := []int{1, min(2, n), min(3, n)}
	for i := 1; i <= 8; i++ {
		list = append(list, max(1, i*n/8))
	}
	slices.Sort(list)
	return slices.Compact(list)
}
