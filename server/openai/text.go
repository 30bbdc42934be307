package openai

import (
	"github.com/go-json-experiment/json/jsontext"
)

// TokenizeRequest is a request to /tokenize.
type TokenizeRequest struct {
	Model        string  `json:"model"` // "": the first of /v1/models
	Content      *string `json:"content"`
	AddSpecial   bool    `json:"add_special"`   // begin- and end-of-sequence tokens that the file asks for
	ParseSpecial *bool   `json:"parse_special"` // read spellings of special tokens as such; default true
	WithPieces   bool    `json:"with_pieces"`   // tokens with their text
}

// TokenizeAnswer is the answer of /tokenize.
type TokenizeAnswer struct {
	Model  string    `json:"model"`
	Tokens TokenList `json:"tokens"`
	Count  int       `json:"count"`
}

// TokenList is token ids, or tokens with their pieces.
type TokenList struct {
	IDs    []int32
	Pieces []TokenPiece // [len(IDs)] or nil
}

// TokenPiece is a token with its text.
type TokenPiece struct {
	ID    int32 `json:"id"`
	Piece any   `json:"piece"` // a string, or the bytes as a list of numbers where they are no UTF-8
}

// MarshalJSONTo implements json.MarshalerTo.
func (l TokenList) MarshalJSONTo(e *jsontext.Encoder) error {
	if l.Pieces != nil {
		return marshalTo(e, l.Pieces)
	}
	return marshalTo(e, l.IDs)
}

// DetokenizeRequest is a request to /detokenize.
type DetokenizeRequest struct {
	Model  string   `json:"model"`
	Tokens TokenIDs `json:"tokens"`
}

// DetokenizeAnswer is the answer of /detokenize.
type DetokenizeAnswer struct {
	Model   string `json:"model"`
	Content string `json:"content"` // special tokens spelled out, U+FFFD for bytes that are no UTF-8
}

// TemplateRequest is a request to /apply-template.
type TemplateRequest struct {
	Model               string         `json:"model"`
	Messages            []Message      `json:"messages"`
	Tools               []Tool         `json:"tools"`
	ChatTemplateKwargs  map[string]any `json:"chat_template_kwargs"`
	AddGenerationPrompt *bool          `json:"add_generation_prompt"` // open the assistant's turn; default true
}

// TemplateAnswer is the answer of /apply-template.
type TemplateAnswer struct {
	Model  string  `json:"model"`
	Prompt string  `json:"prompt"` // the conversation as the template writes it
	Tokens []int32 `json:"tokens"` // what the model reads: spellings of special tokens in messages are plain text
}

// DecodeTokenize reads a request to /tokenize. The error is nil or an *Error.
func DecodeTokenize(body []byte) (*TokenizeRequest, error) {
	r := &TokenizeRequest{}
	if err := decode(body, r); err != nil {
		return nil, err
	}
	if r.Content == nil {
		return nil, Invalid("content", CodeMissing, "is required")
	}
	return r, nil
}

// DecodeDetokenize reads a request to /detokenize. The error is nil or an *Error.
func DecodeDetokenize(body []byte) (*DetokenizeRequest, error) {
	r := &DetokenizeRequest{}
	if err := decode(body, r); err != nil {
		return nil, err
	}
	if r.Tokens == nil {
		return nil, Invalid("tokens", CodeMissing, "is required")
	}
	return r, nil
}

// DecodeTemplate reads a request to /apply-template. The error is nil or an *Error.
func DecodeTemplate(body []byte) (*TemplateRequest, error) {
	r := &TemplateRequest{}
	if err := decode(body, r); err != nil {
		return nil, err
	}
	if err := checkMessages(r.Messages); err != nil {
		return nil, err
	}
	if err := checkTools(r.Tools); err != nil {
		return nil, err
	}
	return r, nil
}
