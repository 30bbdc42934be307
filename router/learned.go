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
	threshold := p.threshold(l.standard)
	score := &Score{Of: headScore, At: threshold, Low: l.toLarge(0, 0.5)}
	return visits(model, Needs{Head: true, Top: l.top}, score, func(v View) bool {
		return l.toLarge(score.Of(v), v.threshold(threshold))
	})
}

// sigmoid turns a head's logit into a probability.
func sigmoid(logit float32) float64 { return 1 / (1 + math.Exp(-float64(logit))) }
