//go:build race

package tokenizer

// The race detector slows memory access down some ten times.
const raceFactor = 20
