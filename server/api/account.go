package api

import (
	"cmp"
	"math"

	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/server/openai"
)

// account says who wrote how much and what it took, over all choices, so far.
func (a *answering) account() (*openai.RoutingAccount, openai.Usage) {
	c := a.call
	r := &openai.RoutingAccount{Route: c.target.Name, Algorithm: c.target.Algorithm, Tokens: map[string]int{}}
	for _, name := range c.target.Models {
		r.Tokens[name] = 0
	}
	var u openai.Usage
	for _, ch := range a.choices {
		sum := ch.stream.Summary()
		r.Algorithm = sum.Algorithm
		r.Discarded += sum.Discarded
		r.Handoffs += sum.Handoffs
		r.Drafted += sum.Drafted
		r.Accepted += sum.Accepted
		r.Lost = cmp.Or(r.Lost, sum.Lost)
		for name, n := range sum.Tokens {
			r.Tokens[name] += n
		}
		if ch.index%c.each == 0 { // a prompt counts once
			u.PromptTokens += sum.Prompt
			u.PromptTokensDetails.CachedTokens += sum.Cached
		}
		u.CompletionTokens += sum.Completion
	}
	u.TotalTokens = u.PromptTokens + u.CompletionTokens
	if c.thoughts != nil {
		u.CompletionTokensDetails = &openai.CompletionTokensDetails{}
		for _, ch := range a.choices {
			u.CompletionTokensDetails.ReasoningTokens += ch.thoughts.tokens
		}
	}
	if c.traced {
		seed := int64(c.seed)
		r.Seed = &seed
	}
	return r, u
}

// trace tells of tokens of a choice; nil when no trace was asked for.
func (c *call) trace(ch *choice, tokens []sched.Token) []openai.TraceToken {
	if !c.traced {
		return nil
	}
	out := make([]openai.TraceToken, len(tokens))
	for i := range tokens {
		out[i] = c.traceToken(ch.index, &tokens[i])
	}
	return out
}

func (c *call) traceToken(index int, t *sched.Token) openai.TraceToken {
	o := openai.TraceToken{
		Choice: index, Token: readable(t.Text), ID: t.ID, Model: c.model(t.Info.Model), Drafted: t.Info.Drafted,
		Logprob: finite(t.Info.LogProb), Signals: c.signals(t.Info.Entropy, t.Info.Score), Handoffs: t.Info.Handoffs,
	}
	for _, d := range t.Info.Discarded {
		o.Discarded = append(o.Discarded, openai.TraceDiscard{
			Token: readable(c.target.Text.Piece(d.Token)), ID: d.Token, Model: c.model(d.Model), Draft: d.Draft,
			Logprob: finite(d.LogProb), Signals: c.signals(d.Entropy, d.Score),
		})
	}
	for i, id := range t.Info.TopIDs[:min(c.alternatives, len(t.Info.TopIDs))] {
		o.Alternatives = append(o.Alternatives, openai.Alternative{
			Token: readable(c.target.Text.Piece(id)), ID: id, Logprob: finite(t.Info.TopLogProbs[i]),
		})
	}
	return o
}

// signals gives an entropy in nats and as a part of the largest there is, that of as many equally likely ids, and a score.
func (c *call) signals(entropy float32, score *sched.Score) openai.Signals {
	s := openai.Signals{Entropy: finite(entropy)}
	switch largest := math.Log(float64(c.target.Vocab)); {
	case s.Entropy == impossible:
		s.Normalized = impossible
	case largest > 0: // one id alone leaves nothing unsure
		s.Normalized = s.Entropy / largest
	}
	if score != nil {
		s.Score, s.Threshold = &score.Value, &score.Threshold
	}
	return s
}
