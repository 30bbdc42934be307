// Package openai holds the wire format of the API: requests of OpenAI's /v1/chat/completions and /v1/completions decoded
// strictly, answers and stream chunks, and the shape of errors; with the `routing` objects that are our own.
//
//	r, err := openai.DecodeChat(body) // err is an *Error, ready to be sent
//
// Strict means: JSON as of RFC 7493 (UTF-8, no lone surrogates, no key twice, nothing after the value), every field of
// its type and within its range. A field that is not supported is refused by name, unless its value asks for nothing
// (n: 1, tools: []); so is one that is not known. null counts as left out.
//
// Source: the OpenAI API reference (chat completions, completions, models, errors, streaming).
package openai
