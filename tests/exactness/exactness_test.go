// Package exactness compares what the server answers over HTTP, on the real pair of models, with a plain sequential loop,
// token by token and author by author: R-Stitch, greedy and sampled, at several concurrencies, batching thresholds and
// prefill chunks.
package exactness

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/tests/internal/realmodels"
)

const (
	newTokens = 64
	// threshold gives the large model a share that is neither small nor all; TestExact asserts it.
	threshold = 0.15
)

// cell is one combination of what must not matter.
type cell struct {
	batching    int // B: requests that a model waits for
	chunk       int // most prompt tokens of one request in a step
	concurrency int
	sampled     bool
	full        bool // all prompts, all tokens; otherwise some of both
}

func (c cell) String() string {
	kind := "greedy"
	if c.sampled {
		kind = "sampled"
	}
	return fmt.Sprintf("B=%d chunk=%d clients=%d %s", c.batching, c.chunk, c.concurrency, kind)
}

// inFull are the cells that every run does in full length; they hold every value of every factor, and every pair of values
// at 4 and 16 clients. TOKENROUTER_EXACTNESS=full does all cells so.
var inFull = []cell{
	{batching: 1, chunk: 16, concurrency: 16, sampled: true},
	{batching: 4, chunk: 512, concurrency: 16, sampled: false},
	{batching: 4, chunk: 16, concurrency: 4, sampled: false},
	{batching: 1, chunk: 512, concurrency: 4, sampled: true},
	{batching: 1, chunk: 16, concurrency: 1, sampled: false},
}

// cells are all combinations, those of one server (batching and chunk) together.
func cells() []cell {
	all := os.Getenv("TOKENROUTER_EXACTNESS") == "full"
	var out []cell
	for _, batching := range []int{1, 4} {
		for _, chunk := range []int{16, 512} {
			for _, concurrency := range []int{1, 4, 16} {
				for _, sampled := range []bool{false, true} {
					c := cell{batching: batching, chunk: chunk, concurrency: concurrency, sampled: sampled}
					for _, f := range inFull {
						c.full = c.full || c == f
					}
					c.full = c.full || all
					out = append(out, c)
				}
			}
		}
	}
	return out
}

// questions are the prompts that a cell asks, and how many tokens of each it wants. A shorter answer is the beginning of the
// longer one. Cells that are not full take turns, so that together they ask everything.
func (c cell) questions(index, prompts int) (ids []int, tokens int) {
	if c.full {
		return upto(prompts), newTokens
	}
	for i := index % 4; i < prompts; i += 4 {
		ids = append(ids, i)
	}
	return ids, newTokens / 4
}

func TestExact(t *testing.T) {
	pair := real(t, realmodels.Small, realmodels.Large)
	prompts := tokenized(t, pair)
	require.Len(t, prompts, 40)

	start := time.Now()
	expected := sequential(t, pair, prompts, newTokens)
	t.Logf("sequential loop: %s in %s", expected.account(), time.Since(start).Round(time.Second))
	share := expected.share()
	require.GreaterOrEqual(t, share, 0.05, "the large model's share of the tokens")
	require.LessOrEqual(t, share, 0.50, "the large model's share of the tokens")

	var whole journal
	todo := cells()
	for len(todo) > 0 {
		first := todo[0]
		site := serve(t, pair, first.batching, first.chunk)
		for len(todo) > 0 && todo[0].batching == first.batching && todo[0].chunk == first.chunk {
			c := todo[0]
			todo = todo[1:]
			t.Run(c.String(), func(t *testing.T) {
				ids, tokens := c.questions(len(todo), len(prompts))
				start := time.Now()
				site.journal.reset()
				compare(t, site, c, prompts, ids, tokens, expected)
				seen := site.journal.take()
				t.Logf("%d answers of up to %d tokens in %s; %s", len(ids), tokens, time.Since(start).Round(time.Second/10), seen.account())
				if c.full {
					seen.expectVariety(t, c)
				}
				whole.add(seen)
			})
		}
		site.close(t)
	}
	whole.expectEverything(t)
}

// Models of other families alone: the same at every concurrency, chunk and threshold.
func TestExactAlone(t *testing.T) {
	const tokens = 32
	for _, name := range []string{realmodels.SmolLM2, realmodels.Gemma3} {
		t.Run(name, func(t *testing.T) {
			l := real(t, name)
			prompts := tokenized(t, l)[:12]
			expected := sequential(t, l, prompts, tokens)
			t.Logf("sequential loop: %s", expected.account())
			for _, s := range []struct{ batching, chunk int }{{1, 16}, {4, 512}} {
				site := serve(t, l, s.batching, s.chunk)
				for _, concurrency := range []int{1, 4, 16} {
					for _, sampled := range []bool{false, true} {
						c := cell{batching: s.batching, chunk: s.chunk, concurrency: concurrency, sampled: sampled}
						t.Run(c.String(), func(t *testing.T) {
							site.journal.reset()
							asked := upto(len(prompts))
							if concurrency == 1 {
								asked = asked[:4]
							}
							compare(t, site, c, prompts, asked, tokens, expected)
							seen := site.journal.take()
							require.Empty(t, seen.faults)
							if concurrency > 1 {
								require.Greater(t, len(seen.sizes), 1, "sizes of batches: %v", seen.sizes)
							}
						})
					}
				}
				site.close(t)
			}
		})
	}
}

func upto(n int) (ids []int) {
	for i := range n {
		ids = append(ids, i)
	}
	return ids
}
