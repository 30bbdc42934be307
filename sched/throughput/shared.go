package throughput

import "fmt"

// Shared is the chain of two models that take turns on one device: whenever it is free, the large model runs if at least B
// requests wait for it or nobody waits for the small one; otherwise the small one runs on all that wait for it. B = 1 is the
// eager order "large first", B = N "small first".
//
// Rows are taken at their mean per request. For latencies that are affine in the rows, as those of real models nearly are,
// the prediction is exact. Not safe for concurrent use.
type Shared struct {
	n        int
	m        float64
	small    []float64 // [n+1] seconds of a step by batch
	large    []float64
	leave    [][]float64 // [n+1] law of the requests that leave the small model
	perVisit float64     // tokens written, by both, per request and large step
}

// NewShared makes the chain of a system of two models on one device.
func NewShared(s *System) (*Shared, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	if len(s.Latencies) != 2 || !s.Shared {
		return nil, fmt.Errorf("the shared chain is of 2 models on one device, not of %d (shared: %t)", len(s.Latencies), s.Shared)
	}
	c := &Shared{n: s.Requests, m: s.P[1][0]}
	p := s.P[0][1]
	if p <= 0 || c.m <= 0 {
		return nil, fmt.Errorf("the shared chain needs requests that go both ways, not with probabilities %g and %g", p, c.m)
	}
	rows := s.rows()
	for n := range c.n + 1 {
		x := max(1, float64(n))
		c.small = append(c.small, s.Latencies[0].Step(x, x*rows[0]))
		c.large = append(c.large, s.Latencies[1].Step(x, x*rows[1]))
		c.leave = append(c.leave, binomial(n, p))
	}
	t := s.tokens()
	c.perVisit = t[1] + c.m/p*t[0]
	return c, nil
}

// Throughput returns tokens per second when the large model waits for b requests.
func (c *Shared) Throughput(b int) (float64, error) {
	if b < 1 || b > c.n {
		return 0, fmt.Errorf("threshold %d of %d requests", b, c.n)
	}
	g := newGather(c.n, b, c.leave, func(n int) float64 { return c.small[n] })
	// The state is the number of requests that stay at the large model after a step of it.
	rows := make([]sparse, c.n+1)
	batch, time := make([]float64, c.n+1), make([]float64, c.n+1)
	for a := range rows {
		stay := make([]float64, c.n+1)
		time[a] = g.time[a]
		for k, x := range g.law[a] {
			if x == 0 {
				continue
			}
			batch[a] += x * float64(k)
			time[a] += x * c.large[k]
			for i, y := range binomial(k, 1-c.m) {
				stay[i] += x * y
			}
		}
		for i, x := range stay {
			rows[a].add(i, x)
		}
	}
	pi := stationary(rows)
	var steps, seconds float64
	for a, x := range pi {
		steps += x * batch[a]
		seconds += x * time[a]
	}
	return c.perVisit * steps / seconds, nil
}
