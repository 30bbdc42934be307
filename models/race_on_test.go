//go:build race

package models_test

// The race detector slows memory access down some ten times.
const raceFactor = 20
