package openai

import (
	"fmt"
	"math"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// ChatRequest is a request to /v1/chat/completions.
type ChatRequest struct {
	Model    string    `json:"model"`
	Messages []Message `json:"messages"`
	Generation
	MaxCompletionTokens *Int           `json:"max_completion_tokens"`
	Logprobs            bool           `json:"logprobs"`
	TopLogprobs         *Int           `json:"top_logprobs"`         // 0 to 20, with Logprobs
	ChatTemplateKwargs  map[string]any `json:"chat_template_kwargs"` // variables for the template
	Tools               []Tool         `json:"tools"`
	ToolChoice          ToolChoice     `json:"tool_choice"`
	ParallelToolCalls   *bool          `json:"parallel_tool_calls"` // false: at most one

	Extra map[string]jsontext.Value `json:",embed"`
}

// Message is one turn of a conversation.
type Message struct {
	Role    string  `json:"role"` // system, developer, user, assistant or tool
	Content Content `json:"content"`
	Name    string  `json:"name"`
	// ReasoningContent is what an assistant thought before it answered; templates may show or drop it.
	ReasoningContent string     `json:"reasoning_content"`
	ToolCalls        []ToolCall `json:"tool_calls"`   // of an assistant
	ToolCallID       string     `json:"tool_call_id"` // of a tool: the call that it answers

	Extra map[string]jsontext.Value `json:",embed"`
}

// Content is the text of a message, written as a string or as an array of parts of type text.
type Content struct {
	Given bool
	Parts []string
}

// part is an element of an array of content.
type part struct {
	Type string  `json:"type"`
	Text *string `json:"text"`

	Extra map[string]jsontext.Value `json:",embed"`
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (c *Content) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	*c = Content{}
	switch d.PeekKind() {
	case 'n':
		return d.SkipValue()
	case '"':
		c.Given, c.Parts = true, make([]string, 1)
		return json.UnmarshalDecode(d, &c.Parts[0])
	case '[':
		c.Given = true
	default:
		return typeError(d, "a string or an array of content parts")
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for d.PeekKind() != ']' {
		at := next(d)
		var p part
		if err := json.UnmarshalDecode(d, &p); err != nil {
			return err
		}
		if err := p.check(at); err != nil {
			return err
		}
		c.Parts = append(c.Parts, *p.Text)
	}
	_, err := d.ReadToken()
	return err
}

func (p *part) check(at string) error {
	switch p.Type {
	case "text":
	case "":
		return Invalid(at+".type", CodeMissing, "is required")
	case "image_url", "input_audio", "file", "refusal":
		return Invalid(at+".type", CodeUnsupportedValue, "content of type %s is not supported; only text is", p.Type)
	default:
		return Invalid(at+".type", CodeInvalidValue, "not a type of content; only text is supported")
	}
	if p.Text == nil {
		return Invalid(at+".text", CodeMissing, "is required")
	}
	if err := refuse(p.Extra, nil, p); err != nil {
		return err.inside(at)
	}
	return nil
}

// inertMessage are the fields of a message that a server's own answer may have carried, sent back as history.
var inertMessage = map[string]rule{
	"refusal":       {never, "refusals are not supported as history; send the text as content"},
	"annotations":   {isEmpty, "annotations are not supported"},
	"audio":         {never, "audio is not supported"},
	"function_call": {never, "is not supported; use tool_calls"},
}

// DecodeChat reads a request to /v1/chat/completions for at most so many answers. The error is nil or an *Error.
func DecodeChat(body []byte, mostAnswers int) (*ChatRequest, error) {
	r := &ChatRequest{}
	if err := decode(body, r); err != nil {
		return nil, err
	}
	if err := r.check(); err != nil {
		return nil, err
	}
	if n := r.Choices(); n > mostAnswers {
		return nil, Invalid("n", CodeInvalidValue, "%d answers; this server takes at most %d in a request", n, mostAnswers)
	}
	return r, nil
}

func (r *ChatRequest) check() *Error {
	if err := refuse(r.Extra, inertChat, r); err != nil {
		return err
	}
	if r.Model == "" {
		return Invalid("model", CodeMissing, "is required")
	}
	if err := checkMessages(r.Messages); err != nil {
		return err
	}
	if err := r.Generation.check(); err != nil {
		return err
	}
	if err := checkTools(r.Tools); err != nil {
		return err
	}
	if err := r.checkToolChoice(); err != nil {
		return err
	}
	if err := within("max_completion_tokens", r.MaxCompletionTokens, 1, math.MaxInt32); err != nil {
		return err
	}
	if a, b := r.MaxTokens, r.MaxCompletionTokens; a != nil && b != nil && *a != *b {
		return Invalid("max_tokens", CodeInvalidValue, "differs from max_completion_tokens, which means the same; send one of them")
	}
	if err := within("top_logprobs", r.TopLogprobs, 0, MaxTopLogprobs); err != nil {
		return err
	}
	if r.TopLogprobs != nil && *r.TopLogprobs > 0 && !r.Logprobs {
		return Invalid("top_logprobs", CodeInvalidValue, "is only allowed with logprobs: true")
	}
	return nil
}

// Limit is the most tokens to write; 0 when none was given.
func (r *ChatRequest) Limit() int {
	if r.MaxCompletionTokens != nil {
		return int(*r.MaxCompletionTokens)
	}
	if r.MaxTokens != nil {
		return int(*r.MaxTokens)
	}
	return 0
}

func checkMessages(messages []Message) *Error {
	if len(messages) == 0 {
		return Invalid("messages", CodeMissing, "at least one message is required")
	}
	for i := range messages {
		if err := messages[i].check(fmt.Sprintf("messages[%d]", i)); err != nil {
			return err
		}
	}
	return nil
}

func (m *Message) check(at string) *Error {
	if err := refuse(m.Extra, inertMessage, m); err != nil {
		return err.inside(at)
	}
	switch m.Role {
	case "system", "developer", "user", "assistant", "tool":
	case "":
		return Invalid(at+".role", CodeMissing, "is required")
	case "function":
		return Invalid(at+".role", CodeUnsupportedValue, "messages of role function are not supported; use the role tool")
	default:
		return Invalid(at+".role", CodeInvalidValue, "must be system, developer, user, assistant or tool")
	}
	switch {
	case len(m.ToolCalls) > 0 && m.Role != "assistant":
		return Invalid(at+".tool_calls", CodeInvalidValue, "is for messages of the assistant")
	case m.ToolCallID != "" && m.Role != "tool":
		return Invalid(at+".tool_call_id", CodeInvalidValue, "is for messages of a tool")
	case m.ToolCallID == "" && m.Role == "tool":
		return Invalid(at+".tool_call_id", CodeMissing, "is required")
	case !m.Content.Given && len(m.ToolCalls) == 0:
		return Invalid(at+".content", CodeMissing, "is required")
	}
	for i, c := range m.ToolCalls {
		at := fmt.Sprintf("%s.tool_calls[%d]", at, i)
		switch {
		case c.Type != "" && c.Type != "function":
			return Invalid(at+".type", CodeUnsupportedValue, "only calls of type function are supported")
		case c.Function.Name == "":
			return Invalid(at+".function.name", CodeMissing, "is required")
		}
	}
	return nil
}
