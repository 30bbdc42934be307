package throughput

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Trajectory predicts throughput by following requests through a system on a virtual clock. It takes any number of models
// and any thresholds, counts the rows of every step, and gives the same answer for the same seed.
//
// On separate devices every idle model starts with all that wait for it once its threshold is met. On a shared device the
// last model in the route whose threshold is met runs, one step at a time. When nothing runs and no threshold is met, the
// model starts for which the largest share of its threshold waits. Where steps stretch, each goes on at 1/Stretch of its speed while another
// runs.
type Trajectory struct {
	System *System
	Visits int     // steps of requests to follow; more is more exact. 100,000 has a noise of about 0.4%
	Jitter float64 // standard deviation of the logarithm of a step's time; without it separate devices may lock in phase
	Seed   uint64
}

// Throughput returns tokens per second with thresholds b.
func (t *Trajectory) Throughput(b []int) (float64, error) {
	if err := t.System.Check(); err != nil {
		return 0, err
	}
	if len(b) != len(t.System.Latencies) || t.Visits < 1 {
		return 0, fmt.Errorf("%d thresholds for %d models, %d visits to follow", len(b), len(t.System.Latencies), t.Visits)
	}
	for _, x := range b {
		if x < 1 {
			return 0, fmt.Errorf("thresholds %v: want 1 or more each", b)
		}
	}
	f := newFlow(t, b)
	f.follow(t.Visits / 8)
	tokens, start := f.tokens, f.now
	f.follow(t.Visits)
	return float64(f.tokens-tokens) / (f.now - start), nil
}

// flow is a trajectory under way.
type flow struct {
	*Trajectory
	b      []int
	rng    *rand.Rand
	total  [][]float64 // [models] cumulative rows of P
	at     [][]int32   // [models] requests that wait or are in the step
	batch  []int       // [models] how many of at are in the step: the first ones
	end    []float64   // [models] of the step, as things are
	slowed []bool      // [models] the step runs beside another
	seen   [][]int64   // [models][requests] tokens of the request that the model has taken in
	length []int64     // [requests] tokens written
	now    float64
	tokens int64
	visits int
}

func newFlow(t *Trajectory, b []int) *flow {
	s := t.System
	n := len(s.Latencies)
	f := &flow{Trajectory: t, b: b, rng: rand.New(rand.NewPCG(t.Seed, 3)),
		at: make([][]int32, n), batch: make([]int, n), end: make([]float64, n), slowed: make([]bool, n), length: make([]int64, s.Requests)}
	for i := range n {
		sum, row := 0.0, make([]float64, n)
		for j, p := range s.P[i] {
			sum += p
			row[j] = sum
		}
		f.total = append(f.total, row)
		f.seen = append(f.seen, make([]int64, s.Requests))
	}
	for r := range s.Requests {
		f.at[0] = append(f.at[0], int32(r))
	}
	return f
}

// follow goes on for so many steps of requests.
func (f *flow) follow(visits int) {
	for until := f.visits + visits; f.visits < until; {
		f.launch()
		f.slow()
		next := math.Inf(1)
		for i, k := range f.batch {
			if k > 0 {
				next = min(next, f.end[i])
			}
		}
		f.now = next
		for i, k := range f.batch {
			if k > 0 && f.end[i] <= next {
				f.finish(i)
			}
		}
		f.slow()
	}
}

// slow moves the ends of steps that have begun to run beside others, or alone again.
func (f *flow) slow() {
	if f.System.Stretch == nil || f.System.Shared {
		return
	}
	running := 0
	for _, k := range f.batch {
		if k > 0 {
			running++
		}
	}
	for i, k := range f.batch {
		slowed := k > 0 && running > 1
		if slowed == f.slowed[i] {
			continue
		}
		f.slowed[i] = slowed
		switch stretch := f.System.Stretch[i]; {
		case k == 0:
		case slowed:
			f.end[i] = f.now + (f.end[i]-f.now)*stretch
		default:
			f.end[i] = f.now + (f.end[i]-f.now)/stretch
		}
	}
}

// launch starts what may start.
func (f *flow) launch() {
	idle := true
	for _, k := range f.batch {
		idle = idle && k == 0
	}
	if f.System.Shared && !idle {
		return
	}
	for i := len(f.b) - 1; i >= 0; i-- {
		if f.batch[i] == 0 && len(f.at[i]) >= f.b[i] {
			f.begin(i)
			idle = false
			if f.System.Shared {
				return
			}
		}
	}
	if idle {
		best, share := 0, -1.0
		for i := range f.b {
			if x := float64(len(f.at[i])) / float64(f.b[i]); x > share {
				best, share = i, x
			}
		}
		f.begin(best)
	}
}

func (f *flow) begin(i int) {
	f.batch[i] = len(f.at[i])
	rows := int64(0)
	for _, r := range f.at[i] {
		rows += max(1, f.length[r]-f.seen[i][r])
		f.seen[i][r] = f.length[r]
	}
	seconds := f.System.Latencies[i].Step(float64(f.batch[i]), float64(rows))
	if f.Jitter > 0 {
		seconds *= math.Exp(f.Jitter*f.rng.NormFloat64() - f.Jitter*f.Jitter/2) // 1 in the mean
	}
	f.end[i] = f.now + seconds
}

func (f *flow) finish(i int) {
	k := f.batch[i]
	f.batch[i] = 0
	f.visits += k
	gone := f.at[i][:k]
	f.at[i] = append(make([]int32, 0, len(f.at[i])), f.at[i][k:]...)
	for _, r := range gone {
		u, j := f.rng.Float64(), 0
		for j < len(f.total[i])-1 && u >= f.total[i][j] {
			j++
		}
		if f.System.C[i][j] > 0 {
			f.tokens++
			f.length[r]++
		}
		f.at[j] = append(f.at[j], r)
	}
}
