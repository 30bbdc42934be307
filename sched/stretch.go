package sched

import "time"

// Steps of several models on a concurrent device run side by side, and each takes longer than alone: while another runs it gets on at 1/S of
// its speed. So a step that takes T, of which another ran during O, would have taken W = T - O + O/S alone, and
//
//	T - W = O (1 - 1/S)
//
// W is what the estimate of steps alone says, which is made of those that nothing overlapped, and of the profile, which is measured
// while nothing else runs.

const (
	overlapLeast  = 0.05 // of a step: less is not seen as overlap
	stretchMost   = 8
	stretchKnown  = 10 // steps from which on there is an estimate
	stretchMemory = 200
)

// overlapped adds a step as observed.step does, or where another ran for part of it, to what is known of the stretch.
func (o *observed) overlapped(requests, tokens int, took, overlap time.Duration) {
	share := overlap.Seconds() / max(took.Seconds(), 1e-9)
	if share < overlapLeast {
		o.step(requests, tokens, took)
		return
	}
	latency, known := o.latency()
	if !known { // better than nothing
		o.step(requests, tokens, took)
		return
	}
	const keep = 1 - 1.0/stretchMemory
	slower := 1 - latency.Step(float64(requests), float64(tokens))/took.Seconds() // (T - W) / T
	o.oo = keep*o.oo + share*share
	o.oy = keep*o.oy + share*slower
	o.overlaps = keep*o.overlaps + 1
}

// stretch is S; 0: not known.
func (o *observed) stretch() float64 {
	if o.overlaps < stretchKnown {
		return 0
	}
	return 1 / (1 - clamp(o.oy/o.oo, 0, 1-1.0/stretchMost))
}
