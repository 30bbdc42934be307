package api

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"strconv"

	"github.com/tokenrouter/tokenrouter/router"
	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/server/openai"
)

// seedBits is how long the seeds are that the server draws: JavaScript reads them from JSON without loss.
const seedBits = 53

// defaultTemperature is the temperature of a request that gives none (OpenAI API reference).
const defaultTemperature = 1

// address finds whom a request of either endpoint is for, and says in the engine's terms what both have in common.
func address(targets []Target, model string, g *openai.Generation) (*Target, sched.Request, *openai.Error) {
	t, e := find(targets, model)
	if e != nil {
		return nil, sched.Request{}, e
	}
	q, e := request(t, g)
	return t, q, e
}

// request turns the fields that both endpoints share into a request of the engine, without its prompt.
func request(t *Target, g *openai.Generation) (sched.Request, *openai.Error) {
	r := sched.Request{
		Target: t.Name, Sampling: sampling(g), Stop: g.Stop, IgnoreEnd: g.IgnoreEOS,
		Special: g.SkipSpecialTokens != nil && !*g.SkipSpecialTokens,
	}
	for _, id := range r.Sampling.BiasIDs {
		if int(id) >= t.Vocab {
			return r, openai.Invalid("logit_bias", openai.CodeInvalidValue, "there is no token %d; ids of %q are 0 to %d", id, t.Name, t.Vocab-1)
		}
	}
	if o := g.Routing; o != nil {
		r.Algorithm, r.Params, r.Trace = o.Algorithm, params(o), o.Trace
		if o.Alternatives != nil {
			r.Top = int(*o.Alternatives)
		}
		if err := checkRouting(t, o); err != nil {
			return r, err
		}
	}
	return r, nil
}

// checkRouting says which field of a routing object the target cannot follow.
func checkRouting(t *Target, o *openai.RoutingRequest) *openai.Error {
	name, all := t.Algorithm, t.Params.Override(params(o))
	if o.Algorithm != "" && o.Algorithm != name {
		name, all = o.Algorithm, params(o) // the route's are for its own algorithm
	}
	a, err := router.Lookup(name)
	if err != nil {
		return openai.Invalid("routing.algorithm", openai.CodeInvalidValue, "%v", err)
	}
	if err := a.Check(len(t.Models), router.Params{}); err != nil && o.Algorithm != "" {
		return openai.Invalid("routing.algorithm", openai.CodeInvalidValue, "%v", err)
	}
	if err := router.Check(a, len(t.Models), all); err != nil {
		return openai.Invalid("routing."+cmp.Or(router.Culprit(a, len(t.Models), all), "algorithm"), openai.CodeInvalidValue, "%v", err)
	}
	return nil
}

// params are what a routing object says to the algorithm.
func params(o *openai.RoutingRequest) router.Params {
	p := router.Params{Threshold: o.Threshold, LargeShare: o.LargeShare, Weights: o.Weights, Strategy: o.Strategy}
	if o.Draft != nil {
		draft := int(*o.Draft)
		p.Draft = &draft
	}
	return p
}

func sampling(g *openai.Generation) sched.Sampling {
	s := sched.Sampling{
		Temperature:       or(g.Temperature, defaultTemperature),
		TopP:              or(g.TopP, 1),
		MinP:              or(g.MinP, 0),
		RepetitionPenalty: or(g.RepetitionPenalty, 1),
		PresencePenalty:   or(g.PresencePenalty, 0),
		FrequencyPenalty:  or(g.FrequencyPenalty, 0),
	}
	if g.TopK != nil && *g.TopK > 0 {
		s.TopK = int32(*g.TopK)
	}
	if g.TopP != nil && s.TopP == 0 {
		s.TopK, s.TopP = 1, 1 // the smallest set that holds no probability is the likeliest token; to the engine 0 means off
	}
	if g.Seed != nil {
		s.Seed = uint64(*g.Seed)
	} else {
		s.Seed = rand.Uint64() >> (64 - seedBits)
	}
	if g.LogitBias != nil {
		s.BiasIDs, s.Bias = g.LogitBias.IDs, g.LogitBias.Values
	}
	return s
}

func or(v *float64, otherwise float32) float32 {
	if v == nil {
		return otherwise
	}
	return float32(*v)
}

// fits refuses a prompt that leaves no room for an answer.
func fits(t *Target, param string, ids []int32) *openai.Error {
	if len(ids) == 0 {
		return openai.Invalid(param, openai.CodeInvalidValue, "is empty: it has no tokens")
	}
	if len(ids) < t.limit() {
		return nil
	}
	return tooLong(t, param, strconv.Itoa(len(ids)))
}

// mayFit refuses a prompt that is known to have at least so many tokens, if these leave no room for an answer.
func mayFit(t *Target, param string, tokens int) *openai.Error {
	if tokens < t.limit() {
		return nil
	}
	return tooLong(t, param, fmt.Sprintf("at least %d", tokens))
}

func tooLong(t *Target, param, tokens string) *openai.Error {
	most := t.limit()
	if most < t.Context {
		return openai.Invalid(param, openai.CodeContextLength,
			"%s prompt tokens; the memory for the KV cache limits the context of %q to %d of %d, of which the answer needs at least 1. "+
				"Shorten the input, or have the operator raise kv_memory", tokens, t.Name, most, t.Context)
	}
	return openai.Invalid(param, openai.CodeContextLength,
		"%s prompt tokens; the context of %q is %d, of which the answer needs at least 1. Shorten the input", tokens, t.Name, most)
}
