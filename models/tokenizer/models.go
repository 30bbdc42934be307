package tokenizer

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tokenrouter/tokenrouter/models/gguf"
)

// encoder is one type of tokenizer: how text without special tokens becomes ids.
type encoder interface {
	// encode appends the ids of text, which is not empty. begin says that it stands at the beginning of the whole text,
	// or behind a special token. It is safe for many goroutines.
	encode(dst []int32, text string, begin bool) []int32
	// raw gives the bytes that the vocabulary text of an ordinary token or a byte token stands for.
	raw(text string, t Type) string
	// spelling gives the text that a special token is read from.
	spelling(text string) string
	// prefixes says whether encode puts a space before text at the beginning.
	prefixes() bool
	// same says, by a *MismatchError, where the rules of two encoders for the same vocabulary differ.
	same(other encoder) error
}

// encoders are the supported types, by `tokenizer.ggml.model`. A further type is a file and a line here.
var encoders = map[string]func(*gguf.File, *vocab) (encoder, error){
	"gpt2":  newBPE,
	"llama": newSPM,
}

func newEncoder(f *gguf.File, v *vocab) (encoder, error) {
	build, ok := encoders[v.model]
	if !ok {
		return nil, fmt.Errorf("tokenizer type %q (%s) is not supported, expected one of %s", v.model, keyModel, list(encoders))
	}
	return build(f, v)
}

// list gives the keys of a registry for a message.
func list[T any](m map[string]T) string {
	return strings.Join(slices.Sorted(maps.Keys(m)), ", ")
}
