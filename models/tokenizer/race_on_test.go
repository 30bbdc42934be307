//go:build race

package tokenizer_test

// With the race detector on, time says nothing.
const raceDetector = true
