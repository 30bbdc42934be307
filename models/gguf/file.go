package gguf

// File is the header of a GGUF file: metadata and tensor table. Immutable; safe for many goroutines.
type File struct{}
