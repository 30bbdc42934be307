package models

import (
	"errors"

	"github.com/tokenrouter/tokenrouter/models/chat"
	"github.com/tokenrouter/tokenrouter/models/tokenizer"
)

// Model is what Go knows of one GGUF file. Immutable; safe for many goroutines.
type Model struct{}

// Info are the facts of a model. Counts that a file lacks (a vocabulary-only file has no layers) are 0.
type Info struct {
	Path          string `json:"path"`
	Size          int64  `json:"size"` // bytes of the file
	Architecture  string `json:"architecture"`
	Name          string `json:"name"`
	ContextLength int    `json:"context_length"` // tokens
	VocabSize     int    `json:"vocab_size"`
	Layers        int    `json:"layers"`
	Embedding     int    `json:"embedding"` // width of a hidden state
	Heads         int    `json:"heads"`     // of queries
	KVHeads       int    `json:"kv_heads"`
	Tensors       int    `json:"tensors"`
	Parameters    uint64 `json:"parameters"`   // elements of all tensors
	Quantization  string `json:"quantization"` // types by share of bytes, "Q4_K 60%, Q6_K 38%, F32 2%"
}

// Open reads the metadata of the GGUF file at path and builds its tokenizer and chat template.
func Open(path string) (*Model, error) { return nil, errors.New("models: interface only") }

// Info gives the facts of the model.
func (m *Model) Info() Info { return Info{} }

// Tokenizer is the model's tokenizer, never nil.
func (m *Model) Tokenizer() *tokenizer.Tokenizer { return nil }

// Chat is the model's chat template. If the file has none (ErrNoTemplate), or it has one that does not compile or
// render, the error says so: the model completes text, but does not chat.
func (m *Model) Chat() (*chat.Template, error) { return nil, ErrNoTemplate }

// Prompt renders and tokenizes a conversation: Chat and then chat.Template.Prompt.
func (m *Model) Prompt(r chat.Request) ([]int32, error) { return nil, ErrNoTemplate }

// EndIDs are the ids that end an answer, ascending: end of sequence, of turn and of message, as metadata and token
// types say. A route ends at the union over its models.
func (m *Model) EndIDs() []int32 { return nil }

// ErrNoTemplate says that a file carries no chat template.
var ErrNoTemplate = errors.New("the file has no chat template (tokenizer.chat_template)")

// CheckRoute checks that models may share a route, which exchanges token ids: they must have the same tokenizer. vocab
// is the number of ids that are valid in all of them; a model may have further ids above.
func CheckRoute(ms ...*Model) (vocab int, err error) { return 0, errors.New("models: interface only") }
