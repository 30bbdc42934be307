// Package examples_test builds and runs the programs of examples/ that need nothing but this repository. The one that needs the
// OpenAI client is run by tests/clients.
package examples_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/models/catalogue"
	"github.com/tokenrouter/tokenrouter/models/chat"
	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/server/app"
	"github.com/tokenrouter/tokenrouter/server/config"
)

const (
	examples = "../../examples"
	count    = 40
	question = "Sam has 3 apples and buys 4 more. How many apples has Sam?"
)

// model is the file of the small model that is built in, and what the engine answers: the ids of a prompt and those that follow.
func model(t *testing.T) (path string, prompt, want []string) {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	path, err := catalogue.CarriedFile(catalogue.DemoSmall)
	require.NoError(t, err)
	cfg, err := config.Parse("", []byte("models: [{name: m, path: "+path+"}]\ndevices: [{name: cpu, threads: 2, kv_memory: 16MiB}]"))
	require.NoError(t, err)
	loader, err := app.NewLoader(cfg, app.Options{})
	require.NoError(t, err)
	runtime, err := loader.Load(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, runtime.Close(context.Background())) }()
	ids, err := runtime.Targets[0].Text.Prompt(chat.Request{Messages: []chat.Message{chat.User(question)}})
	require.NoError(t, err)
	stream, err := runtime.Engine.Submit(t.Context(), sched.Request{Target: "m", Prompt: ids, MaxTokens: count, IgnoreEnd: true})
	require.NoError(t, err)
	for {
		e, err := stream.Next(t.Context())
		require.NoError(t, err)
		for i := range e.Tokens {
			want = append(want, fmt.Sprint(e.Tokens[i].ID))
		}
		if e.Finish != "" {
			break
		}
	}
	for _, id := range ids {
		prompt = append(prompt, fmt.Sprint(id))
	}
	require.Len(t, want, count)
	return path, prompt, want
}

// library is the native library that the tests of Go packages use.
func library(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs("../../bindings/embedded/libtokenrouter.so")
	require.NoError(t, err)
	_, err = os.Stat(path)
	require.NoError(t, err, "build it with: make library")
	return path
}

// run runs a program that finds the library under the name that the linker noted, as after an installation.
func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	libraries := t.TempDir()
	require.NoError(t, os.Symlink(library(t), filepath.Join(libraries, fmt.Sprintf("libtokenrouter.so.%d", sched.NativeABI))))
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+libraries)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s %s: %s", name, strings.Join(args, " "), out)
	return string(out)
}

// C and Python get the ids that the engine gets.
func TestGenerate(t *testing.T) {
	path, prompt, want := model(t)
	arguments := append([]string{path, fmt.Sprint(count)}, prompt...)

	binary := filepath.Join(t.TempDir(), "generate")
	compiler := os.Getenv("CC")
	if compiler == "" {
		compiler = "cc"
	}
	run(t, ".", compiler, "-std=c11", "-Wall", "-Wextra", "-Werror", "-I../../native/include", examples+"/c/generate.c", library(t), "-o", binary)
	require.Equal(t, want, strings.Fields(run(t, ".", binary, arguments...)))

	require.Equal(t, want, strings.Fields(run(t, ".", "python3", append([]string{examples + "/python-ctypes/generate.py", library(t)}, arguments...)...)))
}

func TestGoProgram(t *testing.T) {
	out := run(t, examples+"/go-packages", "go", "run", ".", question)
	require.Regexp(t, `(?m)^demo-small   "`, out)
	require.Regexp(t, `\d+ tokens, \d+ handoffs\n$`, out)
}
