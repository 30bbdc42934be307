package sched

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A step ahead of need is as small as it may be to save at least the time that it takes beside its tokens; where it would be
// larger than a chunk of a prompt, none is run.
func TestAheadChunk(t *testing.T) {
	t.Parallel()
	const us = time.Microsecond
	for _, c := range []struct {
		base, request, row time.Duration
		want               int
	}{
		{0, 0, 0, 16},                 // nothing is known
		{5000 * us, 0, 1000 * us, 16}, // 5 would do
		{1500 * us, 500 * us, 20 * us, 100},
		{8000 * us, 0, 20 * us, 0}, // 400
		{8000 * us, 0, 0, 0},
	} {
		e := newTestEngine(t, nil)
		s := e.byName["m"]
		s.mu.Lock()
		if c.base > 0 {
			for _, n := range []int{1, 2, 8} {
				for _, tokens := range []int{1, 8} {
					s.observed.profile = append(s.observed.profile,
						shapeOf(n, n*tokens, c.base+time.Duration(n)*c.request+time.Duration(n*tokens)*c.row))
				}
			}
		}
		require.InDelta(t, c.want, s.aheadChunk(), 1, "%+v", c) // rounding of the fit
		s.mu.Unlock()
		require.NoError(t, e.Close(t.Context()))
	}
}
