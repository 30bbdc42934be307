//go:build !race

package sched_test

import "time"

const overheadBound = 20 * time.Microsecond
