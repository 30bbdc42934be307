package router

import "math"

// QueryName is the name of query-level routing.
const QueryName = "query"

// Strategies of query-level routing.
const (
	queryEntropy = "entropy"
	queryLogProb = "logprob"
	queryHead    = "head"
	queryRandom  = "random"
)

// QueryLogProbThreshold is the threshold of the strategy "logprob" when none is given: as likely as not.
const QueryLogProbThreshold = -math.Ln2

// QueryHeadThreshold is the threshold of the strategy "head" when none is given.
const QueryHeadThreshold = 0.5

// Query picks one model for the whole answer by a score on the prompt: what token-level routing is to be compared with. The
// answer is the one that the picked model gives alone. The strategy names the score, which the small model (role 0) gives at
// the last position of the prompt; the large one (role 1) answers where it is
//
//   - "entropy" (default): above the threshold; normalised, H / ln V, as in R-Stitch. Default threshold 0.03.
//   - "logprob": below the threshold; the natural log-probability of the likeliest token. Default -0.69, a half.
//   - "head": at least the threshold; the probability that a learned head gives. Default 0.5.
//   - "random": no score: the threshold is the share of answers that the large model writes. The draw is made when the request
//     is admitted and depends on its seed, so the small model does not read a prompt in vain. Default 0.1.
//
// A score that is not a number picks the large model.
type Query struct{}

func init() { Register(Query{}) }

// Name implements [Algorithm].
func (Query) Name() string { return QueryName }

// Check implements [Algorithm].
func (Query) Check(models int, p Params) error {
	if err := checkModels(QueryName, models, p); err != nil {
		return err
	}
	if err := checkStrategy(QueryName, p.Strategy, queryEntropy, queryLogProb, queryHead, queryRandom); err != nil {
		return err
	}
	switch p.Strategy {
	case queryLogProb:
		return checkThreshold(QueryName, p, "a log-probability", math.Inf(-1), 0)
	case queryHead:
		return checkThreshold(QueryName, p, "a probability", 0, 1)
	case queryRandom:
		return checkThreshold(QueryName, p, "the share of answers that the large model writes", 0, 1)
	}
	return checkThreshold(QueryName, p, "a normalised entropy", 0, 1)
}

// Role implements [Algorithm].
func (Query) Role(model, _ int, p Params) Role {
	stay := Role{AsAlone: true, Route: func(View) Destination { return Stay }}
	if p.Strategy == queryRandom {
		share := p.threshold(RandomShare)
		stay.Start = func(v View) int {
			if Uniform(v) < share {
				return 1
			}
			return 0
		}
		return stay
	}
	if model == 1 {
		return stay
	}
	needs, score, threshold := queryScore(p)
	first := func(v View) float64 {
		if len(v.Tokens) > v.Prompt {
			return math.NaN()
		}
		return score(v)
	}
	low := p.Strategy == queryLogProb
	small := querySmall(p.Strategy, score)
	return Role{AsAlone: true, Needs: needs, Score: &Score{Of: first, At: threshold, Low: low, Answers: true}, Route: func(v View) Destination {
		if len(v.Tokens) > v.Prompt || small(v, v.threshold(threshold)) {
			return Stay
		}
		return PeerOf(0, 1)
	}}
}

// queryScore returns what a strategy needs, its score, and its threshold.
func queryScore(p Params) (Needs, func(View) float64, float64) {
	switch p.Strategy {
	case queryLogProb:
		return Needs{Top: 1}, likeliest, p.threshold(QueryLogProbThreshold)
	case queryHead:
		return Needs{Head: true}, headScore, p.threshold(QueryHeadThreshold)
	}
	return Needs{}, normalized, p.threshold(RStitchThreshold)
}

// querySmall returns whether the small model answers a prompt, by the threshold.
func querySmall(strategy string, score func(View) float64) func(View, float64) bool {
	switch strategy {
	case queryLogProb:
		return func(v View, threshold float64) bool { return score(v) >= threshold }
	case queryHead:
		return func(v View, threshold float64) bool { return score(v) < threshold }
	}
	return confident
}

// headScore is the probability that the head gives.
func headScore(v View) float64 { return sigmoid(v.Row.HeadLogit) }

// likeliest is the log-probability of the likeliest token.
func likeliest(v View) float64 { return float64(v.Row.TopLogits[0]) - float64(v.Row.LogSumExp) }
