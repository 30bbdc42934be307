//go:build race

package sched_test

import "time"

// The race detector makes everything several times slower.
const overheadBound = 400 * time.Microsecond
