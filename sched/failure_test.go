package sched_test

import (
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tokenrouter/tokenrouter/router"
	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/sched/simrunner"
)

var errLost = errors.New("device lost")

// failing makes the steps of one model fail for which f says so.
func failing(m map[string]simrunner.Model, name string, f func(*sched.Batch) bool) {
	model := m[name]
	model.Fail = func(b *sched.Batch) error {
		if f(b) {
			return errLost
		}
		return nil
	}
	m[name] = model
}

// A step that fails ends the requests in it, with the runner's error, and no other; the subserver lives on.
func TestFailedStepEndsItsRequests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := models()
		steps := 0
		failing(m, "small", func(b *sched.Batch) bool {
			steps++
			return steps == 5
		})
		small := m["small"]
		small.Latency = func(*sched.Batch) time.Duration { return ms }
		m["small"] = small
		l := newLab(t, m, func(o *sched.Options) { o.MaxBatch = 2 })
		defer l.close(t)
		r := sched.Request{Target: "small", Prompt: []int32{9, 9, 9}, MaxTokens: 30, IgnoreEnd: true}
		var streams []*sched.Stream
		for range 6 {
			s, err := l.engine.Submit(t.Context(), r)
			require.NoError(t, err)
			streams = append(streams, s)
		}
		failed := 0
		for _, s := range streams {
			a := read(t, s)
			if a.Finish != sched.FinishError {
				require.Equal(t, l.want(t, r), a.Answer, "a request beside the failed ones")
				continue
			}
			failed++
			require.ErrorIs(t, a.err, errLost)
			require.EqualError(t, a.err, `model "small": step of 2 requests failed: device lost`)
		}
		require.Equal(t, 2, failed, "the requests of one batch of two")
		require.Equal(t, l.want(t, r), l.ask(t, r).Answer, "the subserver lives on")
	})
}

// When a device is lost, whoever is there or comes fails, whatever they would have waited for; what does without it goes on.
func TestLostDevice(t *testing.T) {
	t.Parallel()
	m := models()
	var gone atomic.Bool
	var steps atomic.Int32
	for _, name := range []string{"large", "middle"} {
		model := m[name]
		model.Fail = func(*sched.Batch) error {
			steps.Add(1)
			if gone.Load() && name == "large" {
				return fmt.Errorf("%w: unspecified launch failure", sched.ErrLost)
			}
			return nil
		}
		m[name] = model
	}
	var told atomic.Int32
	l := newLab(t, m, func(o *sched.Options) {
		o.Policy = sched.Lazy
		o.Models[1].Device, o.Models[2].Device = "gpu", "gpu"
		o.Models[1].Threshold, o.Models[2].Threshold = 50, 50
		o.Observer = sched.Observers(o.Observer, &sched.Observer{Lost: func(device string, err error) {
			if device == "gpu" && errors.Is(err, sched.ErrLost) {
				told.Add(1)
			}
		}})
	})
	defer l.close(t)
	r := sched.Request{Target: "visit", Prompt: []int32{9, 8, 7}, MaxTokens: 60, IgnoreEnd: true}
	require.Equal(t, l.want(t, r), l.ask(t, r).Answer)
	require.NoError(t, l.engine.Snapshot().Devices[1].Lost)

	gone.Store(true)
	for range 2 {
		a := l.ask(t, r)
		require.Equal(t, sched.FinishError, a.Finish)
		require.ErrorIs(t, a.err, sched.ErrLost)
		require.ErrorContains(t, a.err, "unspecified launch failure")
	}
	require.Equal(t, int32(1), told.Load(), "it is said once")
	before := steps.Load()
	for _, target := range []string{"large", "middle", "mix"} { // middle shares the device with large
		_, err := l.engine.Submit(t.Context(), sched.Request{Target: target, Prompt: r.Prompt})
		require.ErrorIs(t, err, sched.ErrLost)
		require.ErrorContains(t, err, "cannot answer: device lost")
	}
	require.ErrorIs(t, l.ask(t, sched.Request{Target: "cascade", Prompt: r.Prompt, MaxTokens: 60, IgnoreEnd: true}).err, sched.ErrLost)
	require.Equal(t, before, steps.Load(), "no step is asked of a device that is gone")
	d := l.engine.Snapshot().Devices[1]
	require.Equal(t, []string{"large", "middle"}, d.Models)
	require.ErrorIs(t, d.Lost, sched.ErrLost)

	alone := sched.Request{Target: "small", Prompt: []int32{9, 9, 9}, MaxTokens: 200, IgnoreEnd: true}
	require.Equal(t, l.want(t, alone), l.ask(t, alone).Answer)
}

// A peer that fails ends the requests that are there; requests that do without it go on.
func TestFailedPeer(t *testing.T) {
	t.Parallel()
	m := models()
	var broken atomic.Bool
	broken.Store(true)
	failing(m, "large", func(*sched.Batch) bool { return broken.Load() })
	l := newLab(t, m, nil)
	defer l.close(t)
	alone := sched.Request{Target: "small", Prompt: []int32{9, 9, 9}, MaxTokens: 200, IgnoreEnd: true}
	beside, err := l.engine.Submit(t.Context(), alone)
	require.NoError(t, err)
	r := sched.Request{Target: "visit", Prompt: []int32{9, 8, 7}, MaxTokens: 60, IgnoreEnd: true}
	a := l.ask(t, r)
	require.Equal(t, sched.FinishError, a.Finish)
	require.ErrorIs(t, a.err, errLost)
	var model *sched.ModelError
	require.ErrorAs(t, a.err, &model)
	require.Equal(t, "large", model.Model)
	require.Equal(t, l.want(t, alone), read(t, beside).Answer)

	broken.Store(false)
	require.Equal(t, l.want(t, r), l.ask(t, r).Answer, "the peer has recovered")
}

// Steps fail all the time: whatever is answered is right, and nothing leaks.
func TestFailuresAtRandom(t *testing.T) {
	t.Parallel()
	m := models()
	for name := range m {
		n := 0
		failing(m, name, func(*sched.Batch) bool {
			n++
			return n%40 == 0
		})
	}
	l := newLab(t, m, nil)
	defer l.close(t)
	failed, right := 0, 0
	for i := range 40 {
		s := shape{seed: uint64(i), requests: 5, concurrency: 5, targets: answering, prompt: 20, tokens: 20}
		if _, err := l.run(s); err != nil {
			require.ErrorIs(t, err, errLost)
			failed++
			continue
		}
		right++
	}
	require.NotZero(t, failed)
	require.NotZero(t, right)
}

// An algorithm that misbehaves costs its own requests, with an error that says what it did.
func TestMisbehavingAlgorithms(t *testing.T) {
	t.Parallel()
	l := newLab(t, models(), nil)
	defer l.close(t)
	for target, want := range map[string]string{
		"bounce": `model "small": algorithm "test-bounce" handed the request off 3 times without writing a token`,
		"panic":  `model "small": route of algorithm "test-panic" panicked: no idea`,
		"lost":   `model "small": algorithm "test-lost" sent the request to peer 2: model 0 of the route has peers 1 to 1`,
	} {
		a := l.ask(t, sched.Request{Target: target, Prompt: []int32{9, 9, 9}, MaxTokens: 60, IgnoreEnd: true})
		require.Equal(t, sched.FinishError, a.Finish)
		require.EqualError(t, a.err, want)
	}
	r := sched.Request{Target: "stitch", Prompt: []int32{9, 9, 9}, MaxTokens: 60}
	require.Equal(t, l.want(t, r), l.ask(t, r).Answer)
}

// A runner that cannot draw a token says -1: because everything is masked, or because the logits are not finite.
func TestNoTokenToDraw(t *testing.T) {
	t.Parallel()
	for want, row := range map[string]router.Row{
		"no token could be drawn: got -1, want 0 to 99": {Token: -1},
		"the logits are not finite numbers":             {Token: -1, LogSumExp: float32(math.NaN())},
	} {
		m := simrunner.Script{Default: row}
		e, err := sched.NewEngine(sched.Options{Models: []sched.ModelOptions{{Name: "m", Runner: m, Info: m.Info()}}})
		require.NoError(t, err)
		s, err := e.Submit(t.Context(), sched.Request{Target: "m", Prompt: []int32{1}})
		require.NoError(t, err)
		a := read(t, s)
		require.Equal(t, sched.FinishError, a.Finish)
		require.ErrorContains(t, a.err, want)
		require.NoError(t, e.Close(t.Context()))
	}
}
