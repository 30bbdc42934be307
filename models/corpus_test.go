package models

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/internal/ggufcorpus"
)

// Files that are read but make no model. The native library refuses the same ones, see native/tests/model_corpus_test.cpp.
func TestCorpus(t *testing.T) {
	const dir = "../tests/testdata/gguf"
	cases, err := ggufcorpus.Load(dir)
	require.NoError(t, err)
	found := 0
	for _, c := range cases {
		if c.Verdict != ggufcorpus.Model && c.Verdict != ggufcorpus.Whole {
			continue
		}
		found++
		t.Run(c.Name(), func(t *testing.T) {
			_, err := Open(filepath.Join(dir, c.Path))
			if c.Verdict == ggufcorpus.Whole {
				require.NoError(t, err)
				return
			}
			require.Error(t, err)
			for _, word := range c.Words {
				require.ErrorContains(t, err, word)
			}
		})
	}
	require.Greater(t, found, 30)
}
