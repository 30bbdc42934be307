//go:build !race

package models_test

const raceDetector = false
