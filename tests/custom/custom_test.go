// Package custom_test checks that an algorithm in a module of its own builds and runs as its documentation says.
package custom_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

var module = filepath.Join("..", "..", "examples", "custom-algorithm")

func TestCustomAlgorithm(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("go", "test", "-count=1", "-v", "-run", "^TestOpening$", ".")
	cmd.Dir = module
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.True(t, bytes.Contains(out, []byte("--- PASS: TestOpening")), "%s", out)
}

// The server of the example knows the algorithm, in its configuration and in requests.
func TestServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program := filepath.Join(dir, "serve")
	build := exec.Command("go", "build", "-o", program, "./serve")
	build.Dir = module
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	file := filepath.Join(dir, "config.yaml")
	require.NoError(t, os.WriteFile(file, []byte(`
models: [{name: small, path: "catalogue:demo-small"}, {name: large, path: "catalogue:demo-large"}]
routes: [{name: opened, algorithm: opening, models: [small, large]}]
server: {listen: "127.0.0.1:0"}
`), 0o600))

	library, err := filepath.Abs("../../bindings/embedded/libtokenrouter.so")
	require.NoError(t, err)
	cmd := exec.Command(program, file)
	cmd.Env = append(os.Environ(), "TOKENROUTER_LIB="+library, "XDG_CACHE_HOME="+dir)
	var log bytes.Buffer
	cmd.Stderr = &log
	said, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	stopped := false
	defer func() {
		if !stopped {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	}()
	lines := bufio.NewScanner(said)
	require.True(t, lines.Scan(), "the server said nothing")
	address := lines.Text()
	require.True(t, lines.Scan())
	require.Equal(t, "ready", lines.Text())

	answer, err := http.Post(address+"/v1/chat/completions", "application/json", strings.NewReader(`{"model": "opened",
		"messages": [{"role": "user", "content": "What is 412 minus 87?"}], "max_tokens": 8, "routing": {"trace": true}}`))
	require.NoError(t, err)
	defer func() { require.NoError(t, answer.Body.Close()) }()
	require.Equal(t, http.StatusOK, answer.StatusCode)
	var got struct {
		Routing struct {
			Algorithm string
			Trace     []struct{ Model string }
		}
	}
	require.NoError(t, json.NewDecoder(answer.Body).Decode(&got))
	require.Equal(t, "opening", got.Routing.Algorithm)
	var wrote []string
	for _, token := range got.Routing.Trace {
		wrote = append(wrote, token.Model)
	}
	require.Equal(t, []string{"large", "large", "large", "small", "small", "small", "small", "small"}, wrote)

	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	stopped = true
	require.NoError(t, cmd.Wait(), "%s", &log)
}
