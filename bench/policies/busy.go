package main

import (
	"sync/atomic"
	"time"

	"github.com/tokenrouter/tokenrouter/sched"
)

// busy adds up how long the steps of an engine's models take: what is left of the time is the scheduler's.
type busy struct{ nanoseconds atomic.Int64 }

func (b *busy) seconds() float64 { return time.Duration(b.nanoseconds.Load()).Seconds() }

// timed is a runner whose steps are added up.
type timed struct {
	sched.Runner
	busy *busy
}

func (t timed) Step(b *sched.Batch) error {
	start := time.Now()
	err := t.Runner.Step(b)
	t.busy.nanoseconds.Add(int64(time.Since(start)))
	return err
}
