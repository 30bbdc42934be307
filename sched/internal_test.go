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
