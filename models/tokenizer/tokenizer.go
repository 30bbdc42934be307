package tokenizer

import (
	"errors"

	"github.com/tokenrouter/tokenrouter/models/gguf"
)

// Tokenizer is one file's vocabulary with its rules. Immutable; safe for many goroutines.
type Tokenizer struct{}

var errPending = errors.New("tokenizer: interface only")

// New builds the tokenizer of a GGUF file.
func New(f *gguf.File) (*Tokenizer, error) { return nil, errPending }

// Encode gives the ids of text.
func (t *Tokenizer) Encode(text string, o Options) []int32 { return nil }

// Decode gives the text of ids; bytes that are no UTF-8 become U+FFFD. An id outside the vocabulary is an error.
func (t *Tokenizer) Decode(ids []int32, o DecodeOptions) (string, error) { return "", errPending }

// VocabSize is the number of ids; ids run from 0.
func (t *Tokenizer) VocabSize() int { return 0 }

// Special gives the special ids of the metadata.
func (t *Tokenizer) Special() Special { return Special{} }

// EndIDs are the ids that end an answer, ascending.
func (t *Tokenizer) EndIDs() []int32 { return nil }

// Token gives the text and type of an id; false if there is no such id.
func (t *Tokenizer) Token(id int32) (text string, typ Type, ok bool) { return "", 0, false }

// ID gives the id of the token that is spelled text in the vocabulary.
func (t *Tokenizer) ID(text string) (int32, bool) { return 0, false }

// Bytes gives the raw bytes that id stands for.
func (t *Tokenizer) Bytes(id int32) ([]byte, bool) { return nil, false }

// NewDetokenizer starts a stream.
func (t *Tokenizer) NewDetokenizer(o DecodeOptions) *Detokenizer { return nil }

// Detokenizer turns a stream of ids into text, whole characters only. For one goroutine at a time.
type Detokenizer struct{}

// Append takes the next id and gives the text that is complete by it; often "" in the middle of a character.
func (d *Detokenizer) Append(id int32) (string, error) { return "", errPending }

// Flush gives what is still held, as the end of the stream; incomplete characters become U+FFFD.
func (d *Detokenizer) Flush() string { return "" }
