package api

import (
	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/server/openai"
)

// chatLogprobs writes log-probabilities as chat completions do, with at most so many alternatives: a trace may have asked for more.
func chatLogprobs(text Text, tokens []sched.Token, most int) *openai.ChatLogprobs {
	out := &openai.ChatLogprobs{Content: make([]openai.ChatLogprob, len(tokens))}
	for i := range tokens {
		t := &tokens[i]
		top := t.Info.TopIDs[:min(most, len(t.Info.TopIDs))]
		p := openai.ChatLogprob{TokenLogprob: tokenLogprob(t.Text, t.Info.LogProb), TopLogprobs: make([]openai.TokenLogprob, len(top))}
		for j, id := range top {
			p.TopLogprobs[j] = tokenLogprob(text.Piece(id), t.Info.TopLogProbs[j])
		}
		out.Content[i] = p
	}
	return out
}

func tokenLogprob(text string, logprob float32) openai.TokenLogprob {
	p := openai.TokenLogprob{Token: readable(text), Logprob: finite(logprob), Bytes: make([]int, len(text))}
	for i := range len(text) {
		p.Bytes[i] = int(text[i])
	}
	return p
}

// completionLogprobs writes log-probabilities as text completions do, and counts the characters of the tokens into the
// choice. Beside the alternatives asked for, the token itself is always among them.
func completionLogprobs(text Text, ch *choice, tokens []sched.Token, most int) *openai.CompletionLogprobs {
	n := len(tokens)
	out := &openai.CompletionLogprobs{
		TextOffset: make([]int, n), TokenLogprobs: make([]float64, n), Tokens: make([]string, n),
		TopLogprobs: make([]map[string]float64, n),
	}
	for i := range tokens {
		t := &tokens[i]
		out.TextOffset[i], out.TokenLogprobs[i], out.Tokens[i] = ch.offset, finite(t.Info.LogProb), legacy(t.Text)
		ch.offset += characters(t.Text)
		top := make(map[string]float64, len(t.Info.TopIDs)+1)
		for j, id := range t.Info.TopIDs[:min(most, len(t.Info.TopIDs))] {
			top[legacy(text.Piece(id))] = finite(t.Info.TopLogProbs[j])
		}
		top[legacy(t.Text)] = finite(t.Info.LogProb)
		out.TopLogprobs[i] = top
	}
	return out
}

// legacy is a token as text completions write it: one that is part of a character carries a mark.
func legacy(text string) string {
	if r := readable(text); r != text {
		return "bytes:" + r
	}
	return text
}

// characters counts the characters that begin in a text, which may begin or end within one.
func characters(text string) int {
	n := 0
	for i := range len(text) {
		if text[i]&0xC0 != 0x80 { // not a continuation byte of UTF-8
			n++
		}
	}
	return n
}
