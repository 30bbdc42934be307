// Package tokenizer turns text into token ids and back, from the vocabulary that a GGUF file carries.
//
//	t, err := tokenizer.New(file)                      // *gguf.File
//	ids := t.Encode(text, tokenizer.Options{})         // special-token spellings in text stay text
//	text, err := t.Decode(ids, tokenizer.DecodeOptions{})
//	d := t.NewDetokenizer(tokenizer.DecodeOptions{})   // one per stream
//	piece, err := d.Append(id)                         // whole characters only
//	rest := d.Flush()
//
// What is supported is a named list: tokenizer types (`tokenizer.ggml.model`) in models.go, and pre-tokenizers
// (`tokenizer.ggml.pre`) in pretokenizers.go. Anything else is an error that names it, since a wrong splitter gives ids that are
// valid, wrong and silent.
//
// A Tokenizer is immutable and safe for use by many goroutines. A Detokenizer belongs to one stream.
package tokenizer
