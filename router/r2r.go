package router

// R2RName is the name of R2R.
const R2RName = "r2r"

// R2RThreshold is the threshold that R2R uses when none is given.
const R2RThreshold = 0.5

// r2rLogits are the largest logits that R2R's published heads look at.
const r2rLogits = 100

// R2R: the head looks at the hidden state, the drawn token and the largest logits; its probability is that of the small model's
// token leading away from what the large one would say. From the threshold on the large model writes the position (Fu et al., "R2R:
// Efficiently Navigating Divergent Reasoning Paths with Small-Large Model Token Routing", section 3). A score that is not a
// number counts as divergence.
func init() {
	Register(learned{name: R2RName, standard: R2RThreshold, top: r2rLogits, toLarge: func(p, threshold float64) bool { return !(p < threshold) }})
}
