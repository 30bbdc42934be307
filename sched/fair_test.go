package sched_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tokenrouter/tokenrouter/sched"
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

		// Two requests end every 3 s: that is when it is worth trying again. Until the first has, nobody knows.
		synctest.Wait()
		require.ErrorAs(t, take("another"), &full)
		require.Equal(t, sched.QueueFullError{Live: 2, Queued: 62, Retry: time.Second}, *full)
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
