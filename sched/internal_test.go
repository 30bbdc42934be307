package sched

import (
	"testing"

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
