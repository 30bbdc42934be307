package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// hub serves one file under every path that ends in its name, and asks for a token where told to.
func hub(t *testing.T, file, token string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !strings.HasSuffix(r.URL.Path, "/m.gguf"):
			http.NotFound(w, r)
		case token != "" && r.Header.Get("Authorization") != "Bearer "+token:
			w.WriteHeader(http.StatusUnauthorized)
		default:
			w.Header().Set("Content-Length", fmt.Sprint(len(text)))
			_, _ = w.Write(text)
		}
	}))
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		s.Close()
	})
	return s.URL
}

func TestPullListServeRemove(t *testing.T) {
	small, large := tiny(t)
	dir := t.TempDir()
	t.Setenv("TOKENROUTER_MODELS", dir)
	t.Setenv("HF_ENDPOINT", hub(t, small, "secret"))

	status, _, aside := shell(t, "", "pull", "hf:a/b/m.gguf")
	require.Equal(t, 1, status)
	require.Contains(t, aside, "set HF_TOKEN to a token of yours")
	t.Setenv("HF_TOKEN", "secret")
	status, out, aside := shell(t, "", "pull", "hf:a/b/m.gguf")
	require.Zero(t, status, aside)
	path := filepath.Join(dir, "m.gguf")
	require.Regexp(t, `^m: [\d.]+ kB, no checksum on record, `+path+`\n$`, out)
	require.Contains(t, aside, "m.gguf: 100% of")
	status, out, _ = shell(t, "", "pull", "hf:a/b/m.gguf", "--json")
	require.Zero(t, status)
	var pulled []struct {
		Name, Path string
		Present    bool
	}
	require.NoError(t, json.Unmarshal([]byte(out), &pulled))
	require.Equal(t, path, pulled[0].Path)
	require.True(t, pulled[0].Present)

	status, out, _ = shell(t, "", "list", "--json")
	require.Zero(t, status)
	var list struct {
		Directory string
		Models    []struct{ Name, Source string }
	}
	require.NoError(t, json.Unmarshal([]byte(out), &list))
	require.Equal(t, dir, list.Directory)
	require.Equal(t, "hf:a/b/m.gguf", list.Models[0].Source)
	status, out, _ = shell(t, "", "list", "--all")
	require.Zero(t, status)
	require.Regexp(t, `(?m)^m +[\d.]+ kB +no checksum on record +`+path+`$`, out)
	require.Regexp(t, `(?m)^qwen3-0.6b-8b +~8.5 GB +general`, out)

	// A pulled model is known by its name.
	status, _, aside = shell(t, "", "run", "--small", "m", "--large", large, "--threads", "2", "--max-tokens", "2", "a")
	require.Zero(t, status, aside)
	status, _, aside = shell(t, "", "run", "--small", "n", "--large", large, "a")
	require.Equal(t, 1, status)
	require.Contains(t, aside, "--small: model n is not on this machine; see: tokenrouter list --all")

	status, out, _ = shell(t, "", "rm", "m")
	require.Zero(t, status)
	require.Contains(t, out, "removed "+path)
	status, out, aside = shell(t, "", "list")
	require.Zero(t, status)
	require.Empty(t, out)
	require.Contains(t, aside, "no models in "+dir)
}

func TestPullMistakes(t *testing.T) {
	small, _ := tiny(t)
	t.Setenv("TOKENROUTER_MODELS", t.TempDir())
	t.Setenv("HF_ENDPOINT", hub(t, small, ""))
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"pull"}, "pull what? Name a model, a pair or a file"},
		{[]string{"pull", "qwen3-8c"}, "did you mean qwen3-8b?"},
		{[]string{"pull", "hf:a/b/other.gguf"}, "check owner, repository and file name"},
		{[]string{"rm"}, "rm what?"},
		{[]string{"rm", "x"}, "model x is not on this machine"},
		{[]string{"rm", "demo-large"}, "rm: demo-large is part of the program, and takes no room of its own"},
		{[]string{"rm", "demo"}, "rm: demo is part of the program, and takes no room of its own"},
		{[]string{"run", "--pair", "qwen3-0.6b-8b", "a"}, "get what is missing of the pair with: tokenrouter pull qwen3-0.6b-8b"},
		{[]string{"run", "--pair", "qwen3-0.6b-9b", "a"}, "did you mean qwen3-0.6b-8b?"},
		{[]string{"run", "--pair", "demo", "--demo", "a"}, "--pair, --demo are given"},
	} {
		status, _, aside := shell(t, "", c.args...)
		require.Equal(t, 1, status, c.args)
		require.Contains(t, aside, c.want, c.args)
	}
	// A directory that cannot be made.
	t.Setenv("TOKENROUTER_MODELS", "/proc/nowhere")
	_, _, aside := shell(t, "", "pull", "hf:a/b/m.gguf")
	require.Contains(t, aside, "another directory is named by TOKENROUTER_MODELS")
}
