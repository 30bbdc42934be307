package simulate

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/sched/throughput"
)

// runner is a model that always writes the same token.
type runner struct {
	latency throughput.Latency
	jitter  float64
	rng     *rand.Rand
	slower  float64 // factor on all times
}

var _ sched.Timed = (*runner)(nil)

// Latency implements sched.Timed.
func (r *runner) Latency(b *sched.Batch) time.Duration {
	rows := 0
	for i := range b.Segments {
		rows += len(b.Segments[i].Tokens)
	}
	seconds := r.latency.Step(float64(len(b.Segments)), float64(rows)) * r.slower
	if r.jitter > 0 {
		seconds *= math.Exp(r.jitter*r.rng.NormFloat64() - r.jitter*r.jitter/2) // 1 in the mean
	}
	return time.Duration(seconds * float64(time.Second))
}

// token is what it writes.
const token = 1

// Step implements sched.Runner.
func (r *runner) Step(b *sched.Batch) error {
	for i := range b.Rows {
		b.Rows[i].Out.Token = token
	}
	return nil
}

// Close implements sched.Runner.
func (r *runner) Close() error { return nil }
