package teacher

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestKL(t *testing.T) {
	log := func(p ...float64) []float32 {
		x := make([]float32, len(p))
		for i, v := range p {
			x[i] = float32(math.Log(v)) + 3 // a common shift changes nothing
		}
		return x
	}
	// 0.5*ln(0.5/0.25) + 0.5*ln(0.5/0.75), by hand
	require.InDelta(t, 0.143841, KL(log(0.5, 0.5), log(0.25, 0.75)), 1e-5)
	require.InDelta(t, 0, KL(log(0.2, 0.3, 0.5), log(0.2, 0.3, 0.5)), 1e-7)
}

func TestAnswerSequenceLeavesOutTheLastToken(t *testing.T) {
	a := Answer{PromptIDs: []int32{1, 2}, Steps: []Step{{ID: 3}, {ID: 4}, {ID: 5}}}
	require.Equal(t, []int32{1, 2, 3, 4}, a.Sequence())
}

func TestLoadRefusesWhatCannotBeUsed(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"not JSON":  {"{", "unexpected end"},
		"no prompt": {`{"models":{"m":[{"steps":[{"top_ids":[1,2],"top_logprobs":[0,0]}]}]}}`, "expected a prompt and steps"},
		"no steps":  {`{"models":{"m":[{"prompt_ids":[1]}]}}`, "expected a prompt and steps"},
		"one likely id": {`{"models":{"m":[{"prompt_ids":[1],"steps":[{"top_ids":[1],"top_logprobs":[0]}]}]}}`,
			"expected two or more likely ids"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "golden.json")
			require.NoError(t, os.WriteFile(path, []byte(c.text), 0o600))
			_, err := Load(path)
			require.ErrorContains(t, err, c.want)
		})
	}
}
