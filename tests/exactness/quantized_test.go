package exactness

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/models/gguf"
	"github.com/tokenrouter/tokenrouter/models/quantize"
	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/tests/internal/realmodels"
)

// A model and another quantization of it, made by the quantize command's own means, write one answer together.
func TestExactOfOneModelInTwoForms(t *testing.T) {
	const tokens = 32
	original := realmodels.Path(t, realmodels.SmolLM2)
	f, err := gguf.Open(original)
	require.NoError(t, err)
	to, err := quantize.ParseType("Q4_0")
	require.NoError(t, err)
	converter, err := sched.OpenNativeConverter("")
	require.NoError(t, err)
	smaller := filepath.Join(t.TempDir(), "smollm2-q4_0.gguf")
	_, err = quantize.File(t.Context(), smaller, f, to, converter, nil)
	require.NoError(t, err)

	l := newLineup(t, member{"smollm2-q4_0", smaller}, member{realmodels.SmolLM2, original})
	prompts := tokenized(t, l)[:12]
	expected := sequential(t, l, prompts, tokens)
	t.Logf("sequential loop: %s", expected.account())
	require.GreaterOrEqual(t, expected.share(), 0.05, "the second model's share of the tokens")
	require.LessOrEqual(t, expected.share(), 0.95, "the second model's share of the tokens")
	site := serve(t, l, 4, 16)
	for _, concurrency := range []int{1, 8} {
		c := cell{batching: 4, chunk: 16, concurrency: concurrency, sampled: concurrency > 1}
		t.Run(c.String(), func(t *testing.T) {
			site.journal.reset()
			asked := upto(len(prompts))
			if concurrency == 1 {
				asked = asked[:4]
			}
			compare(t, site, c, prompts, asked, tokens, expected)
			seen := site.journal.take()
			require.Empty(t, seen.faults)
			require.NotZero(t, seen.handoffs["smollm2-q4_0>"+realmodels.SmolLM2])
			require.NotZero(t, seen.handoffs[realmodels.SmolLM2+">smollm2-q4_0"])
			require.NotZero(t, seen.resumed)
		})
	}
	site.close(t)
}
