package throughput

import (
	"fmt"
	"math"
)

// Cycle is the chain of two models on separate devices with latencies that depend on the batch, embedded at the starts of the
// large model's steps. The small model never waits (its threshold is 1).
//
// The state at such a start is the batch k and the number r of requests that the step before returned and that still wait for
// the small step under way; or "aligned", when a small step ended at that moment and the next one starts with all the rest.
// How far the small step under way is, is averaged over four phases: that is exact enough because real latencies vary.
//
// A Cycle keeps what does not depend on the threshold, so one is used for all thresholds. Not safe for concurrent use.
type Cycle struct {
	n        int
	p, m     float64   // small to large, large to small
	small    []float64 // [n+1] seconds of a step by batch
	large    []float64 // [n+1]
	perVisit float64   // tokens written, by both, per request and large step
	flights  map[[2]int]flight
	returns  [][]float64 // [n+1] law of the requests that stay at the large model, by batch
	law      [][]float64 // [n+1] law of the requests that leave the small model, by batch
	spans    [][2]int    // [n+1] where law is not negligible
}

// flight is what happens during a step of the large model.
type flight struct {
	arrivals []float64 // law of the requests that come to wait for the large model
	wait     float64   // mean time from its end to the end of the small step then under way
}

// phases is the number of phases that are averaged.
const phases = 4

// NewCycle makes the chain of a system of two models on separate devices.
func NewCycle(s *System) (*Cycle, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	if len(s.Latencies) != 2 || s.Shared {
		return nil, fmt.Errorf("the cycle chain is of 2 models on separate devices, not of %d (shared: %t)", len(s.Latencies), s.Shared)
	}
	c := &Cycle{n: s.Requests, p: s.P[0][1], m: s.P[1][0], flights: make(map[[2]int]flight)}
	if c.p <= 0 || c.m <= 0 {
		return nil, fmt.Errorf("the cycle chain needs requests that go both ways, not with probabilities %g and %g", c.p, c.m)
	}
	rows := s.rows()
	for n := range c.n + 1 {
		x := max(1, float64(n))
		c.small = append(c.small, s.Latencies[0].Step(x, x*rows[0]))
		c.large = append(c.large, s.Latencies[1].Step(x, x*rows[1]))
		c.returns = append(c.returns, binomial(n, 1-c.m))
		c.law = append(c.law, binomial(n, c.p))
		c.spans = append(c.spans, span(c.law[n]))
	}
	// Per request and step of the large model there are m/p of the small one.
	t := s.tokens()
	c.perVisit = t[1] + c.m/c.p*t[0]
	return c, nil
}

// smallAt is the latency of a small step of a mean number of requests.
func (c *Cycle) smallAt(n float64) float64 {
	if n <= 1 {
		return c.small[1]
	}
	i := min(int(n), c.n-1)
	return c.small[i] + (n-float64(i))*(c.small[i+1]-c.small[i])
}

// aligned is the r of a start at the end of a small step.
const aligned = -1

// flight returns what happens during a large step of k requests, with r waiting for the small step under way.
func (c *Cycle) flight(k, r int) flight {
	key := [2]int{k, r}
	f, ok := c.flights[key]
	if !ok {
		f = c.fly(k, r)
		c.flights[key] = f
	}
	return f
}

func (c *Cycle) fly(k, r int) flight {
	rest := c.n - k // not at the large model
	f := flight{arrivals: make([]float64, rest+1)}
	if rest == 0 {
		f.arrivals[0] = 1
		return f
	}
	under := rest // in the small step under way
	if r > 0 {
		under -= r
	}
	for h := range phases {
		u := (float64(h) + 0.5) / phases
		end := c.large[k] // from the start
		var t float64     // of the end of the small step under way
		var n float64     // requests in it, less those that have left
		first, more := 0, 0
		if r == aligned || under == 0 {
			end += (u - 0.5) * c.small[rest]
			n, t = float64(rest), c.small[rest]
			under = 0 // all are as those that wait
			r = rest
		} else {
			t = u * c.small[under]
			if t > end {
				first = -1 // nothing ends
			} else {
				n = float64(under)*(1-c.p) + float64(r)
				t += c.smallAt(n)
				first = 1
			}
		}
		if first >= 0 {
			for t <= end {
				more++
				n *= 1 - c.p
				t += c.smallAt(n)
			}
		}
		law := convolve(binomial(under, reached(c.p, max(first, 0)+more)), binomial(rest-under, reached(c.p, more)))
		for i, x := range law {
			f.arrivals[i] += x / phases
		}
		f.wait += (t - end) / phases
	}
	return f
}

// Throughput returns tokens per second when the large model waits for b requests.
func (c *Cycle) Throughput(b int) (float64, error) {
	if b < 1 || b > c.n {
		return 0, fmt.Errorf("threshold %d of %d requests", b, c.n)
	}
	w := newCycleWalk(c, b)
	w.explore()
	// Power iteration from the physical start, all requests at the small model: at high p there are long-lived modes, one
	// merged group or two that alternate, and the start selects as reality does.
	pi := iterate(w.rows, w.first(), 0.1, 1e-6)
	var batch, time float64
	for i, x := range pi {
		batch += x * float64(w.list[i][0])
		time += x * w.time[i]
	}
	if t := c.perVisit * batch / time; !math.IsNaN(t) {
		return t, nil
	}
	return 0, fmt.Errorf("threshold %d: the chain has no solution", b)
}
