package simrunner

import (
	"fmt"
	"math"

	"github.com/tokenrouter/tokenrouter/sched"
)

// Head is a router head of simulated models: its score is a hash of its seed, the sequence and the drawn token. As a probability
// it is uniform in 0 to 1.
type Head struct {
	Seed    uint64
	Largest int    // logits that it looks at
	For     string // the algorithm that it was made for; "": not said
}

var _ sched.Head = Head{}

// Algorithm implements sched.Head.
func (h Head) Algorithm() string { return h.For }

// Top implements sched.Head.
func (h Head) Top() int { return h.Largest }

// CheckHead implements sched.HeadRunner.
func (r *Runner) CheckHead(h sched.Head) error {
	if _, ok := h.(Head); !ok {
		return fmt.Errorf("a simulated runner scores by no %T", h)
	}
	return nil
}

// score is the logit of a probability.
func (h Head) score(sequence uint64, token int32) float32 {
	p := uniform(mix(mix(sequence^h.Seed)^uint64(token))) + 1.0/(1<<54) // not 0
	return float32(math.Log(p / (1 - p)))
}
