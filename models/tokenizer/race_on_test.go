//go:build race

package tokenizer

// With the race detector on, time says nothing.
const raceDetector = true
