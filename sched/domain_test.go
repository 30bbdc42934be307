package sched_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tokenrouter/tokenrouter/router"
	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/sched/simrunner"
)

// overlap reports whether steps of different models ran at the same time.
func (j *journal) overlap() bool {
	for i, a := range j.batches {
		for _, b := range j.batches[:i] {
			if a.Model != b.Model && a.Start.Before(b.End) && b.Start.Before(a.End) {
				return true
			}
		}
	}
	return false
}

// On an exclusive device, and with the synchronous policies anywhere, one step runs at a time; otherwise steps overlap.
func TestStepsTakeTurns(t *testing.T) {
	t.Parallel()
	for _, policy := range sched.Policies() {
		for _, shared := range []bool{true, false} {
			synctest.Test(t, func(t *testing.T) {
				p := newPair(t, unsureAfter(2), func(o *sched.Options) {
					o.Policy = policy
					if shared {
						o.Models[0].Device, o.Models[1].Device = "cpu", "cpu"
					}
				})
				var streams []*sched.Stream
				for range 3 {
					streams = append(streams, p.submit(t, "r", 6))
					time.Sleep(7 * ms)
				}
				for _, s := range streams {
					require.Equal(t, sched.FinishLength, read(t, s).Finish)
				}
				p.close(t)
				synchronous := policy == sched.StepSync || policy == sched.ModelSync
				require.Equal(t, !shared && !synchronous, p.journal.overlap(), "%s, shared: %t", policy, shared)
			})
		}
	}
}

// Models that share a device and no route take turns, whatever the policy: none starves.
func TestUnrelatedModelsTakeTurns(t *testing.T) {
	t.Parallel()
	for _, policy := range sched.Policies() {
		for _, order := range []sched.Order{sched.LargeFirst, sched.SmallFirst} {
			synctest.Test(t, func(t *testing.T) {
				p := newPair(t, unsureAfter(0), func(o *sched.Options) {
					o.Policy, o.Order = policy, order
					o.Models[0].Device, o.Models[1].Device = "cpu", "cpu"
				})
				a, b := p.submit(t, "small", 20), p.submit(t, "large", 20)
				_, _ = read(t, a), read(t, b)
				p.close(t)
				ends := map[string]time.Duration{}
				for _, r := range p.journal.batches {
					ends[r.Model] = r.End.Sub(p.start)
				}
				if policy == sched.ModelSync {
					return // by its definition one model goes on until nobody waits for it
				}
				// Steps of 10 and 40 ms in turn: both get their twenty in the first second.
				require.Less(t, ends["small"], 1000*ms+1, "%s %s", policy, order)
				require.Equal(t, 1000*ms, ends["large"]+ends["small"]-min(ends["large"], ends["small"]), "%s %s", policy, order)
			})
		}
	}
}

// A request that has no token yet does not wait until all others have left the large model.
func TestNewcomersTakeTurnsWithTheLargeModel(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, unsureAfter(1), func(o *sched.Options) {
			o.Policy = sched.Eager
			o.Models[0].Device, o.Models[1].Device = "cpu", "cpu"
			large := simrunner.Script{Default: router.Row{Token: 30, Entropy: 4}, Latency: 40 * ms} // never hands back
			o.Models[1].Runner = large
		})
		defer p.close(t)
		old := p.submit(t, "r", 30)
		time.Sleep(100 * ms)
		young := p.submit(t, "r", 1)
		_ = read(t, young)
		require.Less(t, time.Since(p.start), 200*ms)
		_ = read(t, old)
	})
}

// With lazy batching a newcomer goes before a large model whose threshold is met, but only one step does. With eager batching models
// take turns.
func TestNewcomersPassTheLargeModelOnce(t *testing.T) {
	t.Parallel()
	for policy, want := range map[sched.Policy][]time.Duration{
		// Small 0 to 20 ms, then the first request waits for the large model; small for the second one 20 to 30 ms, in which the third
		// one comes; large 30 to 70 ms, small 70 to 80 ms.
		sched.Lazy: {30 * ms, 80 * ms},
		// Small 0 to 20 ms; large 20 to 60 ms; small for both 60 to 70 ms.
		sched.Eager: {70 * ms, 70 * ms},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := newPair(t, unsureAfter(1), func(o *sched.Options) {
				o.Policy = policy
				o.Models[0].Device, o.Models[1].Device = "cpu", "cpu"
			})
			defer p.close(t)
			first := p.submit(t, "r", 6)
			time.Sleep(15 * ms)
			second := p.submit(t, "r", 1)
			time.Sleep(10 * ms)
			third := p.submit(t, "r", 1)
			_ = read(t, second)
			require.Equal(t, want[0], time.Since(p.start), policy)
			_ = read(t, third)
			require.Equal(t, want[1], time.Since(p.start), policy)
			_ = read(t, first)
		})
	}
}

// With step-sync, requests write position by position: after every large step all have as many tokens.
func TestStepSyncKeepsPositionsTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := models()
		for name, model := range m {
			model.Latency = func(*sched.Batch) time.Duration { return ms }
			m[name] = model
		}
		l := newLab(t, m, func(o *sched.Options) { o.Policy = sched.StepSync })
		var streams []*sched.Stream
		for i := range 6 {
			s, err := l.engine.Submit(t.Context(), sched.Request{Target: "cascade", Prompt: []int32{5, int32(i)}, MaxTokens: 40, IgnoreEnd: true})
			require.NoError(t, err)
			streams = append(streams, s)
		}
		for done := false; !done; {
			time.Sleep(ms / 2)
			synctest.Wait()
			low, high := 1<<30, 0
			done = true
			for _, s := range streams {
				tokens, ended := s.Completion()
				low, high = min(low, tokens), max(high, tokens)
				done = done && ended
			}
			require.LessOrEqual(t, high-low, 1)
		}
		for _, s := range streams {
			_ = read(t, s)
		}
		l.close(t)
	})
}

// On a concurrent device steps of the models overlap; on an exclusive one none does. The same requests, the same tokens.
func TestConcurrentDevice(t *testing.T) {
	t.Parallel()
	var took [2]time.Duration
	var answers [2][]answer
	for i, devices := range [][]sched.DeviceOptions{nil, {{Name: "gpu", Concurrent: true}}} {
		synctest.Test(t, func(t *testing.T) {
			p := newPair(t, unsureAfter(1), func(o *sched.Options) {
				o.Policy, o.Devices = sched.Eager, devices
				o.Models[0].Device, o.Models[1].Device = "gpu", "gpu"
			})
			a, b := p.submit(t, "small", 40), p.submit(t, "large", 10) // 400 ms each
			answers[i] = []answer{read(t, a), read(t, b)}
			took[i] = time.Since(p.start)
			p.close(t)
		})
	}
	require.Equal(t, 800*ms, took[0])
	require.Equal(t, 400*ms, took[1])
	require.Equal(t, answers[0], answers[1])
}
