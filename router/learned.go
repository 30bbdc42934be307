package router

import "math"

// learned is what CITER, R2R and Co-LLM have in common: a head on the small model (role 0) scores every position; where the rule says so
// the small model's token is discarded, and the large one (role 1) writes that position and hands back at once.
type learned struct {
	name     string
	standard float64 // the threshold when none is given
	top      int     // logits that the head looks at
	toLarge  func(probability, threshold float64) bool
}

// Name implements [Algorithm].
func (l learned) Name() string { return l.name }

// Check implements [Algorithm]: two models; the threshold is a probability.
func (l learned) Check(models int, p Params) error {
	return checkPair(l.name, models, p, "a probability")
}

// Role implements [Algorithm].
func (l learned) Role(model, _ int, p Params) Role {
	if model == 1 {
		return Role{Keep: true, Route: func(View) Destination { return PeerOf(1, 0) }}
	}
	threshold := l.standard
	if p.Threshold != nil {
		threshold = *p.Threshold
	}
	return Role{Needs: Needs{Head: true, Top: l.top}, Route: func(v View) Destination {
		if l.toLarge(sigmoid(v.Row.HeadLogit), threshold) {
			return PeerOf(0, 1)
		}
		return Stay
	}}
}

// sigmoid turns a head's logit into a probability.
func sigmoid(logit float32) float64 { return 1 / (1 + math.Exp(-float64(logit))) }
