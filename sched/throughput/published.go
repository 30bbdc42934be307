package throughput

import (
	"errors"
	"fmt"
	"math"
)

// Published is the throughput model of the paper: models on separate devices, whose steps always take as long.
//
// A state says for each model how many requests wait, how many are in its step, and how long that still takes; it is seen
// just after steps have ended and others have started. The steps that end first end together; each of their requests goes on
// by the row of P of its model; then every idle model for which enough requests wait starts.
type Published struct {
	Requests int
	P, C     [][]float64
	Steps    []int   // [models] how long a step takes, in quanta
	Quantum  float64 // seconds
}

// ErrTooManyStates says that a chain is too large to be solved.
var ErrTooManyStates = errors.New("the published chain has too many states")

// mostStates is where the enumeration gives up.
const mostStates = 200_000

// Throughput returns tokens per second with thresholds b, and the number of states of the chain. Thresholds that can all be
// waited for at once, sum(b-1) >= N, are an error: the system would stand still.
func (c *Published) Throughput(b []int) (tokens float64, states int, err error) {
	if err := c.check(b); err != nil {
		return 0, 0, err
	}
	w := walk{c: c, b: b, index: make(map[string]int)}
	start := make([]member, len(c.Steps))
	start[0].waiting = c.Requests
	w.launch(start)
	w.find(start)
	for i := 0; i < len(w.list); i++ {
		if len(w.list) > mostStates {
			return 0, len(w.list), fmt.Errorf("%w: more than %d for %d requests; use batch-dependent latencies", ErrTooManyStates, mostStates, c.Requests)
		}
		w.leave(i)
	}
	pi := stationary(w.rows)
	var out, time float64
	for i, x := range pi {
		out += x * w.tokens[i]
		time += x * float64(w.hold[i])
	}
	return out / (time * c.Quantum), len(w.list), nil
}

func (c *Published) check(b []int) error {
	s := System{Requests: c.Requests, P: c.P, C: c.C}
	for i, n := range c.Steps {
		if n < 1 {
			return fmt.Errorf("a step of model %d takes %d quanta: want 1 or more", i, n)
		}
		s.Latencies = append(s.Latencies, Constant(float64(n)*c.Quantum))
	}
	if err := s.Check(); err != nil {
		return err
	}
	if len(b) != len(c.Steps) || !s.feasible(b) {
		return fmt.Errorf("thresholds %v for %d models and %d requests: want 1 or more each, and all minus one less than the requests in sum",
			b, len(c.Steps), c.Requests)
	}
	return nil
}

// member is one model's part of a state.
type member struct {
	waiting, batch, left int
}

// walk enumerates the reachable states, breadth first.
type walk struct {
	c      *Published
	b      []int
	index  map[string]int
	list   [][]member
	rows   []sparse
	hold   []int     // quanta until the next step ends
	tokens []float64 // committed then, in the mean
	key    []byte
}

// find returns the index of a state, which it adds if it is new.
func (w *walk) find(s []member) int {
	w.key = w.key[:0]
	for _, m := range s {
		for _, x := range [...]int{m.waiting, m.batch, m.left} {
			w.key = append(w.key, byte(x), byte(x>>8), byte(x>>16))
		}
	}
	if i, ok := w.index[string(w.key)]; ok {
		return i
	}
	i := len(w.list)
	w.index[string(w.key)] = i
	w.list = append(w.list, append([]member(nil), s...))
	w.rows, w.hold, w.tokens = append(w.rows, sparse{}), append(w.hold, 0), append(w.tokens, 0)
	return i
}

// launch starts every idle model for which enough wait.
func (w *walk) launch(s []member) {
	for i := range s {
		if m := &s[i]; m.batch == 0 && m.waiting >= w.b[i] {
			m.batch, m.waiting, m.left = m.waiting, 0, w.c.Steps[i]
		}
	}
}

// leave finds where state i goes.
func (w *walk) leave(i int) {
	from := w.list[i]
	tau := math.MaxInt
	for _, m := range from {
		if m.batch > 0 {
			tau = min(tau, m.left)
		}
	}
	rest := append([]member(nil), from...)
	spread := []outcome{{waiting: make([]int, len(rest)), p: 1}}
	for k := range rest {
		m := &rest[k]
		if m.batch == 0 {
			continue
		}
		if m.left -= tau; m.left > 0 {
			continue
		}
		for j, p := range w.c.P[k] {
			w.tokens[i] += float64(m.batch) * p * w.c.C[k][j]
		}
		var next []outcome
		for _, o := range spread {
			next = o.spread(next, w.c.P[k], 0, m.batch)
		}
		spread = next
		m.batch = 0
	}
	w.hold[i] = tau
	for _, o := range spread {
		to := append([]member(nil), rest...)
		for k := range to {
			to[k].waiting += o.waiting[k]
		}
		w.launch(to)
		j := w.find(to)
		w.rows[i].add(j, o.p)
	}
}

// outcome is one way in which requests spread over the models.
type outcome struct {
	waiting []int
	p       float64
}

// spread appends to list the ways in which n more requests spread over the models from j on, by the probabilities p.
func (o outcome) spread(list []outcome, p []float64, j, n int) []outcome {
	rest := 0.0
	for _, x := range p[j:] {
		rest += x
	}
	if n == 0 {
		return append(list, o)
	}
	if j == len(p)-1 || p[j] >= rest {
		to := outcome{waiting: append([]int(nil), o.waiting...), p: o.p}
		to.waiting[j] += n
		return append(list, to)
	}
	for k, q := range binomial(n, p[j]/rest) {
		if q == 0 {
			continue
		}
		to := outcome{waiting: append([]int(nil), o.waiting...), p: o.p * q}
		to.waiting[j] += k
		list = to.spread(list, p, j+1, n-k)
	}
	return list
}
