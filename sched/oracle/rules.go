package oracle

import (
	"math"

	"github.com/tokenrouter/tokenrouter/router"
)

// rule is what a model does, written down here once more from the definition of the algorithm. Algorithms without one are judged
// by their own functions, so that only the scheduler is.
type rule struct {
	keep  bool
	draft bool
	start func(router.View) int
	route func(router.View) router.Destination
}

func ruleOf(algorithm string, model int, p router.Params) *rule {
	threshold := func(standard float64) float64 {
		if p.Threshold == nil {
			return standard
		}
		return *p.Threshold
	}
	if algorithm == router.EnsembleName {
		return &rule{
			keep:  true,
			start: func(v router.View) int { return drawn(v, len(v.Tokens), p.Weights) },
			route: func(v router.View) router.Destination {
				return router.PeerOf(v.Model, drawn(v, len(v.Tokens)+1, p.Weights))
			},
		}
	}
	large := func(when func(router.View) bool) func(router.View) router.Destination {
		return func(v router.View) router.Destination {
			if when(v) {
				return 1
			}
			return 0
		}
	}
	back := &rule{keep: true, route: func(router.View) router.Destination { return 1 }}
	switch {
	case algorithm == router.SpeculativeName && model == 0:
		most := 4
		if p.Draft != nil {
			most = *p.Draft
		}
		return &rule{keep: true, draft: true, start: func(router.View) int { return 1 }, route: large(func(v router.View) bool {
			return len(v.Draft)+1 == most || v.Left == 2 || v.Ends
		})}
	case algorithm == router.SpeculativeName:
		return &rule{keep: true, route: large(func(v router.View) bool { // back to the small one
			as := len(v.Draft) > 0 && v.Draft[0] == v.Row.Token
			return !as && v.Left != 2
		})}
	case algorithm == router.RStitchName:
		unsure := func(v router.View) bool { return float64(v.Row.Entropy)/math.Log(float64(v.Vocab)) > threshold(0.03) }
		if model == 0 {
			return &rule{route: large(unsure)}
		}
		return &rule{keep: true, route: large(func(v router.View) bool { return !unsure(v) })}
	case algorithm == router.R2RName && p.Strategy == "entropy":
		if model == 1 {
			return back
		}
		return &rule{route: large(func(v router.View) bool { return float64(v.Row.Entropy) >= threshold(0.45) })}
	case algorithm == router.RandomName, algorithm == router.R2RName && p.Strategy == "random":
		if model == 1 {
			return back
		}
		return &rule{route: large(func(v router.View) bool { return router.Uniform(v) < threshold(0.1) })}
	case algorithm == router.CITERName, algorithm == router.CoLLMName, algorithm == router.R2RName:
		if model == 1 {
			return back
		}
		return &rule{route: large(func(v router.View) bool {
			p := 1 / (1 + math.Exp(-float64(v.Row.HeadLogit)))
			switch algorithm {
			case router.CITERName: // sure that its token is right
				return p < threshold(0.98)
			case router.CoLLMName: // defers
				return p > threshold(0.15)
			}
			return p >= threshold(0.5) // R2R: leads astray
		})}
	case algorithm == router.QueryName && p.Strategy == "head":
		return &rule{route: large(func(v router.View) bool {
			return model == 0 && len(v.Tokens) == v.Prompt && 1/(1+math.Exp(-float64(v.Row.HeadLogit))) >= threshold(0.5)
		})}
	case algorithm == router.QueryName && p.Strategy == "logprob":
		return &rule{route: large(func(v router.View) bool {
			return model == 0 && len(v.Tokens) == v.Prompt && float64(v.Row.TopLogits[0])-float64(v.Row.LogSumExp) < threshold(-math.Ln2)
		})}
	case algorithm == router.QueryName && p.Strategy == "random":
		return &rule{
			start: func(v router.View) int {
				if router.Uniform(v) < threshold(0.1) {
					return 1
				}
				return 0
			},
			route: func(router.View) router.Destination { return router.Stay },
		}
	case algorithm == router.QueryName && (p.Strategy == "" || p.Strategy == "entropy"):
		return &rule{route: large(func(v router.View) bool {
			return model == 0 && len(v.Tokens) == v.Prompt && float64(v.Row.Entropy)/math.Log(float64(v.Vocab)) > threshold(0.03)
		})}
	}
	return nil
}

// drawn is the model for a position, drawn by the weights from the numbers that all models of a route share.
func drawn(v router.View, position int, weights []float64) int {
	u, sum := router.Shared(v, position), 0.0
	for _, w := range weights {
		sum += w
	}
	below := 0.0
	for i, w := range weights {
		if below += w / sum; u < below {
			return i
		}
	}
	return len(weights) - 1
}
