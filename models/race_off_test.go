//go:build !race

package models_test

const raceFactor = 1
