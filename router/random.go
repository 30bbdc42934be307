package router

// RandomName is the name of the fixed random router.
const RandomName = "random"

// RandomShare is the share of positions that the large model writes when no threshold is given.
const RandomShare = 0.1

// Random lets the large model write a fixed share of all positions, chosen at random: the baseline that a router must beat
// in quality, and the workload on which batching policies are compared. Which positions they are depends on the request's
// seed and the position alone ([Uniform]), so the tokens are the same under every policy.
//
// The small model (role 0) discards its token at such a position; the large one (role 1) writes it and hands back.
// The threshold is the share.
type Random struct{}

func init() { Register(Random{}) }

// Name implements [Algorithm].
func (Random) Name() string { return RandomName }

// Check implements [Algorithm]: two models; the threshold lies in 0 to 1.
func (Random) Check(models int, p Params) error {
	return checkPair(RandomName, models, p, "the share of positions that the large model writes")
}

// Role implements [Algorithm].
func (Random) Role(model, _ int, p Params) Role {
	return visits(model, Needs{}, nil, atRandom(p.threshold(RandomShare)))
}

// atRandom holds at a share of the positions, whatever the models say.
func atRandom(share float64) func(View) bool {
	return func(v View) bool { return Uniform(v) < share }
}

// visits is the role of a model where the large one (role 1) writes the positions at which large holds, one each, and the small
// one (role 0), whose token is discarded there, all others.
func visits(model int, needs Needs, score *Score, large func(View) bool) Role {
	if model == 1 {
		return Role{Keep: true, Route: func(View) Destination { return PeerOf(1, 0) }}
	}
	return Role{Needs: needs, Score: score, Route: func(v View) Destination {
		if large(v) {
			return PeerOf(0, 1)
		}
		return Stay
	}}
}
