package sched_test

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tokenrouter/tokenrouter/router"
	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/sched/simrunner"
)

// byToken is a scripted model whose steps take a time for themselves and one for each token. Steps without rows may take
// longer, by a factor.
type byToken struct {
	simrunner.Script
	base, token time.Duration
	rowless     int // 0: 1
}

func (r byToken) Step(b *sched.Batch) error {
	took := r.base
	for i := range b.Segments {
		took += time.Duration(len(b.Segments[i].Tokens)) * r.token
	}
	if len(b.Rows) == 0 {
		took *= time.Duration(max(1, r.rowless))
	}
	time.Sleep(took)
	return r.Script.Step(b)
}

// aheads records steps ahead of need.
type aheads struct {
	mu      sync.Mutex
	records []sched.AheadRecord
}

func (a *aheads) observer() *sched.Observer {
	return &sched.Observer{Ahead: func(r sched.AheadRecord) {
		a.mu.Lock()
		defer a.mu.Unlock()
		r.Requests, r.Lengths = slices.Clone(r.Requests), slices.Clone(r.Lengths)
		a.records = append(a.records, r)
	}}
}

func (a *aheads) tokens() (n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, r := range a.records {
		n += r.Tokens
	}
	return n
}

// newIdlePair is a pair on devices of their own: steps of 10 ms and 1 ms per token for the small model, of 5 ms and 1 ms for the
// large one, so that a step ahead of need takes the least number of tokens, 16, in 21 ms.
func newIdlePair(t *testing.T, small simrunner.Script, adjust func(*sched.Options)) (*pair, *aheads) {
	t.Helper()
	seen := &aheads{}
	return newPair(t, small, func(o *sched.Options) {
		o.Policy = sched.Eager
		o.Models[0].Runner = byToken{Script: small, base: 10 * ms, token: ms}
		o.Models[1].Runner = byToken{Script: simrunner.Script{Default: router.Row{Token: 30}}, base: 5 * ms, token: ms}
		o.Observer = sched.Observers(o.Observer, seen.observer())
		if adjust != nil {
			adjust(o)
		}
	}), seen
}

// sureBut is a small model that is unsure after sequences of these lengths only.
func sureBut(lengths ...int) simrunner.Script {
	s := simrunner.Script{Default: router.Row{Token: 21}, Rows: map[int]router.Row{}}
	for _, n := range lengths {
		s.Rows[n] = router.Row{Token: 20, Entropy: 4}
	}
	return s
}

func (p *pair) prompt(t *testing.T, id, target string, prompt, tokens int) *sched.Stream {
	t.Helper()
	ids := make([]int32, prompt)
	for i := range ids {
		ids[i] = int32(5 + (i+len(id))%90)
	}
	s, err := p.engine.Submit(t.Context(), sched.Request{ID: id, Target: target, Prompt: ids, MaxTokens: tokens})
	require.NoError(t, err)
	return s
}

// The large model takes in the prompt while the small one does, and later what that one writes: when the request comes only the
// rest is left.
func TestAheadLeavesTheSuffix(t *testing.T) {
	t.Parallel()
	const prompt = 200
	for _, c := range []struct {
		written int  // by the small model, before it is unsure
		off     bool // NoAhead
		ahead   int  // tokens
		first   int  // tokens of the large model's first extend that is asked for
		ends    time.Duration
	}{
		// The small model reads the prompt in 210 ms, writes a token every 11 ms, and throws the seventh away at 276. Of the 199
		// tokens that may be extended ahead, 12 steps of 21 ms take 192 until 252; the rest is 8 of the prompt and the 6 new ones.
		{6, false, 192, 14, 276*ms + 19*ms},
		{6, true, 0, 206, 276*ms + 211*ms},
		// The 16th new token is told of at 375, so 208 are there at 396; the rest is 12.
		{20, false, 208, 12, 430*ms + 17*ms},
		{20, true, 0, 220, 430*ms + 225*ms},
	} {
		synctest.Test(t, func(t *testing.T) {
			p, seen := newIdlePair(t, sureBut(prompt+c.written), func(o *sched.Options) { o.NoAhead = c.off })
			a := read(t, p.prompt(t, "a", "r", prompt, c.written+1))
			p.close(t)
			require.Len(t, a.Tokens, c.written+1)
			require.Equal(t, c.ahead, seen.tokens())
			i := slices.IndexFunc(p.journal.batches, func(b sched.BatchRecord) bool { return b.Model == "large" })
			b := p.journal.batches[i]
			require.Equal(t, c.first, b.Prefill+b.Resume)
			require.Equal(t, c.ahead, b.Ahead)
			require.Equal(t, c.ends, b.End.Sub(p.start))
		})
	}
}

// Only a model that takes turns with nobody extends ahead of need.
func TestAheadNeedsADeviceThatIsFree(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		adjust func(*sched.Options)
		ahead  bool
	}{
		"own devices":      {func(o *sched.Options) {}, true},
		"switched off":     {func(o *sched.Options) { o.NoAhead = true }, false},
		"exclusive device": {func(o *sched.Options) { o.Models[0].Device, o.Models[1].Device = "gpu", "gpu" }, false},
		"concurrent device": {func(o *sched.Options) {
			o.Models[0].Device, o.Models[1].Device = "gpu", "gpu"
			o.Devices = []sched.DeviceOptions{{Name: "gpu", Concurrent: true}}
		}, true},
		"exclusive with an unrelated model": {func(o *sched.Options) {
			third := o.Models[1]
			third.Name, third.Runner = "third", byToken{Script: simrunner.Script{Default: router.Row{Token: 30}}, base: ms}
			o.Models = append(o.Models, third)
		}, false},
		"step-sync":  {func(o *sched.Options) { o.Policy = sched.StepSync }, false},
		"model-sync": {func(o *sched.Options) { o.Policy = sched.ModelSync }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p, seen := newIdlePair(t, sureBut(204), c.adjust)
				require.Len(t, read(t, p.prompt(t, "a", "r", 200, 8)).Tokens, 8)
				p.close(t)
				require.Equal(t, c.ahead, seen.tokens() > 0)
			})
		})
	}
}

// Whoever comes waits for one step ahead of need at most, of 16 tokens, and while somebody is there none is begun.
func TestAheadIsPreempted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, seen := newIdlePair(t, sureBut(), nil)
		long := p.prompt(t, "a", "r", 800, 5)
		time.Sleep(100 * ms)
		came := time.Now()
		_ = read(t, p.prompt(t, "b", "large", 20, 5))
		left := time.Now()
		_ = read(t, long)
		p.close(t)
		var steps []sched.BatchRecord
		for _, b := range p.journal.batches {
			if b.Model == "large" {
				steps = append(steps, b)
			}
		}
		require.Len(t, steps, 5)
		// Steps of 21 ms end at 105.
		require.Equal(t, 5*ms, steps[0].Start.Sub(came))
		for i, b := range steps[1:] {
			require.Equal(t, steps[i].End, b.Start)
		}
		before, after := 0, 0
		for _, r := range seen.records {
			require.LessOrEqual(t, r.Tokens, 16)
			before += b2i(r.Start.Before(came))
			after += b2i(!r.Start.Before(left))
			require.False(t, r.Start.After(came) && r.Start.Before(left), "begun while a request was there")
		}
		require.Equal(t, 5, before)
		require.NotZero(t, after)
	})
}

// Pages that requests are about to need are not spare: those of one that is away count with what it is known to have.
func TestAheadTakesSparePagesOnly(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pages int
		ahead bool
	}{
		// The first request has 150 tokens at the large model, 19 pages of 8, and may need 2 more. The second has a prompt of
		// 100 tokens, 13 pages.
		{19 + 2 + 12, false}, {19 + 2 + 20, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			p, seen := newIdlePair(t, sureBut(150), func(o *sched.Options) { o.Models[1].Info.Pages = c.pages })
			first := p.prompt(t, "a", "r", 150, 80) // its first token is the large model's
			time.Sleep(400 * ms)
			second := p.prompt(t, "b", "r", 100, 10)
			_, _ = read(t, first), read(t, second)
			p.close(t)
			got := slices.ContainsFunc(seen.records, func(r sched.AheadRecord) bool { return slices.Contains(r.Requests, "b") })
			require.Equal(t, c.ahead, got)
			for _, b := range p.journal.batches {
				require.Zero(t, b.Evicted)
			}
		})
	}
}

// Pages filled ahead of need go first when somebody needs pages, be it a younger request, and nobody is evicted for them. The
// answer is the same.
func TestAheadGivesWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		// 400 tokens of 50 pages, of which the prompt takes 26.
		p, seen := newIdlePair(t, sureBut(230), func(o *sched.Options) { o.Models[1].Info.Pages = 50 })
		a := p.prompt(t, "a", "r", 200, 31)
		time.Sleep(300 * ms) // 192 tokens are extended ahead: 24 pages
		b := p.prompt(t, "b", "large", 240, 3)
		require.Len(t, read(t, b).Tokens, 3)
		require.Len(t, read(t, a).Tokens, 31)
		p.close(t)
		require.GreaterOrEqual(t, seen.tokens(), 192)
		for _, r := range p.journal.batches {
			require.Zero(t, r.Evicted)
		}
	})
}

// Latencies are learnt from steps that are asked for, not from those ahead of need, which here take ten times as long.
func TestAheadTeachesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var unsure []int
		for n := 203; n < 500; n += 1 + n%23 {
			unsure = append(unsure, n)
		}
		p, seen := newIdlePair(t, sureBut(unsure...), func(o *sched.Options) {
			large := o.Models[1].Runner.(byToken)
			large.rowless = 10
			o.Models[1].Runner = large
		})
		_ = read(t, p.prompt(t, "a", "r", 200, 290))
		m := p.engine.Snapshot().Models[1]
		p.close(t)
		require.NotZero(t, seen.tokens())
		require.True(t, m.Latency.Known)
		require.InDelta(t, 0.013, m.Latency.Base+m.Latency.PerRequest+8*m.Latency.PerRow, 0.002)
	})
}
