package router

import (
	"fmt"
	"math"
)

// EnsembleName is the name of the ensemble.
const EnsembleName = "ensemble"

// Ensemble lets every token be written by a model that is drawn for it, with fixed weights, whatever the text is. Where
// tokens are drawn by their probabilities the answer has the law of the mixture, sum of weight times distribution, at the cost
// of one model a token ("Mixture-model-like Ensemble", arXiv 2605.00419). That holds for the first token, too: its model is
// drawn when the request is admitted. All tokens are kept, and go along with the request.
//
// Who writes a position depends on the request's seed, the choice and the position alone: the same seed gives the same answer.
// Weights are relative to their sum; without weights all models have the same.
type Ensemble struct{}

func init() { Register(Ensemble{}) }

// Name implements [Algorithm].
func (Ensemble) Name() string { return EnsembleName }

// Check implements [Algorithm]: two models or more, a weight for each.
func (Ensemble) Check(models int, p Params) error {
	switch {
	case models < 2:
		return fmt.Errorf("algorithm %q needs 2 models or more, not %d", EnsembleName, models)
	case p.Threshold != nil:
		return fmt.Errorf("algorithm %q takes no threshold (got %g): it has weights", EnsembleName, *p.Threshold)
	case p.Strategy != "":
		return fmt.Errorf("algorithm %q has no strategies (got %q)", EnsembleName, p.Strategy)
	case p.Weights == nil:
		return nil
	case len(p.Weights) != models:
		return fmt.Errorf("algorithm %q: %d weights for %d models: each needs one", EnsembleName, len(p.Weights), models)
	}
	sum := 0.0
	for i, w := range p.Weights {
		if !(w >= 0) { // written so that NaN fails
			return fmt.Errorf("algorithm %q: weight %d is %g: weights are 0 or more", EnsembleName, i, w)
		}
		sum += w
	}
	if sum == 0 || math.IsInf(sum, 0) {
		return fmt.Errorf("algorithm %q: the weights add up to %g: their sum must be above 0 and finite", EnsembleName, sum)
	}
	return nil
}

// Role implements [Algorithm].
func (Ensemble) Role(_, models int, p Params) Role {
	next := writer(models, p.Weights)
	return Role{
		Keep:    true,
		AsAlone: true, // every position is drawn once
		Start:   func(v View) int { return next(v, len(v.Tokens)) },
		// The sampled token takes the position len(v.Tokens), and will be kept: who writes the one after it?
		Route: func(v View) Destination { return PeerOf(v.Model, next(v, len(v.Tokens)+1)) },
	}
}

// writer returns a function that draws the model for a position.
func writer(models int, weights []float64) func(v View, position int) int {
	upTo, sum, last := make([]float64, models), 0.0, 0
	for i := range upTo {
		w := 1.0
		if weights != nil {
			w = weights[i]
		}
		if w > 0 {
			last = i
		}
		sum += w
		upTo[i] = sum
	}
	return func(v View, position int) int {
		x := Shared(v, position) * sum
		for i, bound := range upTo {
			if x < bound {
				return i
			}
		}
		return last // rounding
	}
}
