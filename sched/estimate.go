package sched

import (
	"math"
	"slices"
	"time"

	"github.com/tokenrouter/tokenrouter/sched/throughput"
)

// observed is what a subserver learns from its own steps: how long they take and where requests go. The subserver's lock
// guards it; it is cheap to add to.
type observed struct {
	// Sums over steps for a least-squares fit of seconds to (1, requests, tokens), each weighted by 1/seconds^2 and by age.
	xx   [3][3]float64
	xy   [3]float64
	n    float64    // sum of the weights by age
	mean float64    // seconds of a step, running
	odd  int        // steps in a row that took much longer
	last [3]float64 // means of requests, tokens and seconds, running

	profile []shape // measured at the start

	// Sums over steps beside which another model's ran on the device, for how much these stretch each other; weighted by age.
	oo, oy, overlaps float64

	moves   []float64 // [engine's models] routed requests that went there, weighted by age
	commits []float64 // likewise: tokens that were committed with them
	seen    float64   // decisions so far, not weighted
	tokens  float64   // written for routed requests so far
}

// shape is a step that was measured.
type shape struct {
	requests, tokens, seconds float64
}

// memory is the number of steps that latencies are learnt from.
const memory = 200

// step adds a step in which nothing but decode and resumes happened.
func (o *observed) step(requests, tokens int, took time.Duration) {
	y := took.Seconds()
	if y <= 0 {
		return
	}
	if o.n > 10 && y > 3*o.mean {
		if o.odd++; o.odd < 5 {
			return // something else took the processor
		}
		// It has become so much slower: what was before does not count any more.
		o.xx, o.xy, o.n = [3][3]float64{}, [3]float64{}, 0
	}
	o.odd = 0
	const keep = 1 - 1.0/memory
	x := [3]float64{1, float64(requests), float64(tokens)}
	w := 1 / (y * y)
	for i := range x {
		for j := range x {
			o.xx[i][j] = keep*o.xx[i][j] + w*x[i]*x[j]
		}
		o.xy[i] = keep*o.xy[i] + w*x[i]*y
	}
	o.n = keep*o.n + 1
	a := max(1.0/32, 1/o.n)
	o.mean += a * (y - o.mean)
	for i, v := range [3]float64{x[1], x[2], y} {
		o.last[i] += a * (v - o.last[i])
	}
}

// routed adds one decision about a request of a route with several models: where it went, and how many tokens were committed.
func (o *observed) routed(to, tokens int) {
	o.moves[to]++
	o.commits[to] += float64(tokens)
	o.tokens += float64(tokens)
	o.seen++
}

// age lets older decisions count less, after a step with n of them. How many are remembered depends on how rare handoffs are:
// enough to know their share to a tenth.
func (o *observed) age(n, self int) {
	if n == 0 {
		return
	}
	all := 0.0
	for _, x := range o.moves {
		all += x
	}
	away := max(all-o.moves[self], 1)
	rare := min(away, max(o.moves[self], 1)) / all
	keep := math.Pow(1-1/clamp(100*(1-rare)/rare, 200, 5000), float64(n))
	for i := range o.moves {
		o.moves[i] *= keep
		o.commits[i] *= keep
	}
}

func clamp(x, low, high float64) float64 { return max(low, min(high, x)) }

// enough reports whether the share of handoffs is known to about a fifth.
func (o *observed) enough() bool { return o.seen >= 225 }

// latency fits what was observed, drawn towards the profile: lazy batching makes steps alike, so that they alone do not tell
// the cost of a step from that of a request in it.
func (o *observed) latency() (throughput.Affine, bool) {
	xx, xy := o.xx, o.xy
	add := func(s shape, scale, weight float64) {
		x, y := [3]float64{1, s.requests, s.tokens}, s.seconds*scale
		w := weight / (y * y)
		for i := range x {
			for j := range x {
				xx[i][j] += w * x[i] * x[j]
			}
			xy[i] += w * x[i] * y
		}
	}
	if len(o.profile) == 0 && o.n < 4 {
		return throughput.Affine{}, false
	}
	scale := 1.0
	if len(o.profile) > 0 && o.n > 10 {
		// The machine may have become faster or slower altogether since.
		fit := fitProfile(o.profile)
		if said := fit.Step(o.last[0], o.last[1]); said > 0 {
			scale = o.last[2] / said
		}
	}
	for _, s := range o.profile {
		add(s, scale, 0.1*max(o.n, 1)/float64(len(o.profile)))
	}
	if len(o.profile) == 0 {
		// One pseudo-step: requests cost a hundredth of the whole each, so that slopes have some value.
		add(shape{requests: 1, tokens: 1, seconds: o.mean}, 1, 0.05*o.n)
	}
	theta := nonNegative(xx, xy)
	return throughput.Affine{Base: theta[0], PerRequest: theta[1], PerRow: theta[2]}, theta[0]+theta[1]+theta[2] > 0
}

// fitProfile fits the profile alone.
func fitProfile(profile []shape) throughput.Affine {
	var xx [3][3]float64
	var xy [3]float64
	for _, s := range profile {
		x := [3]float64{1, s.requests, s.tokens}
		w := 1 / (s.seconds * s.seconds)
		for i := range x {
			for j := range x {
				xx[i][j] += w * x[i] * x[j]
			}
			xy[i] += w * x[i] * s.seconds
		}
	}
	theta := nonNegative(xx, xy)
	return throughput.Affine{Base: theta[0], PerRequest: theta[1], PerRow: theta[2]}
}

// nonNegative solves the normal equations of three unknowns that must not be negative: the best of all choices of which are
// zero.
func nonNegative(xx [3][3]float64, xy [3]float64) (best [3]float64) {
	least := math.Inf(1)
	for set := 1; set < 8; set++ {
		var theta [3]float64
		var free []int
		for i := range 3 {
			if set&(1<<i) != 0 {
				free = append(free, i)
			}
		}
		x, ok := solve(free, xx, xy)
		if !ok || slices.ContainsFunc(x, func(v float64) bool { return v < 0 }) {
			continue
		}
		for k, i := range free {
			theta[i] = x[k]
		}
		loss := 0.0
		for i := range 3 {
			for j := range 3 {
				loss += theta[i] * xx[i][j] * theta[j]
			}
			loss -= 2 * theta[i] * xy[i]
		}
		if loss < least-1e-12 {
			least, best = loss, theta
		}
	}
	return best
}

// solve solves the equations of the unknowns in `free`, by elimination with pivoting.
func solve(free []int, xx [3][3]float64, xy [3]float64) ([]float64, bool) {
	n := len(free)
	var a [3][4]float64
	for r, i := range free {
		for c, j := range free {
			a[r][c] = xx[i][j]
		}
		a[r][n] = xy[i]
	}
	for c := range n {
		p := c
		for r := c; r < n; r++ {
			if math.Abs(a[r][c]) > math.Abs(a[p][c]) {
				p = r
			}
		}
		if math.Abs(a[p][c]) < 1e-9*xx[free[c]][free[c]] || a[p][c] == 0 {
			return nil, false
		}
		a[c], a[p] = a[p], a[c]
		for r := range n {
			if r == c {
				continue
			}
			f := a[r][c] / a[c][c]
			for k := c; k <= n; k++ {
				a[r][k] -= f * a[c][k]
			}
		}
	}
	x := make([]float64, n)
	for i := range n {
		x[i] = a[i][n] / a[i][i]
	}
	return x, true
}
