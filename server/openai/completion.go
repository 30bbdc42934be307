package openai

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxPrompts is the most prompts of one completion request.
const MaxPrompts = 128

// DefaultMaxTokens is the most tokens that a completion writes when max_tokens is not given (OpenAI API reference).
const DefaultMaxTokens = 16

// CompletionRequest is a request to /v1/completions.
type CompletionRequest struct {
	Model  string `json:"model"`
	Prompt Prompt `json:"prompt"`
	Generation
	Logprobs *Int `json:"logprobs"` // alternatives per token, 0 to 20
	BestOf   *Int `json:"best_of"`  // as many as N

	Extra map[string]jsontext.Value `json:",embed"`
}

// DecodeCompletion reads a request to /v1/completions with at most so many prompts. The error is nil or an *Error.
func DecodeCompletion(body []byte, mostPrompts int) (*CompletionRequest, error) {
	r := &CompletionRequest{}
	if err := decode(body, r); err != nil {
		return nil, err
	}
	if err := r.check(mostPrompts); err != nil {
		return nil, err
	}
	return r, nil
}

func (r *CompletionRequest) check(mostPrompts int) *Error {
	if err := refuse(r.Extra, inertCompletion, r); err != nil {
		return err
	}
	if r.Model == "" {
		return Invalid("model", CodeMissing, "is required")
	}
	switch n := r.Prompt.Len(); {
	case !r.Prompt.Given:
		return Invalid("prompt", CodeMissing, "is required")
	case n == 0:
		return Invalid("prompt", CodeInvalidValue, "is empty")
	case n > mostPrompts:
		return Invalid("prompt", CodeInvalidValue, "%d prompts; this server takes at most %d in a request", n, mostPrompts)
	}
	for i, ids := range r.Prompt.Tokens {
		if len(ids) == 0 {
			return Invalid(r.Prompt.Name(i), CodeInvalidValue, "is empty")
		}
	}
	if err := r.Generation.check(); err != nil {
		return err
	}
	if b := r.BestOf; b != nil && int(*b) != r.Choices() {
		return Invalid("best_of", CodeUnsupportedValue, "choosing among more answers than are sent is not supported; leave it out or send n")
	}
	if n := r.Choices() * r.Prompt.Len(); n > mostPrompts {
		return Invalid("n", CodeInvalidValue, "%d answers to %d prompts each; this server takes at most %d answers in a request", r.Choices(), r.Prompt.Len(), mostPrompts)
	}
	return within("logprobs", r.Logprobs, 0, MaxTopLogprobs)
}

// Limit is the most tokens to write.
func (r *CompletionRequest) Limit() int {
	if r.MaxTokens != nil {
		return int(*r.MaxTokens)
	}
	return DefaultMaxTokens
}

// Len is the number of prompts.
func (p *Prompt) Len() int { return len(p.Texts) + len(p.Tokens) }

// Name is the field that prompt i stands in, "prompt" or "prompt[2]".
func (p *Prompt) Name(i int) string {
	if p.Several {
		return fmt.Sprintf("prompt[%d]", i)
	}
	return "prompt"
}
