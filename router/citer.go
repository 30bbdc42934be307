package router

// CITERName is the name of CITER.
const CITERName = "citer"

// CITERThreshold is the threshold that CITER uses when none is given (paper, "Settings").
const CITERThreshold = 0.98

// CITER: the head's probability is the confidence that the small model's token is right. Below the threshold the large model
// writes the position ("CITER: Collaborative Inference for Efficient Large Language Model Decoding with Token-Level Routing",
// section 3). A score that is not a number counts as no confidence.
func init() {
	Register(learned{name: CITERName, standard: CITERThreshold, toLarge: func(p, threshold float64) bool { return !(p >= threshold) }})
}
