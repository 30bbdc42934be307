package main

import (
	"sync"
	"time"

	"github.com/tokenrouter/tokenrouter/sched"
)

// Steps are those of one model: how many, of how many requests and rows on average, and how long they took together.
type Steps struct {
	Count    int     `json:"steps"`
	Requests float64 `json:"requests"`
	Rows     float64 `json:"rows"`
	Seconds  float64 `json:"seconds"`
}

// timed is a runner whose steps are counted.
type timed struct {
	sched.Runner
	mutex sync.Mutex
	sum   Steps // Requests and Rows of all steps
}

func (t *timed) Step(b *sched.Batch) error {
	start := time.Now()
	err := t.Runner.Step(b)
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.sum.Count++
	t.sum.Seconds += time.Since(start).Seconds()
	t.sum.Requests += float64(len(b.Segments))
	for i := range b.Segments {
		t.sum.Rows += float64(len(b.Segments[i].Tokens))
	}
	return err
}

// total is what has been counted.
func (t *timed) total() Steps {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.sum
}

// since is the difference of two counts, per step.
func (s Steps) since(before Steps) Steps {
	n := s.Count - before.Count
	return Steps{n, (s.Requests - before.Requests) / float64(max(n, 1)), (s.Rows - before.Rows) / float64(max(n, 1)), s.Seconds - before.Seconds}
}
