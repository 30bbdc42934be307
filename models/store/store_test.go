package store

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/tokenrouter/tokenrouter/internal/tinygguf"
	"github.com/tokenrouter/tokenrouter/models/fetch"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// hub serves files under any path.
func hub(t *testing.T, files map[string][]byte) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, ok := files[filepath.Base(r.URL.Path)]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Length", fmt.Sprint(len(text)))
		_, _ = w.Write(text)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func options(t *testing.T) Options {
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return Options{Fetcher: fetch.Fetcher{Transport: transport, Attempts: 1}}
}

func tiny(t *testing.T) []byte {
	t.Helper()
	text, err := os.ReadFile(tinygguf.Temp(t, tinygguf.Options{Seed: 1, Layers: 1}))
	require.NoError(t, err)
	return text
}

func pull(t *testing.T, s *Store, arg, endpoint string) ([]Pulled, error) {
	t.Helper()
	sources, err := Resolve(arg, env("HF_ENDPOINT", endpoint))
	require.NoError(t, err)
	return s.Pull(t.Context(), sources, options(t))
}

func TestPullListFindRemove(t *testing.T) {
	s := &Store{filepath.Join(t.TempDir(), "not", "there", "yet")}
	list, err := s.List()
	require.NoError(t, err)
	require.Empty(t, list)
	text := tiny(t)
	url := hub(t, map[string][]byte{"m.gguf": text})

	got, err := pull(t, s, "hf:a/b/m.gguf", url)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(s.Dir, "m.gguf"), got[0].Path)
	again, err := pull(t, s, "hf:a/b/m.gguf", url)
	require.NoError(t, err)
	require.True(t, again[0].Result.Present)

	list, err = s.List()
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Equal(t, "m", list[0].Name)
	require.Equal(t, "hf:a/b/m.gguf", list[0].Source)
	require.Equal(t, got[0].Result.SHA256, list[0].SHA256)
	require.EqualValues(t, len(text), list[0].Bytes)
	require.Equal(t, 1, list[0].Parts)
	for _, name := range []string{"m", "m.gguf"} {
		m, err := s.Find(name)
		require.NoError(t, err)
		require.Equal(t, got[0].Path, m.Path)
	}

	// Another file of that name is not mixed up with it.
	_, err = pull(t, s, "hf:a/other/m.gguf", url)
	require.ErrorContains(t, err, "is there already, but from hf:a/b/m.gguf")

	_, err = s.Remove("n")
	require.ErrorIs(t, err, ErrAbsent)
	removed, err := s.Remove("m")
	require.NoError(t, err)
	require.Len(t, removed, 1)
	left, err := os.ReadDir(s.Dir)
	require.NoError(t, err)
	require.Empty(t, left)
	_, err = s.Find("m")
	require.ErrorIs(t, err, ErrAbsent)
}

// A file that is no whole GGUF file does not get its name.
func TestPullCutFile(t *testing.T) {
	s := &Store{t.TempDir()}
	text := tiny(t)
	_, err := pull(t, s, "hf:a/b/m.gguf", hub(t, map[string][]byte{"m.gguf": text[:len(text)-100]}))
	require.ErrorContains(t, err, "pull m")
	require.ErrorContains(t, err, "what came is not what it should be")
	list, err := s.List()
	require.NoError(t, err)
	require.Empty(t, list)
}

func TestPullParts(t *testing.T) {
	s := &Store{t.TempDir()}
	files := map[string][]byte{}
	for i := 1; i <= 2; i++ {
		name := fmt.Sprintf("m-%05d-of-00002.gguf", i)
		text, err := os.ReadFile(filepath.Join("../../tests/testdata/gguf/good-first-part-without-tensors", name))
		require.NoError(t, err)
		files[name] = text
	}
	got, err := pull(t, s, "hf:a/b/m-00001-of-00002.gguf", hub(t, files))
	require.NoError(t, err)
	require.Len(t, got, 2)
	m, err := s.Find("m")
	require.NoError(t, err)
	require.Equal(t, 2, m.Parts)
	require.Equal(t, filepath.Join(s.Dir, "m-00001-of-00002.gguf"), m.Path)

	require.NoError(t, os.Remove(got[1].Path))
	_, err = s.Find("m")
	require.ErrorIs(t, err, ErrAbsent)
	require.ErrorContains(t, err, "m-00002-of-00002.gguf is missing")
	_, err = s.Remove("m")
	require.NoError(t, err)

	// The second part is not on the host: what has come of the first stays.
	delete(files, "m-00002-of-00002.gguf")
	_, err = pull(t, s, "hf:a/b/m-00001-of-00002.gguf", hub(t, files))
	require.ErrorIs(t, err, fetch.ErrNotFound)

	// Parts of different models.
	s = &Store{t.TempDir()}
	files["m-00002-of-00002.gguf"] = tiny(t)
	_, err = pull(t, s, "hf:a/b/m-00001-of-00002.gguf", hub(t, files))
	require.ErrorContains(t, err, "do not make a model")
}

// Both files of a pair must fit before the first is begun.
func TestPairNeedsRoom(t *testing.T) {
	s := &Store{t.TempDir()}
	sources, err := Resolve("qwen2.5-coder-0.5b-1.5b", env("HF_ENDPOINT", hub(t, nil)))
	require.NoError(t, err)
	o := options(t)
	o.Fetcher.Free = func(string) (uint64, error) { return 1_200_000_000, nil }
	_, err = s.Pull(t.Context(), sources, o)
	require.ErrorIs(t, err, fetch.ErrSpace)
	require.ErrorContains(t, err, "1.6 GB more are needed")
	// What is there need not come again.
	require.NoError(t, os.WriteFile(filepath.Join(s.Dir, sources[1].File), nil, 0o600))
	require.NoError(t, os.Truncate(filepath.Join(s.Dir, sources[1].File), sources[1].Bytes))
	_, err = s.Pull(t.Context(), sources, o)
	require.ErrorIs(t, err, fetch.ErrNotFound)
}

// A file of the catalogue's name that is not the catalogue's file.
func TestWrongFileUnderACatalogueName(t *testing.T) {
	s := &Store{t.TempDir()}
	require.NoError(t, os.WriteFile(filepath.Join(s.Dir, "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf"), []byte("x"), 0o600))
	_, err := pull(t, s, "qwen2.5-coder-0.5b", "http://127.0.0.1:1")
	require.ErrorContains(t, err, "has 1 bytes, expected 491400064")
	m, err := s.Find("qwen2.5-coder-0.5b")
	require.NoError(t, err)
	require.Equal(t, "qwen2.5-coder-0.5b", m.Name)
}

func TestPartialDownloads(t *testing.T) {
	s := &Store{t.TempDir()}
	require.NoError(t, os.WriteFile(filepath.Join(s.Dir, "m.gguf.part"), []byte("GGUF"), 0o600))
	list, err := s.List()
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.True(t, list[0].Partial)
	_, err = s.Find("m")
	require.ErrorIs(t, err, ErrAbsent)
	_, err = s.Remove("m")
	require.NoError(t, err)
	list, err = s.List()
	require.NoError(t, err)
	require.Empty(t, list)
}

func TestAbsent(t *testing.T) {
	s := &Store{t.TempDir()}
	_, err := s.Find("qwen3-8b")
	require.ErrorContains(t, err, "get it (5.1 GB) with: tokenrouter pull qwen3-8b")
	_, err = s.Find("qwen3-8c")
	require.ErrorContains(t, err, "did you mean qwen3-8b?")
}

func TestDefault(t *testing.T) {
	t.Setenv("TOKENROUTER_MODELS", "/a/b")
	s, err := Default()
	require.NoError(t, err)
	require.Equal(t, "/a/b", s.Dir)
	t.Setenv("TOKENROUTER_MODELS", "")
	t.Setenv("XDG_CACHE_HOME", "/c")
	s, err = Default()
	require.NoError(t, err)
	require.Equal(t, "/c/tokenrouter/models", s.Dir)
}
