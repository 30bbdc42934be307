package router

import "fmt"

// Params are the parameters of an algorithm: those of the route, overridden by a request's `routing` object.
// A nil pointer means that the parameter was not given; the algorithm then uses its own default.
type Params struct {
	Threshold *float64 `json:"threshold,omitempty" yaml:"threshold,omitempty"`
}

// Override returns p with every parameter that o gives taken from o.
func (p Params) Override(o Params) Params {
	if o.Threshold != nil {
		p.Threshold = o.Threshold
	}
	return p
}

// checkPair is the check of an algorithm between two models whose threshold, if given, lies in 0 to 1; it says what the
// threshold is.
func checkPair(algorithm string, models int, p Params, threshold string) error {
	if models != 2 {
		return fmt.Errorf("algorithm %q routes between 2 models, not %d", algorithm, models)
	}
	if t := p.Threshold; t != nil && !(*t >= 0 && *t <= 1) { // written so that NaN fails
		return fmt.Errorf("algorithm %q: threshold is %s, from 0 to 1, not %g", algorithm, threshold, *t)
	}
	return nil
}
