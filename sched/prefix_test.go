package sched_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tokenrouter/tokenrouter/sched"
)

// A conversation that goes on is prefilled from where it was: prompt and answer of its first turn are in the caches of all
// models that wrote it. The answer is the same as without.
func TestPrefixCache(t *testing.T) {
	t.Parallel()
	for _, off := range []bool{false, true} {
		l := newLab(t, models(), func(o *sched.Options) { o.NoPrefixCache = off })
		first := sched.Request{Target: "half", Prompt: make([]int32, 50), MaxTokens: 80, IgnoreEnd: true}
		for i := range first.Prompt {
			first.Prompt[i] = int32(5 + i)
		}
		a := l.ask(t, first)
		require.Equal(t, l.want(t, first), a.Answer)
		require.Zero(t, a.summary.Cached)

		second := first
		second.Prompt = append(append(append([]int32(nil), first.Prompt...), a.Tokens...), 9, 8, 7, 6, 5)
		before := len(l.journal.batches)
		b := l.ask(t, second)
		require.Equal(t, l.want(t, second), b.Answer)
		l.close(t)

		recalled, prefilled := map[string]int{}, map[string]int{}
		for _, batch := range l.journal.batches[before:] {
			recalled[batch.Model] += batch.Recalled
			prefilled[batch.Model] += batch.Prefill
		}
		if off {
			require.Zero(t, recalled["small"]+recalled["large"])
			require.Zero(t, b.summary.Cached)
			require.Equal(t, len(second.Prompt), prefilled["small"])
			continue
		}
		// 135 tokens. Whole pages, and not beyond what the model took in of the first turn: 50 + 80 tokens at most, of which it
		// may lack the last ones that the other model wrote.
		for model, page := range map[string]int{"small": 8, "large": 16} {
			require.Zero(t, recalled[model]%page)
			require.GreaterOrEqual(t, recalled[model], 96, model)
			require.LessOrEqual(t, recalled[model], 130, model)
		}
		require.Equal(t, len(second.Prompt)-recalled["small"], prefilled["small"])
		require.Equal(t, recalled[[]string{"small", "large"}[b.Infos[0].Model]], b.summary.Cached)
	}
}

// Requests that begin in the same way share pages while they run, also when there are hardly any.
func TestSharedPrefixUnderEviction(t *testing.T) {
	t.Parallel()
	m := models()
	for name, tight := range m {
		tight.Pages = 200 / tight.PageTokens // one longest sequence and a little
		m[name] = tight
	}
	l := newLab(t, m, func(o *sched.Options) { o.PrefillChunk = 16 })
	defer l.close(t)
	var requests []sched.Request
	var streams []*sched.Stream
	for i := range 24 {
		r := sched.Request{Target: []string{"half", "visit", "mix", "cascade"}[i%4], Prompt: make([]int32, 60, 64), MaxTokens: 70}
		r.Prompt = append(r.Prompt, int32(i/4))
		s, err := l.engine.Submit(t.Context(), r)
		require.NoError(t, err)
		requests, streams = append(requests, r), append(streams, s)
	}
	cached := 0
	for i, s := range streams {
		a := read(t, s)
		require.Equal(t, l.want(t, requests[i]), a.Answer)
		require.LessOrEqual(t, a.summary.Cached, len(requests[i].Prompt)-1, "the last token is always read")
		cached += a.summary.Cached
	}
	recalled, evicted := 0, 0 // also of what evicted requests had left themselves, which does not count as cached
	for _, b := range l.journal.batches {
		recalled += b.Recalled
		evicted += b.Evicted
	}
	require.NotZero(t, cached)
	require.Less(t, cached, recalled)
	require.NotZero(t, evicted)
}
