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
	Cached   float64 `json:"cached_tokens,omitempty"` // of all its requests in the KV cache when it has ended: what it reads
	Seconds  float64 `json:"seconds"`

	GraphHits   uint64 `json:"graph_hits,omitempty"` // of a GPU: steps that ran as a graph, and others
	GraphMisses uint64 `json:"graph_misses,omitempty"`
}

// timed is a runner whose steps are counted. One engine after the other uses it: the native runner stays open.
type timed struct {
	native *sched.NativeRunner
	mutex  sync.Mutex
	sum    Steps // Requests, Rows and Cached of all steps
	calls  []call
}

func (t *timed) Step(b *sched.Batch) error {
	start := time.Now()
	err := t.native.Step(b)
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.sum.Count++
	t.sum.Seconds += time.Since(start).Seconds()
	t.sum.Requests += float64(len(b.Segments))
	for i := range b.Segments {
		s := &b.Segments[i]
		t.sum.Rows += float64(len(s.Tokens))
		t.sum.Cached += float64(s.Position + len(s.Tokens))
	}
	if g := t.native.Graphs(); g != nil {
		t.sum.GraphHits, t.sum.GraphMisses = g.Hits, g.Misses
	}
	began, ended := t.native.Called()
	t.calls = append(t.calls, call{began, ended})
	return err
}

// Close leaves the native runner to the next engine.
func (t *timed) Close() error { return nil }

// begin forgets the calls of before.
func (t *timed) begin() {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.calls = nil
}

// total is what has been counted, and the calls since begin.
func (t *timed) total() (Steps, []call) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.sum, t.calls
}

// since is the difference of two counts, per step.
func (s Steps) since(before Steps) Steps {
	count := s.Count - before.Count
	n := float64(max(count, 1))
	return Steps{count, (s.Requests - before.Requests) / n, (s.Rows - before.Rows) / n, (s.Cached - before.Cached) / n, s.Seconds - before.Seconds,
		s.GraphHits - before.GraphHits, s.GraphMisses - before.GraphMisses}
}
