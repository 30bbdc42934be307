package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A directory belongs to one set of models, prompts and settings.
func TestCollectClaim(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, []byte("x"), 0o600))
	c := collectFlags{small: file, large: file, prompts: file, out: filepath.Join(dir, "out")}
	require.NoError(t, c.claim())
	require.NoError(t, c.claim(), "it goes on")
	c.options.Top = 5
	require.ErrorContains(t, c.claim(), "name another directory")
	c.options.Top = 0
	require.NoError(t, os.WriteFile(file, []byte("y"), 0o600))
	require.ErrorContains(t, c.claim(), "name another directory")
}
