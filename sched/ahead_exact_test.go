package sched_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tokenrouter/tokenrouter/sched"
)

// ahead gives a lab's models devices of their own, or a concurrent one.
func (a *aheads) options(o *sched.Options, concurrent bool) {
	for i := range o.Models {
		o.Models[i].Device = o.Models[i].Name
		if concurrent {
			o.Models[i].Device = "gpu"
		}
	}
	o.Devices = []sched.DeviceOptions{{Name: "gpu", Concurrent: true}}
	o.Observer = sched.Observers(o.Observer, a.observer())
}

// What is extended ahead of need shows in no answer: with room for all, with so few pages that requests take them from one
// another, with cancels, and with steps of any length.
func TestExactAhead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		policy     sched.Policy
		threshold  int
		pages      int // of the longest sequence: about as many of them fit
		concurrent bool
		cancels    float64
	}{
		{sched.Eager, 1, 20, false, 0}, {sched.Lazy, 3, 20, true, 0.3}, {sched.Lazy, sched.AutoThreshold, 20, false, 0},
		{sched.Eager, 1, 1, true, 0}, {sched.Lazy, 3, 1, false, 0.3}, {sched.Lazy, 3, 2, false, 0}, {sched.Eager, 1, 3, false, 0.3},
	} {
		t.Run(fmt.Sprintf("%s B %d, pages %d, cancels %g", c.policy, c.threshold, c.pages, c.cancels), func(t *testing.T) {
			t.Parallel()
			m := models()
			rng := rand.New(rand.NewPCG(5, uint64(c.pages)))
			for name, model := range m {
				own := rand.New(rand.NewPCG(rng.Uint64(), model.Seed))
				model.Pages = c.pages * (125 + model.PageTokens) / model.PageTokens
				model.Latency = func(b *sched.Batch) time.Duration { // by the token
					took := 0
					for i := range b.Segments {
						took += len(b.Segments[i].Tokens)
					}
					return time.Duration(took*(500+own.IntN(500))) * time.Microsecond
				}
				m[name] = model
			}
			synctest.Test(t, func(t *testing.T) {
				seen := &aheads{}
				l := newLab(t, m, func(o *sched.Options) {
					o.Policy, o.PrefillChunk = c.policy, 32
					for i := range o.Models {
						o.Models[i].Threshold, o.Models[i].MaxWait = c.threshold, 20*ms
					}
					seen.options(o, c.concurrent)
				})
				_, err := l.run(shape{seed: 3, requests: 150, concurrency: 3 * (1 + c.pages/10), targets: answering, prompt: 60, tokens: 60,
					cancels: c.cancels, patience: 500 * time.Millisecond})
				require.NoError(t, err)
				l.close(t)
				used := 0
				for _, b := range l.journal.batches {
					used += b.Ahead
				}
				t.Logf("%d tokens ahead, %d of use", seen.tokens(), used)
				require.NotZero(t, used)
				require.LessOrEqual(t, used, seen.tokens())
			})
		})
	}
}

// Ten thousand requests on models that extend ahead of need and fail now and then; some are cancelled. In the end every page is
// free.
func TestTenThousandRequestsAhead(t *testing.T) {
	t.Parallel()
	m := models()
	for name := range m {
		n := 0
		failing(m, name, func(*sched.Batch) bool {
			n++
			return n%300 == 0
		})
	}
	for name, model := range m {
		model.Pages /= 3
		m[name] = model
	}
	seen := &aheads{}
	l := newLab(t, m, func(o *sched.Options) { seen.options(o, false) })
	ends := make(chan error, 10_000)
	work := make(chan int)
	for range 32 {
		go func() {
			for i := range work {
				r := sched.Request{Target: answering[i%len(answering)], Prompt: make([]int32, 40), MaxTokens: 1 + i%7, IgnoreEnd: true}
				for k := range r.Prompt {
					r.Prompt[k] = int32((i*k + i) % 500)
				}
				s, err := l.engine.Submit(context.Background(), r)
				if err == nil {
					if i%5 == 0 {
						s.Cancel()
					}
					_, err = collect(s)
				}
				ends <- err
			}
		}()
	}
	for i := range 10_000 {
		work <- i
	}
	close(work)
	for range 10_000 {
		require.NoError(t, <-ends)
	}
	l.close(t)
	require.NotZero(t, seen.tokens())
}
