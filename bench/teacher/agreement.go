package teacher

import (
	"math"

	"github.com/tokenrouter/tokenrouter/bindings"
)

// ClearMargin is how many nats the best id must lead by for a step to be a clear one: below, two right engines may differ.
const ClearMargin = 0.25

// Agreement says how the engine's predictions compare with golden answers.
type Agreement struct {
	Steps           int     `json:"steps"`
	Clear           int     `json:"clear_steps"`       // whose golden margin is above ClearMargin
	ClearAgree      int     `json:"clear_steps_agree"` // of those: same most likely id
	MeanLogProbDiff float64 `json:"mean_abs_logprob_difference"`
	MaxLogProbDiff  float64 `json:"max_abs_logprob_difference"` // of the golden token
}

// Share is the part of the clear steps that agree.
func (a Agreement) Share() float64 { return float64(a.ClearAgree) / float64(a.Clear) }

// Agree reads all answers.
func Agree(e *Engine, answers []Answer) (Agreement, error) {
	var r Agreement
	var sum float64
	for _, answer := range answers {
		err := e.Read(answer, func(i int, p bindings.Answer) {
			want := answer.Steps[i]
			r.Steps++
			if want.Margin() > ClearMargin {
				r.Clear++
				if p.TopIDs[0] == want.ID {
					r.ClearAgree++
				}
			}
			diff := math.Abs(float64(p.Logits[want.ID]) - float64(p.LogSumExp) - want.LogProb)
			sum += diff
			r.MaxLogProbDiff = max(r.MaxLogProbDiff, diff)
		})
		if err != nil {
			return r, err
		}
	}
	r.MeanLogProbDiff = sum / float64(r.Steps)
	return r, nil
}
