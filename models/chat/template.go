package chat

import (
	"errors"

	"github.com/tokenrouter/tokenrouter/models/tokenizer"
)

// Template is a compiled chat template with the tokenizer that it was trained with.
type Template struct{}

// New compiles source and renders a probe conversation with it.
func New(source string, tok *tokenizer.Tokenizer) (*Template, error) {
	return nil, errors.New("chat: interface only")
}

// Render gives the text of the conversation.
func (t *Template) Render(r Request) (string, error) { return "", errors.New("chat: interface only") }

// Prompt gives the token ids of the conversation. Special tokens come from the template alone: their spelling in
// messages, tools or variables is plain text.
func (t *Template) Prompt(r Request) ([]int32, error) {
	return nil, errors.New("chat: interface only")
}

// Source is the Jinja text.
func (t *Template) Source() string { return "" }
