// Package eventsim is the system that throughput models and scheduler are about, request by request, on a clock of its own:
// what both are judged by in tests. It shares no code with either.
package eventsim

import (
	"math"
	"math/rand/v2"
)

// Judge is models that write N answers without end. The entry is model 0.
type Judge struct {
	Requests int
	P, C     [][]float64                            // [models][models] probabilities of going from one to another, and tokens committed then
	Latency  []func(requests, rows float64) float64 // [models] seconds of a step
	Shared   bool                                   // one step at a time
	Stretch  []float64                              // [models] times as long that a step takes while another runs; nil: 1
	Jitter   float64                                // standard deviation of the logarithm of a step's time
	rng      *rand.Rand

	now     float64
	waiting [][]int   // [models] requests, in the order in which they came
	running [][]int   // [models] requests in the step
	ends    []float64 // [models] of the step; infinite: idle
	left    []float64 // [models] seconds of the step that are still to be done; with Stretch
	behind  [][]int   // [requests][models] tokens that the model has not taken in
	tokens  float64
}

// Run follows the system until so many steps of requests have been made, after a tenth of that for warming up, and returns
// tokens per second.
func (j *Judge) Run(b []int, visits int, seed uint64) float64 {
	models := len(j.Latency)
	j.rng = rand.New(rand.NewPCG(seed, 77))
	j.now, j.tokens = 0, 0
	j.waiting, j.running = make([][]int, models), make([][]int, models)
	j.ends, j.left = make([]float64, models), make([]float64, models)
	for i := range j.ends {
		j.ends[i] = math.Inf(1)
	}
	j.behind = make([][]int, j.Requests)
	for r := range j.behind {
		j.behind[r] = make([]int, models)
		for i := range models {
			j.behind[r][i] = 1
		}
		j.waiting[0] = append(j.waiting[0], r)
	}
	done, since, from := 0, 0.0, 0.0
	for warm := false; done < visits; {
		j.start(b)
		if j.Stretch != nil {
			j.work()
		}
		j.now = math.Inf(1)
		for _, end := range j.ends {
			j.now = min(j.now, end)
		}
		for i := range j.ends { // all that ends now ends before anything starts
			if j.ends[i] == j.now {
				done += len(j.running[i])
				j.end(i)
			}
		}
		if !warm && done > visits/10 {
			warm, since, from = true, j.now, j.tokens
		}
	}
	return (j.tokens - from) / (j.now - since)
}

// work lets all steps get on until the first of them is through.
func (j *Judge) work() {
	running := 0
	for _, r := range j.running {
		if len(r) > 0 {
			running++
		}
	}
	speed := func(i int) float64 {
		if running > 1 {
			return 1 / j.Stretch[i]
		}
		return 1
	}
	first := math.Inf(1)
	for i, r := range j.running {
		if len(r) > 0 {
			first = min(first, j.left[i]/speed(i))
		}
	}
	for i, r := range j.running {
		j.ends[i] = math.Inf(1)
		if len(r) == 0 {
			continue
		}
		if j.left[i] -= first * speed(i); j.left[i] <= 1e-9*first {
			j.ends[i] = j.now + first
		}
	}
}

// end spreads the requests of a step.
func (j *Judge) end(i int) {
	for _, r := range j.running[i] {
		u, to := j.rng.Float64(), 0
		for u -= j.P[i][0]; u >= 0 && to < len(j.P)-1; u -= j.P[i][to] {
			to++
		}
		if j.C[i][to] > 0 {
			j.tokens++
			for k := range j.behind[r] {
				j.behind[r][k]++
			}
		}
		j.waiting[to] = append(j.waiting[to], r)
	}
	j.running[i], j.ends[i] = nil, math.Inf(1)
}

// start starts whatever may start.
func (j *Judge) start(b []int) {
	busy := 0
	for _, r := range j.running {
		if len(r) > 0 {
			busy++
		}
	}
	if j.Shared {
		if busy == 0 {
			j.launch(j.turn(b))
		}
		return
	}
	for i := range j.waiting {
		if len(j.running[i]) == 0 && len(j.waiting[i]) >= b[i] {
			j.launch(i)
			busy++
		}
	}
	if busy == 0 {
		j.launch(j.fullest(b))
	}
}

// turn is whose turn it is on the shared device: the last model in the route for which enough wait.
func (j *Judge) turn(b []int) int {
	for i := len(b) - 1; i >= 0; i-- {
		if len(j.waiting[i]) >= b[i] {
			return i
		}
	}
	return j.fullest(b)
}

// fullest is the model that is nearest to its threshold.
func (j *Judge) fullest(b []int) int {
	best := 0
	for i := range b {
		if float64(len(j.waiting[i]))/float64(b[i]) > float64(len(j.waiting[best]))/float64(b[best]) {
			best = i
		}
	}
	return best
}

func (j *Judge) launch(i int) {
	rows := 0
	for _, r := range j.waiting[i] {
		rows += max(1, j.behind[r][i])
		j.behind[r][i] = 0
	}
	j.running[i], j.waiting[i] = j.waiting[i], nil
	took := j.Latency[i](float64(len(j.running[i])), float64(rows))
	if j.Jitter > 0 {
		took *= math.Exp(j.Jitter*j.rng.NormFloat64() - j.Jitter*j.Jitter/2) // 1 in the mean
	}
	j.ends[i], j.left[i] = j.now+took, took
}
