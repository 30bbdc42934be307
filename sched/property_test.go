package sched_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tokenrouter/tokenrouter/sched"
	"pgregory.net/rapid"
)

// Any configuration, any workload, any interleaving: the oracle's tokens. On a virtual clock with random latencies, so
// that steps, messages, cancels and timers meet in every order; and in a bubble in which a loop that is never woken is a
// deadlock, which the runtime reports.
func TestExactProperty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		between := func(name string, low, high int) int { return rapid.IntRange(low, high).Draw(rt, name) }
		s := shape{
			seed:        rapid.Uint64().Draw(rt, "seed"),
			requests:    between("requests", 1, 24),
			concurrency: rapid.SampledFrom([]int{1, 4, 16}).Draw(rt, "concurrency"),
			prompt:      between("prompt", 1, 60),
			tokens:      between("tokens", 1, 60),
			cancels:     rapid.SampledFrom([]float64{0, 0, 0.3, 0.8}).Draw(rt, "cancels"),
			patience:    time.Duration(between("patience", 1, 100)) * time.Millisecond,
			targets:     rapid.SliceOfNDistinct(rapid.SampledFrom(answering), 1, -1, rapid.ID).Draw(rt, "targets"),
		}
		m := models()
		tight := rapid.Bool().Draw(rt, "few pages")
		slow := between("slowest step", 0, 3)
		byToken := rapid.Bool().Draw(rt, "by the token") // then extending ahead of need pays
		for name, model := range m {
			if tight {
				model.Pages = (125 + model.PageTokens - 1) / model.PageTokens // hardly one longest sequence
			}
			if slow > 0 {
				rng := rand.New(rand.NewPCG(s.seed, model.Seed))
				model.Latency = func(b *sched.Batch) time.Duration {
					took := rng.IntN(slow * 1000)
					if byToken {
						tokens := 0
						for i := range b.Segments {
							tokens += len(b.Segments[i].Tokens)
						}
						took = tokens * (slow*100 + took/10)
					}
					return time.Duration(took) * time.Microsecond
				}
			}
			m[name] = model
		}
		options := drawOptions(rt)
		var err error
		synctest.Test(t, func(t *testing.T) {
			l := newLab(t, m, options)
			_, err = l.run(s)
			err = errors.Join(err, l.shut(), l.journal.limits(l.options))
		})
		if err != nil {
			rt.Fatal(err)
		}
	})
}

// drawOptions draws a configuration and returns what makes it of the lab's own.
func drawOptions(rt *rapid.T) func(*sched.Options) {
	between := func(name string, low, high int) int { return rapid.IntRange(low, high).Draw(rt, name) }
	batch := between("batch", 1, 16)
	tokens := batch + between("more tokens", 0, 100)
	chunk := rapid.SampledFrom([]int{1, 3, 16, 512}).Draw(rt, "chunk")
	live := between("live", 1, 20)
	policy := rapid.SampledFrom(sched.Policies()).Draw(rt, "policy")
	order := rapid.SampledFrom([]sched.Order{sched.LargeFirst, sched.SmallFirst}).Draw(rt, "order")
	device := rapid.SampledFrom([]string{"shared", "own", "concurrent"}).Draw(rt, "devices")
	noAhead := rapid.Bool().Draw(rt, "nothing ahead")
	var own [3]struct {
		threshold, wait int
		limited         bool
	}
	for i := range own {
		own[i].threshold, own[i].wait = rapid.SampledFrom([]int{1, 2, 3, 6, sched.AutoThreshold}).Draw(rt, "B"), between("wait", 0, 5)
		own[i].limited = rapid.Bool().Draw(rt, "runner's limits")
	}
	return func(o *sched.Options) {
		o.MaxBatch, o.MaxBatchTokens, o.PrefillChunk, o.MaxLive, o.Policy, o.Order = batch, tokens, chunk, live, policy, order
		o.NoAhead = noAhead
		o.Devices = []sched.DeviceOptions{{Name: "concurrent", Concurrent: true}}
		for i := range o.Models {
			model := &o.Models[i]
			model.Threshold, model.MaxWait = own[i].threshold, time.Duration(own[i].wait)*time.Millisecond
			if own[i].wait == 5 {
				model.MaxWait = sched.AutoWait
			}
			model.Device = device
			if device == "own" {
				model.Device = model.Name
			}
			if own[i].limited {
				model.Info.MaxTokens, model.Info.MaxRows = 20, 5
			}
		}
	}
}

// limits checks the records of a run against the limits of its options.
func (j *journal) limits(o sched.Options) error {
	for _, b := range j.batches {
		segments, most := o.MaxBatch, o.MaxBatchTokens
		for _, m := range o.Models {
			if m.Name == b.Model && m.Info.MaxTokens > 0 {
				segments, most = min(segments, m.Info.MaxRows), min(most, m.Info.MaxTokens)
			}
		}
		if tokens := b.Prefill + b.Decode + b.Resume + b.Rebuild; b.Segments > segments || tokens > most || tokens < b.Segments {
			return fmt.Errorf("a batch of %d requests and %d tokens, allowed are %d and %d", b.Segments, tokens, segments, most)
		}
	}
	return nil
}
