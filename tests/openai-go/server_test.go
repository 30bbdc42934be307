// Package openaigo uses the server through OpenAI's client for Go as its documentation says, over every field that is supported. It
// is a module of its own, since the client brings more packages than the whole server. `make test-clients` runs it.
package openaigo

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/stretchr/testify/require"
)

// The built-in pair as a route: word problems, and nothing else.
const (
	demo, demoSmall, demoLarge = "demo", "demo-small", "demo-large"
	problem                    = "What is 412 minus 87?"
	right                      = "325" // 412 - 87
)

// The real pair as a route, which knows tools; there only if its files are.
const (
	coder = "qwen2.5-coder"
	files = "qwen2.5-coder-%s-instruct-q4_k_m.gguf"
)

var (
	address  string // of the running server
	haveReal bool
)

func TestMain(m *testing.M) {
	code, err := serve(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// serve runs the tests beside a server, which must end well when it is told to.
func serve(m *testing.M) (code int, err error) {
	dir, err := os.MkdirTemp("", "openai-go")
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	configuration, err := write(dir)
	if err != nil {
		return 1, err
	}
	log, err := os.Create(filepath.Join(dir, "server.log"))
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	cmd := exec.Command("../../bin/tokenrouter", "serve", "--config", configuration)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return 1, fmt.Errorf("%w; build it with: make build", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	said := func(err error) error {
		text, readErr := os.ReadFile(log.Name())
		return errors.Join(fmt.Errorf("the server: %w\n%s", err, text), readErr)
	}
	if err := ready(ended); err != nil {
		return 1, said(errors.Join(err, cmd.Process.Kill()))
	}
	code = m.Run()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return 1, said(err)
	}
	if err := <-ended; err != nil {
		return 1, said(err)
	}
	return code, nil
}

// write writes the configuration: the pair that is built in, and the real one where its files are. JSON is YAML.
func write(dir string) (path string, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	address = l.Addr().String()
	if err := l.Close(); err != nil {
		return "", err
	}
	type object map[string]any
	names := []object{{"name": demoSmall, "path": "catalogue:demo-small"}, {"name": demoLarge, "path": "catalogue:demo-large"}}
	routes := []object{{"name": demo, "algorithm": "r-stitch", "models": []string{demoSmall, demoLarge}, "threshold": 0.025}}
	directory := os.Getenv("TOKENROUTER_MODELS")
	haveReal = directory != ""
	var pair []string
	for _, size := range []string{"0.5b", "1.5b"} {
		file := filepath.Join(directory, fmt.Sprintf(files, size))
		if _, err := os.Stat(file); err != nil {
			haveReal = false
		}
		pair = append(pair, coder+"-"+size)
		if haveReal {
			names = append(names, object{"name": coder + "-" + size, "path": file, "context": 2048})
		}
	}
	if haveReal {
		routes = append(routes, object{"name": coder, "algorithm": "r-stitch", "models": pair, "threshold": 0.1})
	} else {
		names = names[:2]
	}
	text, err := json.Marshal(object{"models": names, "routes": routes, "server": object{"listen": address}})
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, "config.yaml")
	return path, os.WriteFile(path, text, 0o600)
}

// ready waits until the models are loaded.
func ready(ended <-chan error) error {
	for range 3000 {
		select {
		case err := <-ended:
			return errors.Join(errors.New("ended before it was ready"), err)
		case <-time.After(100 * time.Millisecond):
		}
		if r, err := http.Get("http://" + address + "/readyz"); err == nil {
			if err := r.Body.Close(); err != nil {
				return err
			}
			if r.StatusCode == http.StatusOK {
				return nil
			}
		}
	}
	return errors.New("not ready within five minutes")
}

// client has nothing set but the address; a test must see the first answer, so nothing is tried again.
func client(more ...option.RequestOption) *openai.Client {
	c := openai.NewClient(append([]option.RequestOption{option.WithBaseURL("http://" + address + "/v1"), option.WithAPIKey("any"), option.WithMaxRetries(0)}, more...)...)
	return &c
}

// needReal skips a test where the real pair is not; make test-clients has downloaded it.
func needReal(t *testing.T) {
	t.Helper()
	if !haveReal {
		if os.Getenv("TOKENROUTER_REQUIRE_MODELS") != "" {
			t.Fatal("the real pair is not in TOKENROUTER_MODELS; get it with: make real-pair")
		}
		t.Skip("needs the real pair in TOKENROUTER_MODELS")
	}
}

// ask is a greedy question to a model or route.
func ask(model, question string) openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{
		Model: model, Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(question)},
		Temperature: openai.Float(0), MaxCompletionTokens: openai.Int(100),
	}
}

// routing is the account of an answer.
type routing struct {
	Route, Algorithm string
	Tokens           map[string]int64
	Handoffs         int64
	Trace            []struct {
		Token, Model string
		ID           int64
	}
}

func account(t *testing.T, raw string) routing {
	t.Helper()
	var r routing
	require.NoError(t, json.Unmarshal([]byte(raw), &r))
	return r
}
