package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/models/catalogue"
	"github.com/tokenrouter/tokenrouter/server/machine"
)

func TestDoctor(t *testing.T) {
	small, large := tiny(t)
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("XDG_CONFIG_HOME", dir)
	t.Setenv("TOKENROUTER_MODELS", dir)
	status, out, aside := shell(t, "", "doctor")
	require.Zero(t, status, aside)
	for _, want := range []string{`(?m)^ok +library +tokenrouter .*ABI`, `(?m)^\w+ +bandwidth +[\d.]+ GB/s`, `(?m)^ok +configuration +none`, `(?m)^demo +yes`, `(?m)^r1-distill-1.5b-32b +(yes|no) +takes about 24.6 GB`} {
		require.Regexp(t, want, out)
	}

	file := filepath.Join(dir, "tokenrouter.yaml")
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, "models: [{name: s, path: %s}, {name: l, path: %s}]\nroutes: [{name: r, algorithm: r-stitch, models: [s, l]}]\n", small, large), 0o600))
	status, out, aside = shell(t, "", "doctor", "--json")
	require.Zero(t, status, aside)
	var d diagnosis
	require.NoError(t, json.Unmarshal([]byte(out), &d))
	require.NotEmpty(t, d.ISA)
	require.Positive(t, d.Bandwidth)
	require.Len(t, d.Pairs, len(catalogue.Pairs()))
	last := d.Checks[len(d.Checks)-1]
	require.Equal(t, "configuration", last.Name)
	require.Contains(t, last.Found, "2 models, 1 route; takes about 1.6 GB") // the default of kv_memory and what the program takes

	require.NoError(t, os.WriteFile(file, []byte("models: [{name: s, path: none.gguf}]"), 0o600))
	status, out, aside = shell(t, "", "doctor")
	require.Equal(t, 1, status)
	require.Contains(t, aside, "there are problems")
	require.Regexp(t, `(?m)^PROBLEM +configuration +.*models\[0\].path`, out)
	// What serve reads beside models.
	for _, missing := range []string{"api_key_file: keys.txt", "tls: {cert: c.pem, key: k.pem}"} {
		require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, "models: [{name: s, path: %s}]\nserver: {%s}\n", small, missing), 0o600))
		status, out, _ = shell(t, "", "doctor")
		require.Equal(t, 1, status)
		require.Regexp(t, `(?m)^PROBLEM +configuration +.*server\.(api_key_file|tls): .*no such file`, out)
	}
	status, out, _ = shell(t, "", "doctor", "--library", "/none.so", "-c", file)
	require.Equal(t, 1, status)
	require.Contains(t, out, "/none.so")
	require.Regexp(t, `(?m)^qwen3-0.6b-8b +no +the native library does not load`, out)
}

// Machines of several kinds.
func TestFits(t *testing.T) {
	pair := catalogue.FindPair("qwen3-0.6b-32b")
	of := func(d diagnosis) fit {
		d.ISA = "avx2"
		d.pairs(nil)
		for _, f := range d.Pairs {
			if f.Pair == pair.Name {
				return f
			}
		}
		return fit{}
	}
	require.True(t, of(diagnosis{Memory: machine.Memory{Total: 64e9, Available: 60e9}}).Fits)
	f := of(diagnosis{Memory: machine.Memory{Total: 64e9, Available: 20e9}, Bandwidth: 41e9})
	require.False(t, f.Fits)
	require.Equal(t, "takes about 24.9 GB, 20.0 GB available", f.Why)
	require.InDelta(t, 2.0, f.AtMost, 0.05) // 41 GB/s over 20.6 GB
	require.Equal(t, "takes about 24.9 GB, this machine has 16.0 GB", of(diagnosis{Memory: machine.Memory{Total: 16e9, Available: 15e9}}).Why)
	require.Equal(t, "takes about 24.9 GB, this machine has 8.0 GB", of(diagnosis{Memory: machine.Memory{Total: 64e9, Available: 7e9, Limit: 8e9}}).Why)
}

func TestPs(t *testing.T) {
	answer, status := "", 200
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if status == 200 && r.Header.Get("Authorization") != "Bearer k" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(answer))
	}))
	defer s.Close()
	t.Setenv("TOKENROUTER_URL", s.URL)
	code, _, aside := shell(t, "", "ps")
	require.Equal(t, 1, code)
	require.Contains(t, aside, "wants an API key")
	t.Setenv("TOKENROUTER_API_KEY", "k")
	answer = `{"policy":"lazy","live":3,"queue":1,"resident":2000000000,"data":[{"id":"r","algorithm":"r-stitch","models":["s","l"],"default_threshold":0.03,"context_length":4096}],
		"models":[{"id":"s","waiting":1,"running":2,"pending":3,"kv":{"capacity":64,"usage":0.5},"tokens":9,"memory":{"weights":1000000,"kv":500000}},{"id":"l","kv":{"capacity":64}}]}`
	code, out, aside := shell(t, "", "ps")
	require.Zero(t, code, aside)
	for _, want := range []string{"3 requests being answered, 1 in the queue, batching lazy, 2.0 GB resident", `(?m)^s +1.0 MB +500.0 kB, 64 tokens +50% +1 +2 +3 +9 tokens$`, `(?m)^l +\? +64 tokens`, `(?m)^r +r-stitch +s, l +0.03 +4096$`} {
		require.Regexp(t, want, out)
	}
	code, out, _ = shell(t, "", "ps", "--json")
	require.Zero(t, code)
	require.True(t, json.Valid([]byte(out)))

	status, answer = 503, `{"status":"loading","loading":[{"model":"s","progress":0.25}]}`
	code, out, aside = shell(t, "", "ps")
	require.Zero(t, code, aside)
	require.Regexp(t, `: loading\n  s  25%\n`, out)
	status, answer = 200, "<html>"
	_, _, aside = shell(t, "", "ps")
	require.Contains(t, aside, "is it a TokenRouter server?")
	s.Close()
	_, _, aside = shell(t, "", "ps")
	require.Contains(t, aside, "no server answers at")
}
