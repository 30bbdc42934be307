package sched_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tokenrouter/tokenrouter/router"
	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/sched/simrunner"
)

// ask submits a request of a client whose answer takes `tokens` steps of 10 ms.
func (p *pair) ask(client string, tokens int) (*sched.Stream, error) {
	return p.engine.Submit(p.context, sched.Request{Target: "small", Client: client, Prompt: []int32{5}, MaxTokens: tokens})
}

// A burst by one client does not hold up another: that one's request is admitted next, though many came before it.
func TestBurstDoesNotStarveOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, unsureAfter(100), func(o *sched.Options) { o.MaxLive, o.MaxQueue = 2, 100 })
		p.context = t.Context()
		defer p.close(t)
		var burst []*sched.Stream
		for range 40 {
			s, err := p.ask("greedy", 10)
			require.NoError(t, err)
			burst = append(burst, s)
		}
		time.Sleep(5 * ms)
		late, err := p.ask("modest", 10)
		require.NoError(t, err)
		_ = read(t, late)
		// The burst has two places for 100 ms; then one of them is the other client's, for as long.
		require.LessOrEqual(t, time.Since(p.start), 210*ms)
		for _, s := range burst {
			_ = read(t, s)
		}
		require.GreaterOrEqual(t, time.Since(p.start), 2000*ms)
	})
}

// A client that fills the queue is refused; others still get in, a few requests each, until there are twice as many.
func TestFullQueueIsFair(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, unsureAfter(1000), func(o *sched.Options) { o.MaxLive, o.MaxQueue = 2, 30 })
		p.context = t.Context()
		defer p.close(t)
		var all []*sched.Stream
		take := func(client string) error {
			s, err := p.ask(client, 300)
			if err == nil {
				all = append(all, s)
			}
			return err
		}
		for range 32 {
			require.NoError(t, take("greedy"))
		}
		var full *sched.QueueFullError
		require.ErrorAs(t, take("greedy"), &full)
		require.True(t, full.Own, "others are let in")
		require.ErrorAs(t, take(""), &full)
		require.False(t, full.Own, "nobody knows whose the excess is")
		others := 0
		for i := range 40 {
			for range 3 { // two are 1 + 30/16
				if take(fmt.Sprint("modest ", i)) == nil {
					others++
				}
			}
		}
		require.Equal(t, 32, others)

		// Three requests end every 3 s, one of them in the place that is kept: that is when it is worth trying again. Until the first has, nobody knows.
		synctest.Wait()
		require.ErrorAs(t, take("another"), &full)
		require.Equal(t, sched.QueueFullError{Live: 3, Queued: 61, Retry: time.Second}, *full)
		time.Sleep(30 * time.Second)
		require.ErrorAs(t, take("greedy"), &full)
		require.GreaterOrEqual(t, full.Retry, time.Second)
		require.LessOrEqual(t, full.Retry, 3*time.Second)
		for _, s := range all {
			s.Cancel()
			_ = read(t, s)
		}
	})
}

// A client may take all places with a single call of many choices, for as long as their answers take. Others do not wait for
// that: as many as there are places kept begin at once, and further ones take turns at these.
func TestPlacesAreKeptForOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, unsureAfter(2000), func(o *sched.Options) { o.MaxLive, o.MaxQueue = 16, 100 })
		p.context = t.Context()
		defer p.close(t)
		ask := func(client string, tokens int) *sched.Stream {
			s, err := p.ask(client, tokens)
			require.NoError(t, err)
			return s
		}
		var choices []*sched.Stream
		for range 64 {
			choices = append(choices, ask("greedy", 500))
		}
		time.Sleep(5 * ms)
		require.Equal(t, 16, p.engine.Snapshot().Live, "alone, a client has the places that are for all")

		// Two places are kept, an eighth of 16. The first step is under way until 10 ms; each answer takes 10 steps after it. The
		// step that follows an answer may begin before the next client has its place.
		var others []*sched.Stream
		for i := range 4 {
			others = append(others, ask(fmt.Sprint("modest ", i), 10))
		}
		again := ask("modest 0", 10)
		synctest.Wait()
		require.Equal(t, 18, p.engine.Snapshot().Live)
		for i, s := range others {
			_ = read(t, s)
			require.LessOrEqual(t, time.Since(p.start), time.Duration(110+110*(i/2))*ms, "client %d", i)
		}
		// A client has a kept place for what is its only request: when the first one of modest 0 had ended, the second one was.
		_ = read(t, again)
		require.LessOrEqual(t, time.Since(p.start), 330*ms)
		for _, s := range choices {
			s.Cancel()
			_ = read(t, s)
		}
	})
}

// One place is one place: nothing is kept beside it.
func TestOnePlaceIsOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, unsureAfter(100), func(o *sched.Options) { o.MaxLive, o.MaxQueue = 1, 100 })
		p.context = t.Context()
		defer p.close(t)
		first, err := p.ask("a", 10)
		require.NoError(t, err)
		second, err := p.ask("b", 10)
		require.NoError(t, err)
		synctest.Wait()
		require.Equal(t, 1, p.engine.Snapshot().Live)
		_, _ = read(t, first), read(t, second)
		require.Equal(t, 200*ms, time.Since(p.start))
	})
}

// Neither does a KV cache that one client's answers have filled keep others waiting, nor the prompts of one client.
func TestCacheOfOneClient(t *testing.T) {
	t.Parallel()
	prompt := func(n, first int) []int32 {
		ids := make([]int32, n)
		for i := range ids {
			ids[i] = int32(4 + (first+i)%90)
		}
		return ids
	}
	for name, greedy := range map[string]struct{ prompt, tokens int }{
		"answers that fill the cache": {1, 1000}, // 8 of them, after 128 of 1000 steps
		"prompts that fill the cache": {500, 500},
		"prompts that fill steps":     {120, 500},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := newPair(t, unsureAfter(2000), func(o *sched.Options) { o.MaxLive, o.MaxQueue, o.PrefillChunk, o.MaxBatchTokens = 8, 100, 16, 64 })
				p.context = t.Context()
				defer p.close(t)
				ask := func(client string, prompt []int32, tokens int) *sched.Stream {
					s, err := p.engine.Submit(p.context, sched.Request{Target: "small", Client: client, Prompt: prompt, MaxTokens: tokens})
					require.NoError(t, err)
					return s
				}
				var choices []*sched.Stream
				for i := range 8 {
					choices = append(choices, ask("greedy", prompt(greedy.prompt, i), greedy.tokens))
				}
				if greedy.prompt == 1 {
					time.Sleep(2 * time.Second)
				} else {
					time.Sleep(45 * ms)
				}
				start := time.Now()
				s := ask("modest", prompt(64, 50), 500)
				e, err := s.Next(t.Context())
				require.NoError(t, err)
				require.NotEmpty(t, e.Tokens)
				// Its prompt is four chunks, each in the step that begins next: in less than 50 ms with what was left of the
				// step under way, and one more where pages of that step were wanted.
				require.LessOrEqual(t, time.Since(start), 60*ms)
				for _, s := range append(choices, s) {
					s.Cancel()
				}
			})
		})
	}
}

// The thresholds are planned for as many live requests as there can be, which are more than MaxLive when kept places are taken.
func TestThresholdsOfKeptPlaces(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		small := simrunner.Script{Default: router.Row{Token: 20, Entropy: 4}, Rows: map[int]router.Row{}}
		for at := range 2000 {
			if at*at%11 != 4 { // unsure about two tokens of eleven
				small.Rows[at] = router.Row{Token: 21, Entropy: 0}
			}
		}
		p := newPair(t, small, func(o *sched.Options) {
			o.MaxLive, o.MaxQueue = 8, 100
			o.Models[1].Device, o.Models[1].Threshold, o.Models[1].MaxWait = o.Models[0].Device, sched.AutoThreshold, sched.AutoWait
		})
		defer p.close(t)
		var all []*sched.Stream
		ask := func(client string) {
			s, err := p.engine.Submit(t.Context(), sched.Request{Target: "r", Client: client, Prompt: make([]int32, 1+len(all)), MaxTokens: 1900})
			require.NoError(t, err)
			all = append(all, s)
		}
		for range 20 {
			ask("greedy")
		}
		time.Sleep(8 * time.Second) // enough is known to plan
		require.Equal(t, 8, p.engine.Snapshot().Live)
		require.Greater(t, p.engine.Snapshot().Models[1].Planned, 1, "a model whose steps take 40 ms waits for others")
		ask("modest")
		time.Sleep(8 * time.Second)
		require.Equal(t, 9, p.engine.Snapshot().Live)
		require.Greater(t, p.engine.Snapshot().Models[1].Planned, 1)
		for _, s := range all {
			s.Cancel()
			_ = read(t, s)
		}
	})
}
