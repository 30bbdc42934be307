package router

import "math"

// R2RName is the name of R2R.
const R2RName = "r2r"

// Thresholds that R2R uses when none is given: of its head, and of its strategy "entropy" in nats (the published defaults).
const (
	R2RThreshold        = 0.5
	R2REntropyThreshold = 0.45
)

// Strategies of R2R.
const (
	r2rNeural  = "neural"
	r2rEntropy = "entropy"
	r2rRandom  = "random"
)

// r2rLogits are the largest logits that R2R's published heads look at.
const r2rLogits = 100

// R2R lets the large model write the positions at which the small one would lead away from what the large one would say (Fu et
// al., "R2R: Efficiently Navigating Divergent Reasoning Paths with Small-Large Model Token Routing", section 3). Which these are is
// up to the strategy:
//
//   - "neural" (default): a head that looks at the hidden state, the drawn token and the largest logits; from the threshold of its
//     probability on. A score that is not a number counts as divergence.
//   - "entropy": the small model's entropy in nats, from the threshold on; what R2R is published with for comparison. No head.
//   - "random": a share of the positions, the threshold, drawn as [Random] does. No head.
type R2R struct{ learned }

func init() {
	Register(R2R{learned{name: R2RName, standard: R2RThreshold, top: r2rLogits, toLarge: func(p, threshold float64) bool { return !(p < threshold) }}})
}

// Check implements [Algorithm].
func (r R2R) Check(models int, p Params) error {
	if err := checkModels(R2RName, models, p); err != nil {
		return err
	}
	if err := checkStrategy(R2RName, p.Strategy, r2rNeural, r2rEntropy, r2rRandom); err != nil {
		return err
	}
	switch p.Strategy {
	case r2rEntropy:
		return checkThreshold(R2RName, p, "an entropy in nats", 0, math.Inf(1))
	case r2rRandom:
		return checkThreshold(R2RName, p, "the share of positions that the large model writes", 0, 1)
	}
	p.Strategy = ""
	return r.learned.Check(models, p)
}

// Role implements [Algorithm].
func (r R2R) Role(model, models int, p Params) Role {
	switch p.Strategy {
	case r2rEntropy:
		threshold := p.threshold(R2REntropyThreshold)
		score := &Score{Of: func(v View) float64 { return float64(v.Row.Entropy) }, At: threshold}
		return visits(model, Needs{}, score, func(v View) bool { return !(score.Of(v) < v.threshold(threshold)) })
	case r2rRandom:
		return visits(model, Needs{}, nil, atRandom(p.threshold(RandomShare)))
	}
	return r.learned.Role(model, models, p)
}
