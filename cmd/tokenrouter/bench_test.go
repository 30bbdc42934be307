package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/internal/tinygguf"
	"github.com/tokenrouter/tokenrouter/sched/measure"
)

func TestBenchAsJSON(t *testing.T) {
	path := tinygguf.Temp(t, tinygguf.Options{})
	var out, aside bytes.Buffer
	status := execute([]string{"bench", path, "--json", "--batch", "1,3", "--context", "8,40", "--prefill", "20", "--extend", "4",
		"--extend-batch", "1,2", "--copied", "--extend-context", "33", "--steps", "2", "--runs", "1", "--threads", "1"}, nil, &out, &aside)
	require.Zero(t, status, aside.String())
	var got []string
	for line := range strings.Lines(out.String()) {
		var f measure.Figure
		require.NoError(t, json.Unmarshal([]byte(line), &f))
		require.Positive(t, f.TokensPerSecond)
		f.StepMillis, f.TokensPerSecond, f.Steps = 0, 0, 0
		text, err := json.Marshal(f)
		require.NoError(t, err)
		got = append(got, string(text))
	}
	figure := func(kind string, batch, tokens, context string) string {
		return `{"kind":"` + kind + `","batch":` + batch + `,"tokens":` + tokens + `,"context":` + context + `,"steps":0,"step_ms":0,"tokens_per_second":0}`
	}
	require.Equal(t, []string{
		figure("decode", "1", "1", "8"), figure("decode", "3", "1", "8"), figure("decode", "1", "1", "40"), figure("decode", "3", "1", "40"),
		figure("prefill", "1", "20", "0"), figure("extend", "1", "4", "33"), figure("extend", "2", "4", "33"),
	}, got)
}

func TestBenchTable(t *testing.T) {
	path := tinygguf.Temp(t, tinygguf.Options{})
	var out, aside bytes.Buffer
	require.Zero(t, execute([]string{"bench", path, "--batch", "2", "--context", "8", "--prefill", "0", "--extend", "4", "--extend-context", "8",
		"--steps", "1", "--threads", "1"}, nil, &out, &aside), aside.String())
	lines := strings.Split(out.String(), "\n")
	require.Len(t, lines, 6) // what it is, a blank line, the heading, two figures, the end
	require.Contains(t, lines[2], "tokens/s")
	require.True(t, strings.HasPrefix(lines[3], "decode") && strings.HasPrefix(lines[4], "extend"), out.String())
}

func TestBenchWithHead(t *testing.T) {
	path, head := tinygguf.Temp(t, tinygguf.Options{}), tinygguf.TempResidualHead(t, tinygguf.ResidualHead{})
	var out, aside bytes.Buffer
	require.Zero(t, execute([]string{"bench", path, "--head", head, "--batch", "1,2", "--context", "8", "--prefill", "0", "--extend", "4",
		"--extend-context", "8", "--steps", "1", "--threads", "1"}, nil, &out, &aside), aside.String())
	var kinds []string
	for _, line := range strings.Split(out.String(), "\n")[3:] {
		kind, _, _ := strings.Cut(line, " ")
		kinds = append(kinds, kind)
	}
	require.Equal(t, []string{"decode", "scored", "decode", "scored", "extend", ""}, kinds)

	require.Equal(t, 1, execute([]string{"bench", path, "--head", path}, nil, &out, &aside))
	require.Contains(t, aside.String(), "expected \"router-head\"")
}

func TestBenchRefuses(t *testing.T) {
	path := tinygguf.Temp(t, tinygguf.Options{})
	for flag, want := range map[string]string{
		"--batch=0":         "--batch: expected 1 or more, found 0",
		"--extend-batch=0":  "--extend-batch: expected 1 or more, found 0",
		"--steps=-1":        "--steps: expected 1 or more, found -1",
		"--prefill=-1":      "--prefill and --threads: expected 0 or more",
		"--context=9999999": "the model's context is",
		"--isa=sse9":        "sse9",
	} {
		var aside bytes.Buffer
		require.Equal(t, 1, execute([]string{"bench", path, flag}, nil, &bytes.Buffer{}, &aside))
		require.Contains(t, aside.String(), want)
	}
}
