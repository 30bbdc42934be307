//go:build !race

package tokenizer

const raceFactor = 1
