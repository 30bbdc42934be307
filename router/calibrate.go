package router

import (
	"fmt"
	"math"
	"slices"
	"sync"
)

// Score is what a role compares with the threshold.
type Score struct {
	Of      func(View) float64 // NaN: this position has none
	At      float64            // the threshold, unless [View.Threshold] stands in its place
	Low     bool               // the large model writes where the score is low; otherwise where it is high
	Answers bool               // one score decides about a whole answer
}

// Constants of a Calibrator.
const (
	calibratorMemory = 512      // scores that are remembered
	calibratorLeast  = 32       // scores without which there is no threshold
	calibratorGain   = 1. / 256 // of the correction, per token
	calibratorDebt   = 2        // most that is corrected
	calibratorGrid   = 1000     // shares are told apart to a thousandth
)

// Calibrator turns a share of tokens that the large model is to write into a threshold, from the scores seen: the quantile
// of the last 512 of them, at the share plus a correction. The correction is the sum of what the large model wrote too little so
// far, in tokens, by 256; it makes up for all that a quantile of the small model's scores does not know, such as spans of the large
// one. There is one for every share, to a thousandth. The thresholds are a function of the scores and tokens, and of their order. Safe
// for concurrent use.
type Calibrator struct {
	mu      sync.Mutex
	scores  []float64 // in order of time, a ring
	next    int
	sorted  []float64
	lacking map[int]float64 // by share
}

// NewCalibrator returns a calibrator that has seen nothing.
func NewCalibrator() *Calibrator { return &Calibrator{lacking: make(map[int]float64)} }

// Seen takes a score in. One that is not a number is none.
func (c *Calibrator) Seen(score float64) {
	if math.IsNaN(score) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.scores) < calibratorMemory {
		c.scores = append(c.scores, score)
	} else {
		old, _ := slices.BinarySearch(c.sorted, c.scores[c.next])
		c.sorted = slices.Delete(c.sorted, old, old+1)
		c.scores[c.next] = score
		c.next = (c.next + 1) % calibratorMemory
	}
	at, _ := slices.BinarySearch(c.sorted, score)
	c.sorted = slices.Insert(c.sorted, at, score)
}

// Threshold returns the threshold that a share amounts to now; low as in Score. ok is false while too few scores were seen.
// Shares of 0 and 1 need none.
func (c *Calibrator) Threshold(share float64, low bool) (threshold float64, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(c.sorted)
	rank := share
	if share > 0 && share < 1 {
		if n < calibratorLeast {
			return 0, false
		}
		rank = max(0, min(1, share+c.lacking[grid(share)]))
	}
	if !low {
		rank = 1 - rank
	}
	switch k := int(math.Round(rank * float64(n))); {
	case rank == 0 || k == 0:
		return math.Inf(-1), true
	case rank == 1 || k == n:
		return math.Inf(1), true
	default:
		return (c.sorted[k-1] + c.sorted[k]) / 2, true
	}
}

// Wrote tells how many tokens the large model and the others wrote under a share.
func (c *Calibrator) Wrote(share float64, large, others int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := calibratorGain * (share*float64(large+others) - float64(large))
	c.lacking[grid(share)] = max(-calibratorDebt, min(calibratorDebt, c.lacking[grid(share)]+d))
}

func grid(share float64) int { return int(math.Round(share * calibratorGrid)) }

// Check is a.Check with what all algorithms have in common: a share goes with an algorithm that has a score, and without a
// threshold, whose place it takes; a number of drafts goes with one that drafts.
func Check(a Algorithm, models int, p Params) error {
	if s := p.LargeShare; s != nil {
		switch {
		case !(*s >= 0 && *s <= 1): // written so that NaN fails
			return fmt.Errorf("large_share is the share of tokens that the large model writes, from 0 to 1, not %g", *s)
		case p.Threshold != nil:
			return fmt.Errorf("large_share (%g) takes the place of a threshold (%g): give one of them", *s, *p.Threshold)
		}
	}
	if err := a.Check(models, p); err != nil {
		return err
	}
	switch role := a.Role(0, models, p); {
	case p.LargeShare != nil && role.Score == nil:
		return fmt.Errorf("algorithm %q compares no score with a threshold, so large_share cannot be had", a.Name())
	case p.Draft != nil && !role.Draft:
		return fmt.Errorf("algorithm %q drafts no tokens, so draft (%d) cannot be had: it is for %q", a.Name(), *p.Draft, SpeculativeName)
	}
	return nil
}

// threshold is what a score is compared with: that of a share, or else the one given.
func (v *View) threshold(given float64) float64 {
	if v.Threshold != nil {
		return *v.Threshold
	}
	return given
}
