package router

// CoLLMName is the name of Co-LLM.
const CoLLMName = "co-llm"

// CoLLMThreshold is the threshold that Co-LLM uses when none is given (paper, "Settings").
const CoLLMThreshold = 0.15

// Co-LLM: the head is one more row of the small model's output matrix, that of a token which says "defer". Above the threshold of its
// probability the large model writes the position (Shen et al., "Learning to Decode Collaboratively with Multiple Language
// Models", section 3; their strategy "defer"). A score that is not a number defers.
func init() {
	Register(learned{name: CoLLMName, standard: CoLLMThreshold, toLarge: func(p, threshold float64) bool { return !(p <= threshold) }})
}
