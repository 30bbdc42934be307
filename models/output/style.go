package output

import "strings"

// Format is how a family of models writes calls of functions.
type Format int

// Formats of calls.
const (
	// NoCalls: the template takes no tools, or its format is not known.
	NoCalls Format = iota
	// Hermes is <tool_call>{"name": ..., "arguments": {...}}</tool_call>, any number of them, after what the model says (Qwen2.5, Qwen3, Hermes).
	Hermes
	// Llama is {"name": ..., "parameters": {...}} and nothing else (Llama 3.1 to 3.3).
	Llama
)

// Style is what a chat template tells of how its model writes.
type Style struct {
	Calls     Format
	Reasoning bool // thoughts stand between <think> and </think>
}

// Marks of thoughts and calls.
const (
	thinkOpen, thinkShut = "<think>", "</think>"
	callOpen, callShut   = "<tool_call>", "</tool_call>"
)

// Detect reads a chat template.
func Detect(template string) Style {
	s := Style{Reasoning: strings.Contains(template, thinkShut)}
	switch {
	case strings.Contains(template, "<function="): // calls in XML, as Qwen3-Coder writes them
	case strings.Contains(template, callOpen):
		s.Calls = Hermes
	case strings.Contains(template, `"parameters": dictionary of argument name`):
		s.Calls = Llama
	}
	return s
}

// Thinking is where a prompt leaves the thoughts.
type Thinking int

// Values of Thinking.
const (
	Unopened Thinking = iota // the model may begin with thoughts
	Opened                   // the prompt ends within them
	Closed                   // the prompt has none, or has ended them
)

// Thinking reads the end of a prompt.
func (s Style) Thinking(end string) Thinking {
	end = strings.TrimRight(end, " \n")
	switch {
	case !s.Reasoning || strings.HasSuffix(end, thinkShut):
		return Closed
	case strings.HasSuffix(end, thinkOpen):
		return Opened
	default:
		return Unopened
	}
}
