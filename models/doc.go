// Package models says what a model is to Go: the facts of a GGUF file, its tokenizer, its chat template, the ids that
// end an answer, and whether several models may share a route.
//
//	m, err := models.Open("small.gguf")
//	ids := m.Tokenizer().Encode("hello", tokenizer.Options{})
//	prompt, err := m.Prompt(chat.Request{Messages: messages})
//	stop := m.EndIDs()
//	vocab, err := models.CheckRoute(small, large)
//
// Nothing here touches weights: the tensor table is read and checked, the tensor data is not. A vocabulary-only file (no
// tensors) opens like any other.
//
// A Model and all that it hands out is immutable after Open and safe for use by many goroutines; a
// tokenizer.Detokenizer belongs to one stream.
//
// The package imports neither the engine nor the scheduler.
package models
