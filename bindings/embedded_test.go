package bindings

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestExtract(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "lib")
	content := []byte("some library")
	// SHA-256 of "some library", by sha256sum.
	const digest = "5c2a9d81db823148"

	file, err := extract(content, dir)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(dir, digest, FileName), file)
	got, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, content, got)
	for _, d := range []string{dir, filepath.Dir(file)} {
		info, err := os.Stat(d)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	}
	before, err := os.Stat(file)
	require.NoError(t, err)

	_, err = extract(content, dir)
	require.NoError(t, err)
	again, err := os.Stat(file)
	require.NoError(t, err)
	require.True(t, os.SameFile(before, again), "a good file is used again")

	for name, damaged := range map[string]string{"cut short": "some lib", "changed": "some librarY", "longer": "some library."} {
		require.NoError(t, os.Remove(file))
		require.NoError(t, os.WriteFile(file, []byte(damaged), 0o600))
		_, err = extract(content, dir)
		require.NoError(t, err)
		got, err = os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, content, got, name)
	}
	left, err := os.ReadDir(filepath.Dir(file))
	require.NoError(t, err)
	require.Len(t, left, 1, "no temporary file is left")
}

func TestExtractRefusesDirectoriesOfOthers(t *testing.T) {
	for _, open := range []string{"", "5c2a9d81db823148"} {
		dir := filepath.Join(t.TempDir(), "lib")
		require.NoError(t, os.MkdirAll(filepath.Join(dir, open), 0o700))
		require.NoError(t, os.Chmod(filepath.Join(dir, open), 0o777))
		_, err := extract([]byte("some library"), dir)
		require.ErrorContains(t, err, "may be written by others")
	}
}

func TestExtractConcurrently(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "lib")
	content := make([]byte, 1<<20)
	var group sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		group.Go(func() {
			for range 5 {
				file, err := extract(content, dir)
				if err == nil {
					var got []byte
					got, err = os.ReadFile(file)
					if err == nil && len(got) != len(content) {
						err = os.ErrInvalid
					}
				}
				if err != nil {
					errs[i] = err
					return
				}
			}
		})
	}
	group.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
}

// The library itself, carried as bytes.
func TestOpenCarried(t *testing.T) {
	content, err := os.ReadFile(library(t).Path())
	require.NoError(t, err)

	t.Run("cache", func(t *testing.T) {
		cache := t.TempDir()
		t.Setenv("XDG_CACHE_HOME", cache)
		l, err := openCarried(content)
		require.NoError(t, err)
		require.Equal(t, library(t).Digest(), l.Digest())
		require.Equal(t, filepath.Join(cache, "tokenrouter", "lib", l.Digest()[:16], FileName), l.Path())
		runsOn(t, l)
	})
	t.Run("no cache directory", func(t *testing.T) {
		// A file where the directory should be: unusable for root too.
		cache := filepath.Join(t.TempDir(), "file")
		require.NoError(t, os.WriteFile(cache, nil, 0o600))
		t.Setenv("XDG_CACHE_HOME", cache)
		temporary := t.TempDir()
		t.Setenv("TMPDIR", temporary)
		l, err := openCarried(content)
		require.NoError(t, err)
		runsOn(t, l)
		left, err := os.ReadDir(temporary)
		require.NoError(t, err)
		require.Empty(t, left, "removed once mapped")
	})
	t.Run("nowhere", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "file")
		require.NoError(t, os.WriteFile(file, nil, 0o600))
		t.Setenv("XDG_CACHE_HOME", file)
		t.Setenv("TMPDIR", file)
		_, err := openCarried(content)
		require.ErrorContains(t, err, "embedded copy")
		require.ErrorContains(t, err, "temporary directory")
	})
	t.Run("another ABI version", func(t *testing.T) {
		t.Setenv("XDG_CACHE_HOME", t.TempDir())
		other, err := os.ReadFile(builtLibrary(t, "unsigned tr_abi_version(void) { return 9; }"))
		require.NoError(t, err)
		_, err = openCarried(other)
		require.ErrorIs(t, err, ErrABIVersion)
	})
}

// This test program itself carries a library if `make native` has put one into the source tree.
func TestOpenEmbedded(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	l, err := openEmbedded()
	want, missing := digestOf(filepath.Join("embedded", FileName))
	if missing != nil {
		require.ErrorIs(t, err, errAbsent)
		return
	}
	require.NoError(t, err)
	require.Equal(t, want, l.Digest())
	require.Equal(t, "embedded copy", l.Place())
	runsOn(t, l)
}

// runsOn opens and closes a device.
func runsOn(t *testing.T, l *Library) {
	t.Helper()
	d, err := l.OpenDevice(DeviceOptions{})
	require.NoError(t, err)
	require.NoError(t, d.Close())
}
