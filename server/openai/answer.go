package openai

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Marshal writes JSON as clients of the API expect it: keys of maps sorted, an empty list as [], bytes that are no UTF-8
// as U+FFFD.
func Marshal(v any) ([]byte, error) {
	return json.Marshal(v, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
}

// marshalTo writes a part of what Marshal writes.
func marshalTo(e *jsontext.Encoder, v any) error {
	return json.MarshalEncode(e, v, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
}

// Usage is what a request consumed, in tokens.
type Usage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	TotalTokens      int `json:"total_tokens"`

	PromptTokensDetails     PromptTokensDetails      `json:"prompt_tokens_details"`
	CompletionTokensDetails *CompletionTokensDetails `json:"completion_tokens_details,omitzero"` // of chats
}

// PromptTokensDetails says how much of the prompts was not read.
type PromptTokensDetails struct {
	CachedTokens int `json:"cached_tokens"` // earlier requests had left them in the KV cache of the model that wrote the first token
}

// CompletionTokensDetails says what the tokens of the answers were for.
type CompletionTokensDetails struct {
	ReasoningTokens int `json:"reasoning_tokens"` // of thoughts, and of the marks around them
}

// Head are the fields at the top of every answer and chunk.
type Head struct {
	ID                string `json:"id"`
	Object            string `json:"object"`
	Created           int64  `json:"created"` // seconds since 1970
	Model             string `json:"model"`   // as the request named it
	SystemFingerprint string `json:"system_fingerprint"`
}

// Objects.
const (
	ObjectChat        = "chat.completion"
	ObjectChatChunk   = "chat.completion.chunk"
	ObjectCompletion  = "text_completion"
	ObjectModel       = "model"
	ObjectRoute       = "route"
	ObjectModelState  = "model_state"
	ObjectDeviceState = "device_state"
	ObjectList        = "list"
)

// ChatCompletion is the answer of /v1/chat/completions.
type ChatCompletion struct {
	Head
	Choices []ChatChoice `json:"choices"`
	Usage   Usage        `json:"usage"`
	Routing *Routing     `json:"routing"`
}

// ChatChoice is one answer.
type ChatChoice struct {
	Index        int           `json:"index"`
	Message      ChatMessage   `json:"message"`
	Logprobs     *ChatLogprobs `json:"logprobs"`
	FinishReason string        `json:"finish_reason"`
}

// ChatMessage is what the assistant said.
type ChatMessage struct {
	Role             string     `json:"role"`
	Content          *string    `json:"content"`                    // null where there is nothing but calls
	Refusal          *string    `json:"refusal"`                    // always null
	ReasoningContent *string    `json:"reasoning_content,omitzero"` // what the model thought first, where its template marks it
	ToolCalls        []ToolCall `json:"tool_calls,omitzero"`
}

// ChatChunk is a piece of a streamed answer of /v1/chat/completions.
type ChatChunk struct {
	Head
	Choices []ChatDelta   `json:"choices"`
	Usage   *OptUsage     `json:"usage,omitzero"`
	Routing *RoutingPiece `json:"routing,omitzero"`
}

// ChatDelta is what a chunk adds to a choice.
type ChatDelta struct {
	Index        int           `json:"index"`
	Delta        Delta         `json:"delta"`
	Logprobs     *ChatLogprobs `json:"logprobs"`
	FinishReason *string       `json:"finish_reason"`
}

// Delta is a piece of a message.
type Delta struct {
	Role             string          `json:"role,omitzero"`
	Content          *string         `json:"content,omitzero"`
	ReasoningContent *string         `json:"reasoning_content,omitzero"`
	ToolCalls        []ToolCallDelta `json:"tool_calls,omitzero"`
}

// ChatLogprobs are the log-probabilities of an answer's tokens.
type ChatLogprobs struct {
	Content []ChatLogprob `json:"content"`
	Refusal *string       `json:"refusal"` // always null
}

// ChatLogprob is one token's.
type ChatLogprob struct {
	TokenLogprob
	TopLogprobs []TokenLogprob `json:"top_logprobs"`
}

// TokenLogprob is a token with its log-probability. Token is readable text; Bytes are exact.
type TokenLogprob struct {
	Token   string  `json:"token"`
	Logprob float64 `json:"logprob"`
	Bytes   []int   `json:"bytes"`
}

// Completion is the answer of /v1/completions, and a chunk of it when streamed.
type Completion struct {
	Head
	Choices []CompletionChoice `json:"choices"`
	Usage   *OptUsage          `json:"usage,omitzero"`
	Routing *RoutingPiece      `json:"routing,omitzero"`
}

// CompletionChoice is one answer, or a piece of it.
type CompletionChoice struct {
	Text         string              `json:"text"`
	Index        int                 `json:"index"`
	Logprobs     *CompletionLogprobs `json:"logprobs"`
	FinishReason *string             `json:"finish_reason"`
}

// CompletionLogprobs are the log-probabilities of an answer's tokens, as parallel lists.
type CompletionLogprobs struct {
	TextOffset    []int                `json:"text_offset"` // characters before the token in the choice's text
	TokenLogprobs []float64            `json:"token_logprobs"`
	Tokens        []string             `json:"tokens"`
	TopLogprobs   []map[string]float64 `json:"top_logprobs"`
}

// OptUsage is a usage field that may be null: in the chunks before the one that carries it.
type OptUsage struct{ *Usage }

// MarshalJSONTo implements json.MarshalerTo.
func (u OptUsage) MarshalJSONTo(e *jsontext.Encoder) error {
	return json.MarshalEncode(e, u.Usage)
}

// ModelList is the answer of /v1/models.
type ModelList struct {
	Object string  `json:"object"`
	Data   []Model `json:"data"`
}

// Model is a model or a route.
type Model struct {
	ID            string       `json:"id"`
	Object        string       `json:"object"`
	Created       int64        `json:"created"`
	OwnedBy       string       `json:"owned_by"`
	ContextLength int          `json:"context_length"`
	Route         *RouteDetail `json:"route,omitzero"`
}

// RouteDetail says what a route is made of.
type RouteDetail struct {
	Algorithm  string    `json:"algorithm"`
	Models     []string  `json:"models"` // the entry first
	Threshold  *float64  `json:"threshold,omitzero"`
	LargeShare *float64  `json:"large_share,omitzero"`
	Weights    []float64 `json:"weights,omitzero"`
	Strategy   string    `json:"strategy,omitzero"`
	Draft      *int      `json:"draft,omitzero"`
}
