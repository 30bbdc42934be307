package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/tokenrouter/tokenrouter/internal/lockedbuf"
	"github.com/tokenrouter/tokenrouter/internal/tinygguf"
	"github.com/tokenrouter/tokenrouter/server/machine"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == machine.ProbeCommand { // as the program itself would
		if err := machine.ProbeChild(os.Args[2], os.Stdout); err != nil {
			panic(err)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// shell runs a whole command line.
func shell(t *testing.T, stdin string, args ...string) (status int, out, aside string) {
	t.Helper()
	var o, e bytes.Buffer
	status = execute(args, strings.NewReader(stdin), &o, &e)
	return status, o.String(), e.String()
}

// tiny are two tiny models that go together. Their files have the same name, so that a route of them calls them small and
// large.
func tiny(t *testing.T) (small, large string) {
	t.Helper()
	return tinygguf.Temp(t, tinygguf.Options{Seed: 1, Layers: 1}), tinygguf.Temp(t, tinygguf.Options{Seed: 2})
}

func TestRun(t *testing.T) {
	small, large := tiny(t)
	base := []string{"run", "--small", small, "--large", large, "--threads", "2", "--max-tokens", "20"}
	status, out, aside := shell(t, "", append(base, "the sea")...)
	require.Zero(t, status, aside)
	require.NotContains(t, out+aside, "\x1b", "no colours but on a terminal")
	require.Regexp(t, `^\d+ tokens? in \d+\.\d s(, \d+\.\d tokens/s)?: small \d+ \(\d+%\), large \d+ \(\d+%\); \d+ handoffs?, \d+ tokens? discarded\n(the answer was cut: .*\n)?$`, aside)

	// The same from standard input, and greedy: the same answer.
	status, again, _ := shell(t, "the sea", append(base, "-")...)
	require.Zero(t, status)
	require.Equal(t, out, again)

	// A threshold of 0 leaves the small model nothing to write; a model can also be asked alone.
	_, byLarge, aside := shell(t, "", append(base, "--threshold", "0", "the sea")...)
	require.Contains(t, aside, "small 0 (0%)")
	_, alone, aside := shell(t, "", append(base, "--model", "large", "the sea")...)
	require.NotContains(t, aside, "handoff")
	require.Equal(t, alone, byLarge)

	// Seeds repeat.
	hot := append(base, "--temperature", "1.5")
	_, a, _ := shell(t, "", append(hot, "--seed", "5", "the sea")...)
	_, b, _ := shell(t, "", append(hot, "--seed", "5", "the sea")...)
	_, c, _ := shell(t, "", append(hot, "--seed", "6", "the sea")...)
	require.Equal(t, a, b)
	require.NotEqual(t, a, c)
	_, withSystem, _ := shell(t, "", append(base, "--system", "be brief", "the sea")...)
	require.NotEqual(t, out, withSystem)
}

func TestMistakes(t *testing.T) {
	small, large := tiny(t)
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("XDG_CONFIG_HOME", dir)
	broken := filepath.Join(dir, "broken.yaml")
	require.NoError(t, os.WriteFile(broken, []byte("models:\n  - nam: a\n"), 0o600))
	pair := []string{"--small", small, "--large", large, "--threads", "2"}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"srve"}, "Did you mean this?\n\tserve"},
		{[]string{"serve", "x"}, `serve: expected no arguments, only flags; 1 argument given: "x" (tokenrouter serve --help`},
		{[]string{"serve"}, "no configuration: looked for tokenrouter.yaml and"},
		{[]string{"serve", "--config", "none.yaml"}, "none.yaml: no such file"},
		{[]string{"serve", "--config", broken}, "broken.yaml:2:5: models[0].nam: unknown key; did you mean name?"},
		{[]string{"serve", "--demo", "--config", broken}, "--config, --demo are given, and each says which models to run: give one of"},
		{[]string{"serve", "--small", small}, "--small is given without --large: give both"},
		{[]string{"serve", "--large", large}, "--large is given without --small: give both"},
		{[]string{"serve", "--large", large, "--demo"}, "--demo, --large are given"},
		{[]string{"serve", "--config", broken, "--small", small, "--large", large}, "--config, --small, --large are given"},
		{[]string{"serve", "--small", "none.gguf", "--large", large}, "none.gguf"},
		{append([]string{"serve", "--listen", "nowhere"}, pair...), "missing port in address; expected HOST:PORT such as 127.0.0.1:8080"},
		{append([]string{"serve", "--log-level", "loud"}, pair...), `--log-level: "loud" is not one of`},
		{append([]string{"serve", "--library", "/none.so"}, pair...), "/none.so"},
		{[]string{"run"}, `no PROMPT given: write it in quotes, tokenrouter run "Why is the sky blue?", or - to read it from standard input`},
		{[]string{"run", "why", "is", "it"}, "3 PROMPTs given, expected one: put the whole prompt in quotes"},
		{append([]string{"run", ""}, pair...), "the prompt is empty\n"},
		{append([]string{"run", "-"}, pair...), "the prompt is empty: there is no text on standard input"},
		{append([]string{"run", "--max-tokens", "-1", "a"}, pair...), "--max-tokens: expected 0"},
		{append([]string{"run", "--temperature", "3", "a"}, pair...), "--temperature: expected 0 to 2"},
		{append([]string{"run", "--temperature", "NaN", "a"}, pair...), "--temperature: expected 0 to 2"},
		{append([]string{"run", "--threshold", "-1", "a"}, pair...), "threshold"},
		{append([]string{"run", "--algorithm", "r2", "a"}, pair...), `--algorithm: there is no "r2"; there are: citer, co-llm, ensemble,`},
		{append([]string{"run", "--algorithm", "citer", "a"}, pair...), `needs a router head for model "small"`},
		{append([]string{"run", "--algorithm", "random", "--weights", "1,2", "a"}, pair...), "weights"},
		{append([]string{"run", "--model", "x", "a"}, pair...), `--model: there is no "x"; there are: routed`},
		{append([]string{"run", strings.Repeat("a ", 3000)}, pair...), "prompt too long"},
		{[]string{"run", "--threads", "-1", "--small", small, "--large", large, "a"}, "--threads: expected 0"},
		{[]string{"version", "--library", "/none.so"}, "/none.so"},
		{append([]string{"run", "--max-tokens", "x", "a"}, pair...), `--max-tokens: expected a whole number, found "x" (tokenrouter run --help lists the flags)`},
		{append([]string{"run", "--threshold", "high", "a"}, pair...), `--threshold: expected a number, found "high"`},
		{[]string{"bench", "a.gguf", "--batch", "1,x"}, `--batch: expected whole numbers with commas between, found "1,x"`},
		{[]string{"serve", "--config"}, "--config: expected a value, FILE behind it, found nothing"},
		{[]string{"--nope"}, "unknown flag: --nope (tokenrouter --help"},
		{[]string{"quantize", "a", "b"}, `quantize: expected the file to read, the file to write, the type of the weights; 2 arguments given: "a", "b"`},
		{[]string{"completion", "tcsh"}, `completion: there is none for "tcsh", only for bash, fish, powershell, zsh`},
		{[]string{"completion"}, "completion: expected a shell: bash, fish, powershell, zsh; none is given"},
		{[]string{"unload"}, "unload: expected the name of a model as tokenrouter ps shows it; none is given"},
		{[]string{"load", "a", "--url", "http://127.0.0.1:1"}, "no server answers at http://127.0.0.1:1: start one with tokenrouter serve"},
		{[]string{"ps", "--url", "ftp://a"}, "--url: ftp://a: expected http:// or https://"},
	} {
		status, _, aside := shell(t, "", c.args...)
		require.Equal(t, 1, status, c.args)
		require.Contains(t, aside, c.want, c.args)
		require.True(t, strings.HasPrefix(aside, "tokenrouter: ") || strings.Contains(aside, "{"), aside)
	}
}

func TestDemo(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	status, out, aside := shell(t, "", "run", "--demo", "--threads", "2",
		"Sam earns $6 per hour. On Monday Sam works 8 hours and on Friday 7 hours. How much does Sam earn?")
	require.Zero(t, status, aside)
	require.Equal(t, "On both days Sam works 8 + 7 = 15 hours.\nFor that work Sam earns 15 * 6 = 90 dollars.\nAnswer: 90\n", out)
	require.Contains(t, aside, "demo-large")
}

// Every algorithm answers on the pair that is built in, in one short command; the learned ones by their own routers.
func TestDemoAlgorithms(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	for _, name := range algorithms() {
		status, out, aside := shell(t, "", "run", "--demo", "--threads", "2", "--seed", "1", "--algorithm", name, "What is 412 minus 87?")
		require.Zero(t, status, aside)
		require.Regexp(t, `Answer: \d+\n$`, out, name)
		require.Contains(t, aside, "demo-large", name)
		if slices.Contains([]string{"citer", "co-llm", "r-stitch", "r2r", "speculative"}, name) {
			require.Contains(t, out, "412 - 87 = 325", name) // the small model alone says 355
		}
	}
	status, _, aside := shell(t, "", "run", "--demo", "--threads", "2", "-a", "ensemble", "--weights", "0,1", "What is 412 minus 87?")
	require.Zero(t, status, aside)
	require.Contains(t, aside, "demo-small 0 (0%)")
	status, _, aside = shell(t, "", "run", "--demo", "--threads", "2", "-a", "r2r", "--strategy", "random", "--threshold", "1", "What is 412 minus 87?")
	require.Zero(t, status, aside)
	require.Contains(t, aside, "demo-small 0 (0%)")
	status, _, aside = shell(t, "", "run", "--demo", "--threads", "2", "-a", "query", "--large-share", "0", "What is 412 minus 87?")
	require.Zero(t, status, aside)
	require.Contains(t, aside, "demo-large 0 (0%)")
}

func TestRunHelpExplainsTheThreshold(t *testing.T) {
	status, out, _ := shell(t, "", "run", "--help")
	require.Zero(t, status)
	for _, want := range []string{"0 to 1; the higher, the more it writes", "default: the route's, or else 0.03"} { // router.RStitchThreshold
		require.Contains(t, out, want)
	}
}

func TestVersion(t *testing.T) {
	status, out, aside := shell(t, "", "version")
	require.Zero(t, status, aside)
	require.Regexp(t, `^tokenrouter \S+ \((commit [0-9a-f]{12}\+?, )?go1\.\d+\S*, linux/amd64, ABI \d+\)\ntokenrouter .*ABI \d+.*\ninstruction set \w+, \d+ threads\n$`, out)
}

func TestCompletion(t *testing.T) {
	for _, name := range []string{"bash", "zsh", "fish"} {
		status, out, _ := shell(t, "", "completion", name)
		require.Zero(t, status)
		require.Contains(t, out, "tokenrouter")
	}
}

// A server from the command line to a signal, with logs that a machine can read.
func TestServe(t *testing.T) {
	small, large := tiny(t)
	file := filepath.Join(t.TempDir(), "c.yaml")
	require.NoError(t, os.WriteFile(file, []byte(fmt.Sprintf(
		"models: [{name: s, path: %s}, {name: l, path: %s}]\nroutes: [{name: pair, algorithm: r-stitch, models: [s, l]}]\ndevices: [{name: cpu, threads: 2, kv_memory: 4MiB}]\n", small, large)), 0o600))
	var log lockedbuf.Buffer
	ended := make(chan int, 1)
	go func() {
		ended <- execute([]string{"serve", "--config", file, "--listen", "127.0.0.1:0"}, strings.NewReader(""), io.Discard, &log)
	}()
	address := ""
	require.Eventually(t, func() bool {
		ready := false
		for line := range strings.Lines(log.String()) {
			var l struct{ Message, Address, Level string }
			require.NoError(t, json.Unmarshal([]byte(line), &l), line)
			if l.Message == "listening" {
				address = l.Address
			}
			ready = ready || l.Message == "ready"
		}
		return ready
	}, 30*time.Second, 5*time.Millisecond)
	r, err := http.Post(address+"/v1/chat/completions", "application/json", strings.NewReader(`{"model":"pair","max_tokens":4,"messages":[{"role":"user","content":"a"}]}`))
	require.NoError(t, err)
	require.NoError(t, r.Body.Close())
	require.Equal(t, 200, r.StatusCode)
	http.DefaultClient.CloseIdleConnections()

	require.NoError(t, syscall.Kill(syscall.Getpid(), syscall.SIGTERM))
	select {
	case status := <-ended:
		require.Zero(t, status, log.String())
	case <-time.After(30 * time.Second):
		t.Fatal("the server did not end: " + log.String())
	}
	require.Contains(t, log.String(), `"message":"stopped"`)
}
