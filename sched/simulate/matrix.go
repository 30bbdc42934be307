package simulate

import (
	"fmt"
	"sync/atomic"

	"github.com/tokenrouter/tokenrouter/router"
)

// matrix is a routing algorithm that is nothing but probabilities. They may change while it runs.
type matrix struct {
	name    string
	moves   [][]float64
	commits [][]float64
}

var _ router.Algorithm = (*matrix)(nil)

var matrices atomic.Int64

// newMatrix registers an algorithm for one simulation.
func newMatrix(moves, commits [][]float64) *matrix {
	m := &matrix{name: fmt.Sprintf("simulated-%d", matrices.Add(1)), moves: moves, commits: commits}
	router.Register(m)
	return m
}

// Name implements router.Algorithm.
func (m *matrix) Name() string { return m.name }

// Check implements router.Algorithm.
func (m *matrix) Check(models int, _ router.Params) error {
	if models != len(m.moves) {
		return fmt.Errorf("algorithm %q routes between %d models, not %d", m.name, len(m.moves), models)
	}
	return nil
}

// Role implements router.Algorithm.
func (m *matrix) Role(model, _ int, _ router.Params) router.Role {
	keep := false
	for j, tokens := range m.commits[model] {
		keep = keep || j != model && tokens > 0
	}
	return router.Role{Keep: keep, Route: func(v router.View) router.Destination {
		u := router.Uniform(v)
		for j, p := range m.moves[model] {
			if u -= p; u < 0 {
				return router.PeerOf(model, j)
			}
		}
		return router.Stay
	}}
}
