package models

import (
	"errors"
	"fmt"

	"github.com/tokenrouter/tokenrouter/models/chat"
	"github.com/tokenrouter/tokenrouter/models/gguf"
	"github.com/tokenrouter/tokenrouter/models/tokenizer"
)

// ErrNoTemplate says that a file carries no chat template.
var ErrNoTemplate = errors.New("the file has no chat template (tokenizer.chat_template)")

// NoChatError says why a model does not chat: ErrNoTemplate, or what is wrong with its template.
type NoChatError struct {
	Path string
	Err  error
}

func (e *NoChatError) Error() string { return fmt.Sprintf("model %s cannot chat: %v", e.Path, e.Err) }

func (e *NoChatError) Unwrap() error { return e.Err }

const keyTemplate = "tokenizer.chat_template"

// Model is what Go knows of one GGUF file. Immutable; safe for many goroutines.
type Model struct {
	info    Info
	tok     *tokenizer.Tokenizer
	chat    *chat.Template
	chatErr error // why chat is nil
}

// Open reads the metadata of the GGUF file at path and builds its tokenizer and chat template. A chat template that is
// missing or does not work is no error here but of Chat: the model can still complete text.
func Open(path string) (*Model, error) {
	f, err := gguf.Open(path)
	if err != nil {
		return nil, fmt.Errorf("models: %w", err)
	}
	m, err := New(f)
	if err != nil {
		return nil, fmt.Errorf("models: %s: %w", path, err)
	}
	return m, nil
}

// New is Open for a file whose header has been read.
func New(f *gguf.File) (*Model, error) {
	info, err := describe(f)
	if err != nil {
		return nil, err
	}
	m := &Model{info: info}
	if m.tok, err = tokenizer.New(f); err != nil {
		return nil, err
	}
	m.info.VocabSize = m.tok.VocabSize()
	if err := checkEmbedding(f, m.info.VocabSize); err != nil {
		return nil, err
	}
	if err := checkScores(f, m.info.VocabSize); err != nil {
		return nil, err
	}
	m.chat, m.chatErr = newChat(f, m.tok)
	return m, nil
}

func newChat(f *gguf.File, tok *tokenizer.Tokenizer) (*chat.Template, error) {
	source, err := f.Text(keyTemplate)
	if errors.Is(err, gguf.ErrMissing) {
		return nil, ErrNoTemplate
	}
	if err != nil {
		return nil, err
	}
	return chat.New(source, tok)
}

// Info gives the facts of the model.
func (m *Model) Info() Info { return m.info }

// Tokenizer is the model's tokenizer, never nil.
func (m *Model) Tokenizer() *tokenizer.Tokenizer { return m.tok }

// WithTemplate gives the same model with another chat template than the one in its file: source, in Jinja. One that does
// not work is an error.
func (m *Model) WithTemplate(source string) (*Model, error) {
	t, err := chat.New(source, m.tok)
	if err != nil {
		return nil, err
	}
	with := *m
	with.chat, with.chatErr = t, nil
	return &with, nil
}

// Chat is the model's chat template. If the file has none (ErrNoTemplate), or one that does not compile or render, the
// error is a *NoChatError: the model completes text, but does not chat.
func (m *Model) Chat() (*chat.Template, error) {
	if m.chatErr != nil {
		return nil, &NoChatError{m.info.Path, m.chatErr}
	}
	return m.chat, nil
}

// Prompt renders and tokenizes a conversation: Chat and then chat.Template.Prompt.
func (m *Model) Prompt(r chat.Request) ([]int32, error) {
	t, err := m.Chat()
	if err != nil {
		return nil, err
	}
	return t.Prompt(r)
}

// EndIDs are the ids that end an answer, ascending: end of sequence, of turn and of message, as metadata and token
// types say. A route ends at the union over its models. The caller may change the slice.
func (m *Model) EndIDs() []int32 { return m.tok.EndIDs() }
