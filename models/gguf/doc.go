// Package gguf reads the metadata and the tensor table of GGUF files, versions 2 and 3, little-endian.
//
// The bytes of a file are not trusted: every count, length and offset is checked against what the file can hold before
// it is used, and before memory is taken for it. Whatever the bytes are, the answer is a File or an [Error] that says
// what is wrong, at which byte offset and for which key or tensor. Tensor data is not read.
//
// The native library has a reader of its own (native/src/gguf), since it stands alone. The two have the same limits, checks and
// words, and both are held to the corpus in tests/testdata/gguf; tests/gguf compares them on changed files.
//
// Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
package gguf
