package models

import (
	"github.com/tokenrouter/tokenrouter/models/chat"
	"github.com/tokenrouter/tokenrouter/models/gguf"
	"github.com/tokenrouter/tokenrouter/models/tokenizer"
)

// Report is what Inspect finds in a file.
type Report struct {
	Info      Info                 // as far as it could be read
	Tokenizer *tokenizer.Tokenizer // nil if the file has none that works
	Template  string               // source of the chat template; "" if there is none
	Chat      *chat.Template       // nil if there is none that works
	Problems  []error              // all that keeps the file, or a part of it, from being used; nil if nothing does
}

// Inspect looks at all parts of a file, where Open stops at the first that does not work.
func Inspect(f *gguf.File) Report {
	var r Report
	note := func(err error) {
		if err != nil {
			r.Problems = append(r.Problems, err)
		}
	}
	var err error
	r.Info, err = describe(f)
	note(err)
	r.Template, err = gguf.Default("")(f.Text(keyTemplate))
	note(err)
	if r.Tokenizer, err = tokenizer.New(f); err != nil {
		note(err)
		return r
	}
	r.Info.VocabSize = r.Tokenizer.VocabSize()
	note(checkEmbedding(f, r.Info.VocabSize))
	note(checkScores(f, r.Info.VocabSize))
	if r.Template != "" {
		r.Chat, err = newChat(f, r.Tokenizer)
		note(err)
	}
	return r
}
