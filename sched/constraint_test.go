package sched_test

import (
	"fmt"
	"hash/fnv"
	"math/bits"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tokenrouter/tokenrouter/router"
	"github.com/tokenrouter/tokenrouter/sched"
)

// hashed are grammars for tests: what may come next is a hash of all tokens so far, so that a state which missed one, or had one
// twice, shows. At a quarter of the positions it is a single token.
type hashed struct{}

func (hashed) Constraint(grammar string) (sched.Constraint, error) {
	if !strings.HasPrefix(grammar, "hash ") {
		return nil, fmt.Errorf("%q is no grammar", grammar)
	}
	return hashState{grammar}, nil
}

type hashState struct{ past string }

func (h hashState) bit(what string) uint64 {
	f := fnv.New64a()
	fmt.Fprint(f, h.past, what)
	x := f.Sum64()
	x ^= x >> 29
	return x * 0x9E3779B97F4A7C15 >> 40
}

func (h hashState) Mask() ([]uint32, int32) {
	mask := make([]uint32, 500/32) // the last ids may not come: the mask is shorter than any vocabulary
	if h.bit("one")%4 == 0 {
		id := int32(h.bit("which") % 480)
		mask[id/32] |= 1 << (id % 32)
		return mask, id
	}
	for i := range mask {
		mask[i] = uint32(h.bit(fmt.Sprint("word", i)) & h.bit(fmt.Sprint("and", i)))
	}
	mask[3] |= 6 // two at least
	return mask, -1
}

func (h hashState) Next(id int32) (sched.Constraint, error) {
	mask, _ := h.Mask()
	if id < 0 || int(id/32) >= len(mask) || mask[id/32]>>(id%32)&1 == 0 {
		return nil, fmt.Errorf("%d may not come after %s", id, h.past)
	}
	return hashState{fmt.Sprint(h.past, " ", id)}, nil
}

// A grammar holds across handoffs, evictions and batches: every token is one of the mask that the tokens before it give, and the
// answers are those of the oracle. Tokens that the grammar alone decides are not thrown away.
func TestGrammarsAreExact(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ concurrency, threshold, pages int }{{1, 1, 1}, {16, 4, 1}, {12, 1, 16}} {
		t.Run(fmt.Sprintf("%d clients, B %d, pages by %d", c.concurrency, c.threshold, c.pages), func(t *testing.T) {
			t.Parallel()
			m := models()
			for name, tight := range m {
				tight.Pages /= c.pages
				m[name] = tight
			}
			l := newLab(t, m, func(o *sched.Options) {
				o.PrefillChunk, o.Policy = 16, sched.Lazy
				for i := range o.Models {
					o.Models[i].Threshold = c.threshold
				}
			})
			defer l.close(t)
			_, err := l.run(shape{seed: 21, requests: 100, concurrency: c.concurrency, targets: answering, prompt: 40, tokens: 40, grammars: 1})
			require.NoError(t, err)
		})
	}
}

func TestForcedTokensAreKept(t *testing.T) {
	t.Parallel()
	l := newLab(t, models(), nil)
	defer l.close(t)
	forced, discarded := 0, 0
	for i := range 20 {
		a := l.ask(t, sched.Request{Target: "stitch", Prompt: []int32{5, int32(10 + i)}, MaxTokens: 40, Trace: true, Grammar: "hash 1",
			Params: router.Params{Threshold: ptr(0.0)}})
		var state sched.Constraint = hashState{"hash 1"}
		for j, id := range a.Tokens {
			mask, only := state.Mask()
			require.EqualValues(t, 1, mask[id/32]>>(id%32)&1)
			if only >= 0 {
				require.Equal(t, 1, bits.OnesCount32(mask[only/32]))
				require.Empty(t, a.Infos[j].Discarded)
				forced++
			}
			discarded += len(a.Infos[j].Discarded)
			var err error
			state, err = state.Next(id)
			require.NoError(t, err)
		}
	}
	require.NotZero(t, forced)
	require.NotZero(t, discarded)
}

func TestGrammarsRefused(t *testing.T) {
	t.Parallel()
	l := newLab(t, models(), func(o *sched.Options) { o.Models[2].Grammars = nil })
	defer l.close(t)
	for _, c := range []struct {
		request sched.Request
		message string
	}{
		{sched.Request{Target: "stitch", Grammar: "x"}, `"x" is no grammar`},
		{sched.Request{Target: "stitch", Grammar: "hash", IgnoreEnd: true}, "cannot go on after its end"},
		{sched.Request{Target: "middle", Grammar: "hash 1"}, "need a tokenizer"},
	} {
		c.request.Prompt = []int32{5}
		_, err := l.engine.Submit(t.Context(), c.request)
		require.ErrorIs(t, err, sched.ErrInvalid)
		require.ErrorContains(t, err, c.message)
	}
}
