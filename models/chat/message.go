package chat

import (
	"encoding/json"
)

// Message is one turn of a conversation in the shape of the OpenAI API, from which it also unmarshals.
type Message struct {
	Role             string     `json:"role"` // system, developer, user, assistant, tool or function
	Content          Content    `json:"content"`
	ReasoningContent string     `json:"reasoning_content,omitempty"`
	Name             string     `json:"name,omitempty"`
	ToolCalls        []ToolCall `json:"tool_calls,omitempty"`
	ToolCallID       string     `json:"tool_call_id,omitempty"`
}

// Content is the text of a message: in JSON a string, null, or a list of parts of type "text".
type Content []Part

// Part is a piece of content.
type Part struct {
	Type string `json:"type"` // "text" is the only type that a text model takes
	Text string `json:"text"`
}

// ToolCall is a function call that the assistant made.
type ToolCall struct {
	ID       string       `json:"id,omitempty"`
	Type     string       `json:"type,omitempty"`
	Function FunctionCall `json:"function"`
}

// FunctionCall names a function and its arguments. Arguments is JSON: an object, or a string that holds one.
type FunctionCall struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// Request is a conversation to render. The zero value of everything but Messages is the usual choice.
type Request struct {
	Messages []Message
	Tools    []json.RawMessage // tool definitions as the client sent them; key order is kept

	// NoGenerationPrompt leaves out the opening of the assistant's turn (add_generation_prompt = false).
	NoGenerationPrompt bool

	// Most bounds the tokens that Prompt makes: a conversation that surely has more is a *LongError, and is not tokenized, which
	// takes long. One that only may have more is. 0: no bound.
	Most int

	// Vars are further variables for the template, such as enable_thinking. Names that this package sets are refused.
	Vars map[string]any
}

// Text is content of one text part.
func Text(s string) Content { return Content{{Type: "text", Text: s}} }

// System makes a system message.
func System(s string) Message { return Message{Role: "system", Content: Text(s)} }

// User makes a user message.
func User(s string) Message { return Message{Role: "user", Content: Text(s)} }

// Assistant makes an assistant message.
func Assistant(s string) Message { return Message{Role: "assistant", Content: Text(s)} }
