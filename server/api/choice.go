package api

import (
	"strings"
	"unicode/utf8"

	"github.com/tokenrouter/tokenrouter/models/output"
	"github.com/tokenrouter/tokenrouter/sched"
)

// choice is one answer of a call as it grows.
type choice struct {
	index  int
	stream Stream
	finish string         // "" until it is over
	parser *output.Parser // nil: all text is content

	thoughts *thoughts // nil: they are not told apart

	text    strings.Builder // the answer so far, when it is sent in one piece
	tokens  []sched.Token   // shown tokens, when log-probabilities are sent in one piece
	traced  []sched.Token   // all tokens, when a trace is sent in one piece
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
