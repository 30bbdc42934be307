package api

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/server/openai"
)

// H / ln V: a distribution over V ids that are all as likely has H = ln V.
func TestSignals(t *testing.T) {
	nan := float32(math.NaN())
	for _, c := range []struct {
		vocab   int
		entropy float32
		want    openai.Signals
	}{
		{4, 0, openai.Signals{}},
		{4, math.Ln2, openai.Signals{Entropy: math.Ln2, Normalized: 0.5}},
		{4, 2 * math.Ln2, openai.Signals{Entropy: 2 * math.Ln2, Normalized: 1}},
		{1, 0, openai.Signals{}},
		{4, nan, openai.Signals{Entropy: -9999, Normalized: -9999}},
	} {
		got := (&call{target: &Target{Vocab: c.vocab}}).signals(c.entropy, nil)
		require.InDelta(t, c.want.Entropy, got.Entropy, 1e-6)
		require.InDelta(t, c.want.Normalized, got.Normalized, 1e-6)
	}
}
