package sched

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tokenrouter/tokenrouter/router"
)

// silent is a runner that writes token 7 for ever. (Tests from inside the package cannot import simrunner.)
type silent struct{}

func (silent) Step(b *Batch) error {
	for i := range b.Rows {
		b.Rows[i].Out.Token = 7
	}
	return nil
}

func (silent) Close() error { return nil }

var noRole = router.Role{Route: func(router.View) router.Destination { return router.Stay }}

// newTestEngine has one model, "m". Close is the test's.
func newTestEngine(t *testing.T, o *Observer) *Engine {
	t.Helper()
	e, err := NewEngine(Options{
		Models:   []ModelOptions{{Name: "m", Runner: silent{}, Info: Info{Vocab: 10, PageTokens: 4, Pages: 8, MaxContext: 32}}},
		Observer: o,
	})
	require.NoError(t, err)
	return e
}

// What is planned for is the device as it is shared: models on a concurrent one are as those on separate ones.
func TestPlannerKnowsTheDevice(t *testing.T) {
	t.Parallel()
	for _, concurrent := range []bool{false, true} {
		info := Info{Vocab: 10, PageTokens: 4, Pages: 8, MaxContext: 32}
		e, err := NewEngine(Options{
			Models: []ModelOptions{
				{Name: "a", Device: "gpu", Runner: silent{}, Info: info},
				{Name: "b", Device: "gpu", Runner: silent{}, Info: info, Threshold: AutoThreshold},
			},
			Routes:  []RouteOptions{{Name: "r", Algorithm: router.RandomName, Models: []string{"a", "b"}}},
			Policy:  Lazy,
			Devices: []DeviceOptions{{Name: "gpu", Concurrent: concurrent}},
		})
		require.NoError(t, err)
		a := e.byName["a"]
		a.mu.Lock()
		a.observed.seen = 1000 // enough to plan with
		a.mu.Unlock()
		s, _, ok := e.groups[0].planner.system()
		require.True(t, ok)
		require.Equal(t, !concurrent, s.Shared)
		require.NoError(t, e.Close(t.Context()))
	}
}

// Planning for hundreds of live requests would take minutes.
func TestPlannerIsBounded(t *testing.T) {
	t.Parallel()
	info := Info{Vocab: 10, PageTokens: 4, Pages: 8, MaxContext: 32}
	e, err := NewEngine(Options{
		Models: []ModelOptions{
			{Name: "a", Runner: silent{}, Info: info}, {Name: "b", Runner: silent{}, Info: info, Threshold: AutoThreshold},
		},
		Routes: []RouteOptions{{Name: "r", Algorithm: router.RandomName, Models: []string{"a", "b"}}},
		Policy: Lazy, MaxLive: 4096,
	})
	require.NoError(t, err)
	a, b := e.byName["a"], e.byName["b"]
	a.mu.Lock()
	a.observed.seen = 1000 // enough to plan with
	a.mu.Unlock()
	b.mu.Lock()
	b.visitors = 4000
	b.rules[planMost] = rule{threshold: 60}
	require.Equal(t, 60, b.ruled(4000), "as for the most that are planned for")
	b.mu.Unlock()
	_, live, _ := e.groups[0].planner.system()
	require.Equal(t, planMost, live)
	b.mu.Lock()
	b.visitors = 0
	b.mu.Unlock()
	require.NoError(t, e.Close(t.Context()))
}

// A group may become quiescent while something is still in transit, when the receiver of a message is through with it before its sender
// has counted it off. The model that then has to start is woken when nothing is in transit any more, not only before.
func TestQuiescentBeforeAllHasArrived(t *testing.T) {
	t.Parallel()
	info := Info{Vocab: 10, PageTokens: 4, Pages: 8, MaxContext: 32}
	e, err := newEngine(Options{
		Models: []ModelOptions{{Name: "a", Runner: silent{}, Info: info, Threshold: 2}, {Name: "b", Runner: silent{}, Info: info, Threshold: 2}},
		Routes: []RouteOptions{{Name: "r", Algorithm: router.RandomName, Models: []string{"a", "b"}}},
		Policy: Lazy,
	}, time.Now)
	require.NoError(t, err)
	b, g := e.byName["b"], e.groups[0]
	b.want = want{all: 1, waiting: 1, share: 0.5} // one waits, two are its threshold
	woken := func() bool {
		select {
		case <-b.wake:
			return true
		default:
			return false
		}
	}

	e.transit.Add(1)
	g.add(1)
	g.done(1) // quiescent
	require.True(t, woken())
	require.False(t, b.domain.ask(b, time.Now()), "something is in transit")
	e.arrived(1)
	require.True(t, woken())
	require.True(t, b.domain.ask(b, time.Now()))

	e.transit.Add(1) // its step is under way: nobody is to start
	e.arrived(1)
	require.False(t, woken())
}
