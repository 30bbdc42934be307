package sched_test

import (
	"encoding/json"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tokenrouter/tokenrouter/sched"
)

var routed = []string{"stitch", "half", "backward", "visit", "mix", "cascade"}

// Messages are plain data: nothing is lost when each goes through JSON, as it would between two machines.
func TestMessagesSerialize(t *testing.T) {
	t.Parallel()
	l := newLab(t, models(), nil)
	defer l.close(t)
	var bytes atomic.Int64
	l.engine.SetTransport(func(m sched.Message, deliver func(sched.Message)) {
		data, err := json.Marshal(m)
		if err != nil {
			t.Error(err)
		}
		bytes.Add(int64(len(data)))
		var copied sched.Message
		if err := json.Unmarshal(data, &copied); err != nil {
			t.Error(err)
		}
		deliver(copied)
	})
	_, err := l.run(shape{seed: 3, requests: 80, concurrency: 8, targets: routed, prompt: 40, tokens: 40, grammars: 0.25})
	require.NoError(t, err)
	require.NotZero(t, bytes.Load())
}

// Messages take time, each pair of models a different one: those of different senders overtake one another.
func TestSlowMessages(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, models(), nil)
		defer l.close(t)
		var mu sync.Mutex
		lines := make(map[string]chan func())
		l.engine.SetTransport(func(m sched.Message, deliver func(sched.Message)) {
			mu.Lock()
			defer mu.Unlock()
			line := lines[m.From+m.To]
			if line == nil {
				line = make(chan func(), 1000)
				lines[m.From+m.To] = line
				delay := time.Duration(len(lines)*len(lines)) * time.Millisecond
				go func() {
					for f := range line {
						time.Sleep(delay)
						f()
					}
				}()
			}
			line <- func() { deliver(m) }
		})
		_, err := l.run(shape{seed: 4, requests: 60, concurrency: 6, targets: routed, prompt: 30, tokens: 30,
			cancels: 0.3, patience: 300 * time.Millisecond})
		require.NoError(t, err)
		require.NoError(t, l.shut())
		for _, line := range lines {
			close(line)
		}
	})
}

// A message that comes twice counts once.
func TestRepeatedMessages(t *testing.T) {
	t.Parallel()
	l := newLab(t, models(), nil)
	defer l.close(t)
	l.engine.SetTransport(func(m sched.Message, deliver func(sched.Message)) {
		deliver(m)
		l.engine.Uncount(m.To, -1)
		deliver(m)
	})
	_, err := l.run(shape{seed: 5, requests: 60, concurrency: 6, targets: routed, prompt: 30, tokens: 30})
	require.NoError(t, err)
}

// A message that is lost shows as a fault.
func TestLostMessageIsAFault(t *testing.T) {
	t.Parallel()
	l := newLab(t, models(), nil)
	l.engine.SetTransport(func(m sched.Message, deliver func(sched.Message)) {
		if m.Kind == sched.Admitted {
			l.engine.Uncount(m.To, 1)
			return
		}
		deliver(m)
	})
	l.ask(t, sched.Request{Target: "stitch", Prompt: []int32{9, 9}, MaxTokens: 30})
	require.ErrorContains(t, l.engine.Close(t.Context()), `messages 1 to 1 from "small" were lost`)
}

// A peer that has forgotten a request asks for it again from the start and goes on as if nothing had happened.
func TestForgottenRequestIsSentAgain(t *testing.T) {
	t.Parallel()
	l := newLab(t, models(), nil)
	defer l.close(t)
	var forgotten, resends, specs atomic.Int64
	var handoffs atomic.Int64
	l.engine.SetTransport(func(m sched.Message, deliver func(sched.Message)) {
		switch m.Kind {
		case sched.Handoff:
			if handoffs.Add(1)%3 == 0 && m.To != "small" && l.engine.Forget(m.To, m.Request) {
				forgotten.Add(1)
			}
			if m.Spec != nil {
				specs.Add(1)
			}
		case sched.Resend:
			resends.Add(1)
		}
		deliver(m)
	})
	_, err := l.run(shape{seed: 6, requests: 60, concurrency: 6, targets: []string{"stitch", "half", "visit", "cascade"}, prompt: 30, tokens: 60})
	require.NoError(t, err)
	require.Greater(t, forgotten.Load(), int64(20))
	// Now and then a request ends while it is on its way to the peer that forgot it.
	require.LessOrEqual(t, resends.Load(), forgotten.Load())
	require.Greater(t, resends.Load(), forgotten.Load()*8/10)
	require.Greater(t, specs.Load(), resends.Load(), "a resend from the start carries the terms")
}

// A return carries what the receiver has not seen, and nothing else: no token of the prompt, none that it knows.
func TestHandoffsCarryTheSmallestSuffix(t *testing.T) {
	t.Parallel()
	l := newLab(t, models(), nil)
	defer l.close(t)
	var mu sync.Mutex
	known := make(map[string]int) // by request and model: tokens that it must know by now
	l.engine.SetTransport(func(m sched.Message, deliver func(sched.Message)) {
		if m.Kind == sched.Handoff {
			mu.Lock()
			from, to := m.Request+m.From, m.Request+m.To
			if m.Start != known[to] {
				t.Errorf("%s to %s: starts at %d, the receiver knows %d", m.Request, m.To, m.Start, known[to])
			}
			if m.Start+len(m.Tokens) != m.Anchor {
				t.Errorf("%s to %s: tokens up to %d, the sender has %d", m.Request, m.To, m.Start+len(m.Tokens), m.Anchor)
			}
			known[from], known[to] = m.Anchor, m.Anchor
			mu.Unlock()
		}
		deliver(m)
	})
	_, err := l.run(shape{seed: 8, requests: 60, concurrency: 4, targets: []string{"stitch", "half", "backward", "visit"}, prompt: 30, tokens: 40})
	require.NoError(t, err)
}

// Messages that make no sense are refused, and cost the request that they are about at most.
func TestNonsenseMessages(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil func(*sched.Message) bool // reports whether it did
		want  string                    // of the request's error
	}{
		"tokens outside the vocabulary": {func(m *sched.Message) bool {
			m.Tokens = []int32{-5}
			return true
		}, `model "large": token -5 from "small" is outside the 500 ids of the route`},
		"a route of others": {func(m *sched.Message) bool {
			if m.Spec == nil {
				return false
			}
			spec := *m.Spec
			spec.Models = []string{"small", "middle"}
			m.Spec = &spec
			return true
		}, `model "large": handed off by "small" in a route of ["small" "middle"]`},
		"another history": {func(m *sched.Message) bool {
			if m.Start == 0 {
				return false
			}
			m.Start--
			m.Tokens = append([]int32{m.Tokens[0] + 1}, m.Tokens...)
			return true
		}, `model "large": "small" and this model disagree about the tokens from position`},
		"too long": {func(m *sched.Message) bool {
			m.Tokens = make([]int32, 500)
			return true
		}, `model "large": a handoff from "small" makes the sequence 500 tokens long, its end is at 102`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, models(), nil)
			defer l.close(t)
			var once sync.Once
			l.engine.SetTransport(func(m sched.Message, deliver func(sched.Message)) {
				if m.Kind == sched.Handoff && m.To == "large" && m.Request == "spoiled" {
					spoiled := m
					if c.spoil(&spoiled) {
						once.Do(func() { m = spoiled })
					}
				}
				deliver(m)
			})
			beside, err := l.engine.Submit(t.Context(), sched.Request{Target: "half", Prompt: []int32{7}, MaxTokens: 60})
			require.NoError(t, err)
			a := l.ask(t, sched.Request{ID: "spoiled", Target: "visit", Prompt: []int32{9, 9}, MaxTokens: 100, IgnoreEnd: true})
			require.Equal(t, sched.FinishError, a.Finish)
			var model *sched.ModelError
			require.ErrorAs(t, a.err, &model)
			require.ErrorContains(t, a.err, c.want)
			require.Equal(t, l.want(t, sched.Request{Target: "half", Prompt: []int32{7}, MaxTokens: 60}), read(t, beside).Answer)
		})
	}
}
