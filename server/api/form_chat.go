package api

import (
	"github.com/tokenrouter/tokenrouter/models/output"
	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/server/openai"
)

// chatForm writes chat completions.
type chatForm struct {
	head      openai.Head
	text      Text
	logprobs  bool
	top       int  // alternatives per token of the log-probabilities
	withUsage bool // of a stream
}

func (f *chatForm) chunk(d openai.ChatDelta) *openai.ChatChunk {
	c := &openai.ChatChunk{Head: f.head, Choices: []openai.ChatDelta{d}}
	c.Object = openai.ObjectChatChunk
	if f.withUsage {
		c.Usage = &openai.OptUsage{}
	}
	return c
}

func (f *chatForm) opening(ch *choice) any {
	none := ""
	return f.chunk(openai.ChatDelta{Index: ch.index, Delta: openai.Delta{Role: "assistant", Content: &none}})
}

// piece gives a chunk for each thing that the text holds. The first has what belongs to the tokens, even if the text is held back.
func (f *chatForm) piece(ch *choice, text string, tokens []sched.Token, r *openai.RoutingPiece) []any {
	deltas := []openai.Delta{{Content: &text}}
	if ch.parser != nil {
		deltas = deltasOf(ch.parser.Add(text))
		if len(deltas) == 0 && (f.logprobs || r != nil) {
			deltas = []openai.Delta{{}}
		}
	}
	chunks := make([]any, len(deltas))
	for i, delta := range deltas {
		d := openai.ChatDelta{Index: ch.index, Delta: delta}
		if f.logprobs && i == 0 {
			d.Logprobs = chatLogprobs(f.text, tokens, f.top)
		}
		c := f.chunk(d)
		if i == 0 {
			c.Routing = r
		}
		chunks[i] = c
	}
	return chunks
}

func deltasOf(parts []output.Delta) []openai.Delta {
	deltas := make([]openai.Delta, len(parts))
	for i, p := range parts {
		switch {
		case p.Call != nil:
			call := openai.ToolCallDelta{Index: p.Call.Index, Function: openai.FunctionCallDelta{Name: p.Call.Name, Arguments: p.Call.Arguments}}
			if p.Call.Name != "" {
				call.ID, call.Type = newID("call_"), "function"
			}
			deltas[i].ToolCalls = []openai.ToolCallDelta{call}
		case p.Reasoning != "":
			deltas[i].ReasoningContent = &p.Reasoning
		default:
			deltas[i].Content = &p.Content
		}
	}
	return deltas
}

func (f *chatForm) closing(ch *choice, r *openai.RoutingPiece) []any {
	var chunks []any
	if ch.parser != nil {
		for _, delta := range deltasOf(ch.parser.Finish()) {
			chunks = append(chunks, f.chunk(openai.ChatDelta{Index: ch.index, Delta: delta}))
		}
	}
	reason := ch.reason()
	c := f.chunk(openai.ChatDelta{Index: ch.index, FinishReason: &reason})
	c.Routing = r
	return append(chunks, c)
}

func (f *chatForm) usage(u openai.Usage) any {
	c := &openai.ChatChunk{Head: f.head, Usage: &openai.OptUsage{Usage: &u}}
	c.Object = openai.ObjectChatChunk
	return c
}

func (f *chatForm) whole(choices []*choice, u openai.Usage, r *openai.Routing) any {
	c := &openai.ChatCompletion{Head: f.head, Usage: u, Routing: r}
	c.Object = openai.ObjectChat
	for _, ch := range choices {
		o := openai.ChatChoice{Index: ch.index, Message: message(ch)}
		o.FinishReason = ch.reason()
		if f.logprobs {
			o.Logprobs = chatLogprobs(f.text, ch.tokens, f.top)
		}
		c.Choices = append(c.Choices, o)
	}
	return c
}

// message is a choice that is over, taken apart.
func message(ch *choice) openai.ChatMessage {
	m := openai.ChatMessage{Role: "assistant"}
	if ch.parser == nil {
		text := ch.text.String()
		m.Content = &text
		return m
	}
	var content, reasoning string
	add := func(parts []output.Delta) {
		for _, p := range parts {
			content += p.Content
			reasoning += p.Reasoning
			switch c := p.Call; {
			case c == nil:
			case c.Name != "":
				m.ToolCalls = append(m.ToolCalls, openai.ToolCall{ID: newID("call_"), Type: "function",
					Function: openai.FunctionCall{Name: c.Name, Arguments: c.Arguments}})
			default:
				m.ToolCalls[c.Index].Function.Arguments += c.Arguments
			}
		}
	}
	add(ch.parser.Add(ch.text.String()))
	add(ch.parser.Finish())
	if content != "" || len(m.ToolCalls) == 0 {
		m.Content = &content
	}
	if reasoning != "" {
		m.ReasoningContent = &reasoning
	}
	return m
}

// reason is why a choice ended, once its text has been taken apart.
func (ch *choice) reason() string {
	if ch.finish == string(sched.FinishStop) && ch.parser != nil && ch.parser.Called() {
		return "tool_calls"
	}
	return ch.finish
}
