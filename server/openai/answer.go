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

// Usage is what a request consumed, in tokens.
type Usage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	TotalTokens      int `json:"total_tokens"`
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
	ObjectChat       = "chat.completion"
	ObjectChatChunk  = "chat.completion.chunk"
	ObjectCompletion = "text_completion"
	ObjectModel      = "model"
	ObjectList       = "list"
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
	Role    string  `json:"role"`
	Content string  `json:"content"`
	Refusal *string `json:"refusal"` // always null
}

// ChatChunk is a piece of a streamed answer of /v1/chat/completions.
type ChatChunk struct {
	Head
	Choices []ChatDelta `json:"choices"`
	Usage   *OptUsage   `json:"usage,omitzero"`
	Routing *Routing    `json:"routing,omitzero"`
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
	Role    string  `json:"role,omitzero"`
	Content *string `json:"content,omitzero"`
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
	Routing *Routing           `json:"routing,omitzero"`
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

// Routing says who wrote an answer. It is TokenRouter's own extension.
type Routing struct {
	Route     string         `json:"route"` // the model's name when it was served alone
	Algorithm string         `json:"algorithm"`
	Tokens    map[string]int `json:"tokens"` // of the answer, by model
	Discarded int            `json:"discarded"`
	Handoffs  int            `json:"handoffs"`
	Seed      *int64         `json:"seed,omitzero"` // with a trace: gives the same answer again
	Trace     []TraceToken   `json:"trace,omitzero"`
}

// TraceToken is one token of an answer.
type TraceToken struct {
	Choice  int     `json:"choice,omitzero"`
	Token   string  `json:"token"`
	ID      int32   `json:"id"`
	Model   string  `json:"model"`
	Logprob float64 `json:"logprob"`
	Uncertainty
	Handoffs  int            `json:"handoffs,omitzero"`
	Discarded []TraceDiscard `json:"discarded,omitzero"`
}

// TraceDiscard is a token that was sampled for the same position and thrown away.
type TraceDiscard struct {
	Token   string  `json:"token"`
	ID      int32   `json:"id"`
	Model   string  `json:"model"`
	Logprob float64 `json:"logprob"`
	Uncertainty
}

// Uncertainty is the entropy H of the distribution that a token was drawn from, before any sampling parameter, of the model
// that drew it.
type Uncertainty struct {
	Entropy    float64 `json:"entropy"`            // H, in nats: 0 to ln V, V the ids valid in all models of the route
	Normalized float64 `json:"entropy_normalized"` // H / ln V, 0 to 1: what r-stitch compares with its threshold
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
}
