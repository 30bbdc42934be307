package api

import (
	"math"
	"strings"
	"unicode/utf8"

	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/server/openai"
)

// choice is one answer of a call as it grows.
type choice struct {
	index  int
	stream Stream
	finish string // "" until it is over

	text    strings.Builder // the answer so far, when it is sent in one piece
	tokens  []sched.Token   // shown tokens, when log-probabilities are sent in one piece
	traced  []sched.Token   // all tokens, when a trace was asked for
	written int             // bytes of text so far
	shown   int             // bytes of shown tokens so far
	offset  int             // characters of shown tokens so far
}

// shownTokens are the tokens of an event that make up the answer's text: without an end-of-sequence token, and without
// those of a stop string.
func (ch *choice) shownTokens(e sched.Event) []sched.Token {
	ch.written += len(e.Text)
	tokens := e.Tokens
	for i, t := range tokens {
		if t.End || (e.Finish == sched.FinishStop && ch.shown >= ch.written) {
			return tokens[:i]
		}
		ch.shown += len(t.Text)
	}
	return tokens
}

// readable is a token's text as a JSON string can hold it. A token that is part of a character is written byte by byte.
func readable(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	const hex = "0123456789abcdef"
	var b strings.Builder
	for i := range len(text) {
		b.WriteString(`\x`)
		b.WriteByte(hex[text[i]>>4])
		b.WriteByte(hex[text[i]&15])
	}
	return b.String()
}

// account says who wrote what and what it took, over all choices, so far.
func (a *answering) account() (*openai.Routing, openai.Usage) {
	c := a.call
	r := &openai.Routing{Route: c.target.Name, Algorithm: c.target.Algorithm, Tokens: map[string]int{}}
	for _, name := range c.target.Models {
		r.Tokens[name] = 0
	}
	var u openai.Usage
	for _, ch := range a.choices {
		sum := ch.stream.Summary()
		r.Algorithm = sum.Algorithm
		r.Discarded += sum.Discarded
		r.Handoffs += sum.Handoffs
		for name, n := range sum.Tokens {
			r.Tokens[name] += n
		}
		u.PromptTokens += sum.Prompt
		u.CompletionTokens += sum.Completion
		for i := range ch.traced {
			r.Trace = append(r.Trace, c.trace(ch.index, &ch.traced[i]))
		}
	}
	u.TotalTokens = u.PromptTokens + u.CompletionTokens
	if c.traced {
		seed := int64(c.seed)
		r.Seed = &seed
		if r.Trace == nil {
			r.Trace = []openai.TraceToken{}
		}
	}
	return r, u
}

func (c *call) trace(index int, t *sched.Token) openai.TraceToken {
	o := openai.TraceToken{
		Choice: index, Token: readable(t.Text), ID: t.ID, Model: c.model(t.Info.Model),
		Logprob: finite(t.Info.LogProb), Uncertainty: c.uncertainty(t.Info.Entropy), Handoffs: t.Info.Handoffs,
	}
	for _, d := range t.Info.Discarded {
		o.Discarded = append(o.Discarded, openai.TraceDiscard{
			Token: readable(c.target.Text.Piece(d.Token)), ID: d.Token, Model: c.model(d.Model),
			Logprob: finite(d.LogProb), Uncertainty: c.uncertainty(d.Entropy),
		})
	}
	return o
}

// uncertainty gives an entropy in nats and as a part of the largest there is, that of as many equally likely ids.
func (c *call) uncertainty(entropy float32) openai.Uncertainty {
	u := openai.Uncertainty{Entropy: finite(entropy)}
	switch largest := math.Log(float64(c.target.Vocab)); {
	case u.Entropy == impossible:
		u.Normalized = impossible
	case largest > 0: // one id alone leaves nothing unsure
		u.Normalized = u.Entropy / largest
	}
	return u
}

func (c *call) model(i int) string {
	if i < 0 || i >= len(c.target.Models) {
		return ""
	}
	return c.target.Models[i]
}

// impossible stands for a log-probability of minus infinity, which JSON cannot write (OpenAI API reference, "logprob").
const impossible = -9999.0

// finite makes a number that JSON can write.
func finite(v float32) float64 {
	if f := float64(v); f-f == 0 { // neither infinite nor NaN
		return f
	}
	return impossible
}
