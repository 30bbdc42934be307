package router

import "slices"

// Destination says where a request goes after a forward pass: Stay (0), or peer j >= 1. The peers of a model are the
// other models of its route in route order: with models 0, 1, 2 the peers of model 1 are peer 1 = model 0 and
// peer 2 = model 2.
type Destination int

// Stay commits the sampled token and keeps the request where it is.
const Stay Destination = 0

// PeerOf returns the destination by which a request at model `self` of a route goes to model `other`; Stay if they are
// the same.
func PeerOf(self, other int) Destination {
	switch {
	case other == self:
		return Stay
	case other < self:
		return Destination(other + 1)
	default:
		return Destination(other)
	}
}

// ModelOf is the inverse of PeerOf: the route index of the model that destination d means at model `self`.
func ModelOf(self int, d Destination) int {
	switch {
	case d == Stay:
		return self
	case int(d) <= self:
		return int(d) - 1
	default:
		return int(d)
	}
}

// Needs says what a role asks of the forward pass at each output position. The sampled token, its log-probability,
// log-sum-exp and entropy always come.
type Needs struct {
	Top    int  // ids and raw logits of the Top most likely tokens, 0 to 128
	Hidden bool // the hidden state after the final norm
	Head   bool // the score of the route's head; of the entry only
}

// Row is the answer of a forward pass at one output position. Its slices belong to the engine and are valid during
// Route only: a function that wants to keep them copies them.
type Row struct {
	Token     int32     // the sampled token
	LogProb   float32   // its natural log-probability before bias, penalties and temperature
	LogSumExp float32   // natural log of the sum of exp(raw logit) over the ids in play
	Entropy   float32   // of the raw distribution over the ids in play, in nats
	TopIDs    []int32   // [Needs.Top], most likely first
	TopLogits []float32 // [Needs.Top], raw logits
	Hidden    []float32 // [hidden size of the model] or nil
	HeadLogit float32   // of the route's head, before the logistic function; 0 unless Needs.Head
}

// TopLogProbs returns the log-probabilities of the n most likely tokens, not ascending. That of the sampled token, if it is among
// them, is LogProb itself: the same quantity from logits of float32 could differ in its last digits.
func (r *Row) TopLogProbs(n int) []float32 {
	out := make([]float32, n)
	sampled := slices.Index(r.TopIDs[:n], r.Token)
	for i, logit := range r.TopLogits[:n] {
		out[i] = logit - r.LogSumExp
		switch {
		case sampled < 0:
		case i < sampled:
			out[i] = max(out[i], r.LogProb)
		case i == sampled:
			out[i] = r.LogProb
		default:
			out[i] = min(out[i], r.LogProb)
		}
	}
	return out
}

// View is what a function sees: one request at one model, at one moment. Everything in it is read-only.
type View struct {
	Model  int     // index in the route of the model that runs, 0 = entry
	Models int     // number of models in the route
	Vocab  int     // V: ids valid in all models of the route
	Tokens []int32 // prompt and committed tokens known here; the sampled token is not in it
	// Draft is tokens after Tokens that are not committed. At a role that drafts: those drafted so far, after which the sampled token
	// comes. At any other: what a peer has drafted, the first for the position of the sampled token.
	Draft  []int32
	Left   int    // tokens that the answer may have from the next position on (in Route: the sampled one and those after it)
	Prompt int    // how many of Tokens are the prompt
	Params Params // the route's parameters with the request's overrides
	// Threshold stands in place of Params.Threshold when a share was given: what it amounts to now. Otherwise nil.
	Threshold *float64
	Seed      uint64 // the request's seed
	Choice    uint32 // index among the choices of one call
	Row       Row    // the answer of the forward pass; zero in Start, Send and Receive
	Ends      bool   // in Route: the sampled token, once committed, ends the answer
	Keeping   bool   // in Send: the sampled token has been committed and is the last of Tokens
}

// Role is what one model does in an algorithm.
type Role struct {
	Needs Needs
	// Start, of the entry's role, says which model of the route writes the first token: an index, 0 for the entry itself. It is
	// asked when a request is admitted, before any forward pass. Nil: the entry.
	Start func(View) int
	// Score is what Route compares with the threshold: it is shown in traces. With one of the entry's role a threshold can be given
	// as a share of the tokens ([Params.LargeShare]), and the Route functions of all roles then use [View.Threshold]. Nil: it cannot.
	Score *Score
	// Route decides after each forward pass. Required.
	Route func(View) Destination
	// Keep: on a handoff the sampled token is committed and shipped; otherwise it is discarded and the peer writes that
	// position itself.
	Keep bool
	// Draft: tokens sampled here are drafts. They are not committed; on a handoff they go along with the request, the one just
	// sampled included (so Keep must be set). Such a role hands off, at the latest, when View.Ends.
	//
	// The peer takes them as guesses of what it will write itself: it extends all of them at once, with a row at each, and as long
	// as it commits the very token that was guessed, and stays, the next row holds. What it commits is thus what it would have
	// committed without drafts, one forward pass a token. Drafts that prove wrong are discarded. A role that drafts itself has no
	// use for drafts of others.
	Draft bool
	// AsAlone: tokens are drawn with the random numbers of a model that is served alone, so that a model which writes the whole
	// answer writes what it does alone. Otherwise each model of a route has numbers of its own.
	AsAlone bool
	// Send returns the committed tokens to ship to a peer that knows the first `known` tokens of v.Tokens. Nil: v.Tokens[known:].
	Send func(v View, to Destination, known int) []int32
	// Receive returns the tokens to append to v.Tokens when `tokens` came from a peer. Nil: all of them.
	Receive func(v View, from Destination, tokens []int32) []int32
}

// Algorithm is a routing algorithm: a set of roles and the parameters they take. Implementations are immutable.
type Algorithm interface {
	// Name is the algorithm's name in configuration and API ("r-stitch").
	Name() string
	// Check reports whether the algorithm can run a route of `models` models with these parameters; the error says
	// which parameter is wrong and what is allowed.
	Check(models int, p Params) error
	// Role returns what the model at index `model` of a route does. Called after Check, for every model of a route and
	// again for a request that overrides the parameters, so it should be quick.
	Role(model, models int, p Params) Role
}
