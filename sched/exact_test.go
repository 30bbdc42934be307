package sched_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tokenrouter/tokenrouter/sched"
)

// The engine gives exactly the tokens, signals, text and accounts of the sequential oracle: for models alone and routes of
// every shape, at any concurrency, threshold and chunk size.
func TestExact(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ concurrency, threshold, chunk int }{
		{1, 1, 16}, {1, 4, 512}, {4, 1, 512}, {4, 4, 16}, {16, 1, 16}, {16, 4, 512}, {16, 4, 3}, {64, 8, 1}, {32, sched.AutoThreshold, 512},
	} {
		t.Run(fmt.Sprintf("%d clients, B %d, chunk %d", c.concurrency, c.threshold, c.chunk), func(t *testing.T) {
			t.Parallel()
			l := newLab(t, models(), func(o *sched.Options) {
				o.PrefillChunk = c.chunk
				o.Policy = sched.Lazy
				for i := range o.Models {
					o.Models[i].Threshold = c.threshold
					o.Models[i].MaxWait = 5 * time.Millisecond
				}
				// All on one exclusive device, or each on its own.
				if c.threshold == 1 {
					for i := range o.Models {
						o.Models[i].Device = o.Models[i].Name
					}
				}
			})
			defer l.close(t)
			_, err := l.run(shape{seed: uint64(c.concurrency), requests: 120, concurrency: c.concurrency,
				targets: answering, prompt: 60, tokens: 80})
			require.NoError(t, err)
			l.journal.expectVariety(t, c.concurrency)
		})
	}
}

// expectVariety asserts that a run was not easier than it should be.
func (j *journal) expectVariety(t *testing.T, concurrency int) {
	t.Helper()
	j.mu.Lock() // the last step may still be told of
	defer j.mu.Unlock()
	var mixed, away int
	sizes := make(map[int]bool)
	for _, b := range j.batches {
		sizes[b.Segments] = true
		mixed += b2i(b.Prefill > 0 && b.Decode > 0)
		away += b2i(b.Pending > 0)
	}
	pairs := make(map[string]bool)
	for _, h := range j.handoffs {
		pairs[h.From+">"+h.To] = true
	}
	require.Contains(t, pairs, "small>large")
	require.Contains(t, pairs, "large>small")
	if concurrency > 1 {
		require.Greater(t, len(sizes), 2, "sizes of batches")
		require.NotZero(t, mixed, "batches of prefill and decode")
		require.NotZero(t, away, "steps while requests were pending")
	}
}

// So few pages that requests take them from one another all the time: nothing shows but the work.
func TestExactUnderEviction(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		policy    sched.Policy
		threshold int
	}{{sched.Eager, 1}, {sched.Lazy, 3}, {sched.Lazy, sched.AutoThreshold}, {sched.StepSync, 1}, {sched.ModelSync, 1}} {
		t.Run(fmt.Sprintf("%s B %d", c.policy, c.threshold), func(t *testing.T) {
			t.Parallel()
			m := models()
			for name, pages := range map[string]int{"small": 20, "large": 11, "middle": 40} { // about one longest sequence
				tight := m[name]
				tight.Pages = pages
				m[name] = tight
			}
			l := newLab(t, m, func(o *sched.Options) {
				o.PrefillChunk = 16
				o.Policy = c.policy
				for i := range o.Models {
					o.Models[i].Threshold = c.threshold
				}
			})
			defer l.close(t)
			_, err := l.run(shape{seed: 7, requests: 150, concurrency: 12, targets: answering, prompt: 60, tokens: 80})
			require.NoError(t, err)
			evicted, rebuilt := 0, 0
			l.journal.mu.Lock() // the last step may still be told of
			defer l.journal.mu.Unlock()
			for _, b := range l.journal.batches {
				evicted += b.Evicted
				rebuilt += b.Rebuild
			}
			require.Greater(t, evicted, 20)
			require.Greater(t, rebuilt, evicted)
		})
	}
}

// A thousand requests, half of them cancelled at any moment: the others do not notice, and nothing leaks.
func TestExactUnderCancels(t *testing.T) {
	t.Parallel()
	for _, policy := range sched.Policies() {
		t.Run(string(policy), func(t *testing.T) {
			t.Parallel()
			m := models()
			for name, tight := range m {
				tight.Pages /= 4
				tight.Latency = func(*sched.Batch) time.Duration { return 20 * time.Microsecond }
				m[name] = tight
			}
			l := newLab(t, m, func(o *sched.Options) {
				o.PrefillChunk, o.Policy = 16, policy
				for i := range o.Models {
					o.Models[i].Threshold, o.Models[i].MaxWait = sched.AutoThreshold, sched.AutoWait
				}
			})
			defer l.close(t)
			cancelled, err := l.run(shape{seed: 11, requests: 1000, concurrency: 24, targets: answering, prompt: 40, tokens: 40,
				cancels: 0.5, patience: 10 * time.Millisecond})
			require.NoError(t, err)
			t.Logf("%d of 1000 cancelled", cancelled)
			require.Greater(t, cancelled, 50)
		})
	}
}
