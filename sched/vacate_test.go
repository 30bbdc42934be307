package sched_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tokenrouter/tokenrouter/sched"
)

// A model's cache is forgotten once nothing may come to the model any more, and not before; others are not touched.
func TestVacate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, unsureAfter(0), func(o *sched.Options) { o.MaxLive, o.MaxQueue = 1, 10 })
		p.context = t.Context()
		defer p.close(t)
		require.ErrorIs(t, p.engine.Vacate("none"), sched.ErrUnknownTarget)
		prompt := make([]int32, 40)
		for i := range prompt {
			prompt[i] = int32(4 + i)
		}
		ask := func(target string) *sched.Stream {
			s, err := p.engine.Submit(p.context, sched.Request{Target: target, Prompt: prompt, MaxTokens: 2})
			require.NoError(t, err)
			return s
		}
		cached := func() (pages [2]int) {
			for i, m := range p.engine.Snapshot().Models {
				require.Equal(t, m.Pages, m.FreePages)
				pages[i] = m.Cached
			}
			return pages
		}
		routed, alone := ask("r"), ask("small") // one is live, the other queued
		time.Sleep(5 * ms)
		for _, model := range []string{"small", "large"} {
			var busy *sched.BusyError
			require.ErrorAs(t, p.engine.Vacate(model), &busy)
			require.Equal(t, map[string]int{"small": 2, "large": 1}[model], busy.Requests)
		}
		_ = read(t, routed)
		require.ErrorContains(t, p.engine.Vacate("small"), `a request that may come to "small" is being answered or waits`)
		_ = read(t, alone)
		synctest.Wait()
		require.Equal(t, [2]int{5, 5}, cached(), "40 tokens are five full pages")

		require.NoError(t, p.engine.Vacate("large"))
		require.Equal(t, [2]int{5, 0}, cached())
		_ = read(t, ask("r"))
		synctest.Wait()
		require.Equal(t, [2]int{5, 5}, cached())
		require.NoError(t, p.engine.Vacate("small"))
		require.Equal(t, [2]int{0, 5}, cached())
	})
}
