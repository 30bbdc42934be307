package router

import "math"

// RStitchName is the name of R-Stitch.
const RStitchName = "r-stitch"

// RStitchThreshold is the threshold that R-Stitch uses when none is given (paper, "Settings").
const RStitchThreshold = 0.03

// RStitch routes by the normalised entropy of whichever model is writing (R-Stitch, Algorithm 1): h = H / ln V over the
// next-token distribution before any sampling parameter, V the ids valid in both models.
//
//   - The small model (role 0) hands off when h > threshold. Its token is discarded: the large one writes that position.
//   - The large model (role 1) writes on until h <= threshold and then hands back. All its tokens are kept, also the one
//     on which it hands back. Were that one dropped, greedy decoding would bounce at one position for ever.
//
// An entropy that is not a number counts as above any threshold: the large model writes.
type RStitch struct{}

func init() { Register(RStitch{}) }

// Name implements [Algorithm].
func (RStitch) Name() string { return RStitchName }

// Check implements [Algorithm]: two models; the threshold lies in 0 to 1, as the normalised entropy does. At 1 the small
// model writes all.
func (RStitch) Check(models int, p Params) error {
	return checkPair(RStitchName, models, p, "a normalised entropy")
}

// Role implements [Algorithm].
func (RStitch) Role(model, _ int, p Params) Role {
	threshold := p.threshold(RStitchThreshold)
	score := &Score{Of: normalized, At: threshold}
	if model == 0 {
		return Role{Score: score, Route: func(v View) Destination {
			if confident(v, v.threshold(threshold)) {
				return Stay
			}
			return PeerOf(0, 1)
		}}
	}
	return Role{Keep: true, Score: score, Route: func(v View) Destination {
		if confident(v, v.threshold(threshold)) {
			return PeerOf(1, 0)
		}
		return Stay
	}}
}

// confident reports whether H / ln V <= threshold. It multiplies, so that a vocabulary of one id (ln V = 0) is no
// division by zero; a NaN entropy is not confident.
func confident(v View, threshold float64) bool {
	return float64(v.Row.Entropy) <= threshold*math.Log(float64(v.Vocab))
}

// normalized is H / ln V; not a number for a vocabulary of one id.
func normalized(v View) float64 { return float64(v.Row.Entropy) / math.Log(float64(v.Vocab)) }
