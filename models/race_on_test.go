//go:build race

package models_test

// With the race detector on, time says nothing.
const raceDetector = true
