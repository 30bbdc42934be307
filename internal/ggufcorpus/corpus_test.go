package ggufcorpus

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		files[filepath.ToSlash(name)] = string(b)
		return err
	}))
	return files
}

// The committed corpus is what this package makes. UPDATE_TESTDATA=1 makes it anew.
func TestCommittedCorpusIsCurrent(t *testing.T) {
	if os.Getenv("UPDATE_TESTDATA") != "" {
		require.NoError(t, os.RemoveAll(Dir))
		require.NoError(t, Write(Dir))
	}
	fresh := t.TempDir()
	require.NoError(t, Write(fresh))
	want, got := filesOf(t, fresh), filesOf(t, Dir)
	for name := range want {
		require.Contains(t, got, name)
		if want[name] != got[name] { // without the bytes in the message
			t.Errorf("%s is not what is made now: run UPDATE_TESTDATA=1 go test ./internal/ggufcorpus", name)
		}
	}
	require.Len(t, got, len(want), "files that nothing makes")
}

func TestIndex(t *testing.T) {
	cases, err := Load(Dir)
	require.NoError(t, err)
	bad, seen := 0, map[string]bool{}
	for i, m := range all() {
		require.Equal(t, m.Path, cases[i].Path)
		require.False(t, seen[m.Path], "%s occurs twice", m.Path)
		seen[m.Path] = true
		require.Contains(t, m.files, m.Path)
		require.Equal(t, m.Verdict == Container, m.Offset >= 0, m.Path)
		if m.Verdict == Good || m.Verdict == Whole {
			require.Empty(t, m.Words, m.Path)
			continue
		}
		require.NotEmpty(t, m.Words, m.Path)
		bad++
		for path, b := range m.files {
			require.Less(t, len(b), 20<<10, "%s is not tiny", path)
		}
	}
	require.Len(t, cases, len(seen))
	require.GreaterOrEqual(t, bad, 60)
}
