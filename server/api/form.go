package api

import (
	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/server/openai"
)

// form is how an endpoint writes answers. Each method but whole makes chunks of a stream.
type form interface {
	// opening comes first; nil: this endpoint has none.
	opening(ch *choice) any
	// piece is text with the tokens that it is made of; tokens is nil when no log-probabilities are wanted, r when no trace is.
	piece(ch *choice, text string, tokens []sched.Token, r *openai.RoutingPiece) []any
	// closing comes last of a choice; the last choice's carries the account.
	closing(ch *choice, r *openai.RoutingPiece) []any
	// usage comes after all choices, when it was asked for.
	usage(u openai.Usage) any
	// whole is the answer in one piece.
	whole(choices []*choice, u openai.Usage, r *openai.Routing) any
}

// completionForm writes text completions, in one piece or in chunks of the same shape.
type completionForm struct {
	head      openai.Head
	text      Text
	logprobs  bool
	top       int
	withUsage bool
}

func (f *completionForm) chunk(ch *choice, text string) *openai.Completion {
	c := &openai.Completion{Head: f.head, Choices: []openai.CompletionChoice{{Text: text, Index: ch.index}}}
	if f.withUsage {
		c.Usage = &openai.OptUsage{}
	}
	return c
}

func (f *completionForm) opening(*choice) any { return nil }

func (f *completionForm) piece(ch *choice, text string, tokens []sched.Token, r *openai.RoutingPiece) []any {
	c := f.chunk(ch, text)
	if f.logprobs {
		c.Choices[0].Logprobs = completionLogprobs(f.text, ch, tokens, f.top)
	}
	c.Routing = r
	return []any{c}
}

func (f *completionForm) closing(ch *choice, r *openai.RoutingPiece) []any {
	c := f.chunk(ch, "")
	c.Choices[0].FinishReason = &ch.finish
	c.Routing = r
	return []any{c}
}

func (f *completionForm) usage(u openai.Usage) any {
	return &openai.Completion{Head: f.head, Usage: &openai.OptUsage{Usage: &u}}
}

func (f *completionForm) whole(choices []*choice, u openai.Usage, r *openai.Routing) any {
	c := &openai.Completion{Head: f.head, Usage: &openai.OptUsage{Usage: &u}}
	c.Routing = &openai.RoutingPiece{RoutingAccount: &r.RoutingAccount, Trace: r.Trace}
	for _, ch := range choices {
		o := openai.CompletionChoice{Text: ch.text.String(), Index: ch.index, FinishReason: &ch.finish}
		if f.logprobs {
			o.Logprobs = completionLogprobs(f.text, ch, ch.tokens, f.top)
		}
		c.Choices = append(c.Choices, o)
	}
	return c
}
