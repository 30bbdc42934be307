package router

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Params are the parameters of an algorithm: those of the route, overridden by a request's `routing` object.
// Nil or empty means that the parameter was not given; the algorithm then uses its own default.
type Params struct {
	Threshold *float64 `json:"threshold,omitempty" yaml:"threshold,omitempty"`
	// LargeShare is the share of tokens that the large model is to write, in place of a threshold.
	LargeShare *float64  `json:"large_share,omitempty" yaml:"large_share,omitempty"`
	Weights    []float64 `json:"weights,omitempty" yaml:"weights,omitempty"`   // [models] how often each writes, relative to the others
	Strategy   string    `json:"strategy,omitempty" yaml:"strategy,omitempty"` // a variant of the algorithm
	Draft      *int      `json:"draft,omitempty" yaml:"draft,omitempty"`       // tokens that are drafted at a time
}

// Override returns p with every parameter that o gives taken from o. A strategy has thresholds of its own: where o gives
// another one, the threshold of p goes.
func (p Params) Override(o Params) Params {
	if o.Strategy != "" && o.Strategy != p.Strategy {
		p.Strategy, p.Threshold = o.Strategy, nil
	}
	if o.Threshold != nil || o.LargeShare != nil { // one takes the place of the other
		p.Threshold, p.LargeShare = o.Threshold, o.LargeShare
	}
	if o.Weights != nil {
		p.Weights = o.Weights
	}
	if o.Draft != nil {
		p.Draft = o.Draft
	}
	return p
}

// Culprit names the parameter ("large_share", "threshold", "weights", "draft" or "strategy") that [Check] refuses p for: the last of those, in this
// order, without which it is content. "" if it is not for a parameter.
func Culprit(a Algorithm, models int, p Params) string {
	without := p
	for _, part := range []struct {
		name  string
		given bool
		drop  func()
	}{
		{"large_share", p.LargeShare != nil, func() { without.LargeShare = nil }},
		{"threshold", p.Threshold != nil, func() { without.Threshold = nil }},
		{"weights", p.Weights != nil, func() { without.Weights = nil }},
		{"draft", p.Draft != nil, func() { without.Draft = nil }},
		{"strategy", p.Strategy != "", func() { without.Strategy = "" }},
	} {
		if !part.given {
			continue
		}
		if part.drop(); Check(a, models, without) == nil {
			return part.name
		}
	}
	return ""
}

// threshold is the one that was given, or else the standard one.
func (p Params) threshold(standard float64) float64 {
	if p.Threshold != nil {
		return *p.Threshold
	}
	return standard
}

// checkPair is the check of an algorithm between two models whose only parameter is a threshold that, if given, lies in 0
// to 1; it says what the threshold is.
func checkPair(algorithm string, models int, p Params, threshold string) error {
	if err := checkModels(algorithm, models, p); err != nil {
		return err
	}
	if p.Strategy != "" {
		return fmt.Errorf("algorithm %q has no strategies (got %q)", algorithm, p.Strategy)
	}
	return checkThreshold(algorithm, p, threshold, 0, 1)
}

// checkModels refuses what an algorithm between two models cannot take: other numbers of models, and weights.
func checkModels(algorithm string, models int, p Params) error {
	if models != 2 {
		return fmt.Errorf("algorithm %q routes between 2 models, not %d", algorithm, models)
	}
	if p.Weights != nil {
		return fmt.Errorf("algorithm %q takes no weights: these are for %q", algorithm, EnsembleName)
	}
	return nil
}

// checkThreshold says what a threshold outside low to high should be.
func checkThreshold(algorithm string, p Params, threshold string, low, high float64) error {
	t := p.Threshold
	if t == nil || *t >= low && *t <= high && !math.IsInf(*t, 0) {
		return nil
	}
	allowed := fmt.Sprintf("from %g to %g", low, high)
	switch {
	case math.IsInf(high, 1):
		allowed = fmt.Sprintf("%g or more", low)
	case math.IsInf(low, -1):
		allowed = fmt.Sprintf("%g or less", high)
	}
	return fmt.Errorf("algorithm %q: threshold is %s, %s, not %g", algorithm, threshold, allowed, *t)
}

// checkStrategy refuses a strategy that an algorithm does not have.
func checkStrategy(algorithm, strategy string, known ...string) error {
	if strategy == "" || slices.Contains(known, strategy) {
		return nil
	}
	return fmt.Errorf("algorithm %q has no strategy %q: it has %s", algorithm, strategy, strings.Join(known, ", "))
}
