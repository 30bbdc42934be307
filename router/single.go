package router

import "fmt"

// SingleName is the name of the algorithm of a model that is served alone.
const SingleName = "single"

// Single serves one model alone: every token is its own. It is the baseline that routed answers are compared with.
type Single struct{}

func init() { Register(Single{}) }

// Name implements [Algorithm].
func (Single) Name() string { return SingleName }

// Check implements [Algorithm]: one model, no parameters.
func (Single) Check(models int, p Params) error {
	if models != 1 {
		return fmt.Errorf("algorithm %q serves one model, not a route of %d", SingleName, models)
	}
	if p.Threshold != nil {
		return fmt.Errorf("algorithm %q takes no threshold (got %g): a model alone is not routed", SingleName, *p.Threshold)
	}
	if p.Weights != nil || p.Strategy != "" {
		return fmt.Errorf("algorithm %q takes no weights and has no strategies: a model alone is not routed", SingleName)
	}
	return nil
}

// Role implements [Algorithm].
func (Single) Role(int, int, Params) Role {
	return Role{Route: func(View) Destination { return Stay }}
}
