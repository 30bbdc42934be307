package router

import "errors"

// CoLLMName is the name of Co-LLM.
const CoLLMName = "co-llm"

// CoLLMThreshold is the threshold that Co-LLM uses when none is given (paper, "Settings").
const CoLLMThreshold = 0.15

// CoLLM is Co-LLM: the head is one more row of the small model's output matrix, that of a token which says "defer". Above the threshold of
// its probability the large model writes the position (Shen et al., "Learning to Decode Collaboratively with Multiple Language
// Models", section 3; their strategy "defer"). A score that is not a number defers.
type CoLLM struct{ learned }

func init() {
	Register(CoLLM{learned{name: CoLLMName, standard: CoLLMThreshold, toLarge: func(p, threshold float64) bool { return !(p <= threshold) }}})
}

// Check implements [Algorithm]: the one strategy is "defer".
func (c CoLLM) Check(models int, p Params) error {
	if p.Strategy == "compose" {
		return errors.New(`algorithm "co-llm": the strategy "compose" mixes the distributions of both models at every position, and models exchange tokens, not distributions: use "defer"`)
	}
	if err := checkStrategy(CoLLMName, p.Strategy, "defer"); err != nil {
		return err
	}
	p.Strategy = ""
	return c.learned.Check(models, p)
}
