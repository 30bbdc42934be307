package app

import (
	"context"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/internal/tinygguf"
	"github.com/tokenrouter/tokenrouter/models"
	"github.com/tokenrouter/tokenrouter/models/grammar"
)

// While others compile, what is known is answered at once, and what is not waits no longer than its client.
func TestGrammarsInTurn(t *testing.T) {
	m, err := models.Open(tinygguf.Temp(t, tinygguf.Options{}))
	require.NoError(t, err)
	g := newGrammars(m)
	known, other := grammar.Source{Text: "a"}.String(), grammar.Source{Text: "b"}.String()
	require.NoError(t, g.Check(t.Context(), known))
	for range max(1, runtime.NumCPU()/4) {
		done, err := grammar.Turn(t.Context())
		require.NoError(t, err)
		defer done()
	}
	left, leave := context.WithCancel(t.Context())
	leave()
	require.NoError(t, g.Check(left, known))
	require.ErrorIs(t, g.Check(left, other), context.Canceled)
	_, err = g.Constraint(other)
	require.NoError(t, err, "the scheduler does not wait")
}
