// Package custom_test checks that an algorithm in a module of its own builds and runs as its documentation says.
package custom_test

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCustomAlgorithm(t *testing.T) {
	t.Parallel()
	module := filepath.Join("..", "..", "examples", "custom-algorithm")
	cmd := exec.Command("go", "test", "-count=1", "-v", "-run", "^TestOpening$", ".")
	cmd.Dir = module
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.True(t, bytes.Contains(out, []byte("--- PASS: TestOpening")), "%s", out)
}
