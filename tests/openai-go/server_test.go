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
	demo, demoSmall, demoLarge = "demo", "demo-small", "built-in/demo-large" // names may have slashes
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
	s, err := start(dir, whole())
	if err != nil {
		return 1, err
	}
	address = s.address
	code = m.Run()
	return code, s.stop()
}

// server is a running one.
type server struct {
	address string
	log     string
	process *os.Process
	ended   chan error
}

// start runs a server with a configuration until its models are loaded. What it writes lies in a directory.
func start(dir string, configuration object) (*server, error) {
	address, err := free()
	if err != nil {
		return nil, err
	}
	settings, _ := configuration["server"].(object)
	if settings == nil {
		settings = object{}
		configuration["server"] = settings
	}
	settings["listen"] = address
	text, err := json.Marshal(configuration) // JSON is YAML
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(dir, "server.log"))
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("../../bin/tokenrouter", "serve", "--config", path)
	cmd.Stdout, cmd.Stderr = log, log
	if err := errors.Join(cmd.Start(), log.Close()); err != nil {
		return nil, fmt.Errorf("%w; build it with: make build", err)
	}
	s := &server{address: address, log: log.Name(), process: cmd.Process, ended: make(chan error, 1)}
	go func() { s.ended <- cmd.Wait() }()
	if err := s.ready(); err != nil {
		return nil, s.said(errors.Join(err, s.process.Kill()))
	}
	return s, nil
}

// stop tells a server to end, which must end well.
func (s *server) stop() error {
	if err := s.process.Signal(syscall.SIGTERM); err != nil {
		return s.said(err)
	}
	if err := <-s.ended; err != nil {
		return s.said(err)
	}
	return nil
}

func (s *server) said(err error) error {
	text, readErr := os.ReadFile(s.log)
	return errors.Join(fmt.Errorf("the server: %w\n%s", err, text), readErr)
}

// free is an address that nobody listens at.
func free() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

type object map[string]any

// pair is the models that are built in, and their route.
func pair() (models, routes []object) {
	return []object{{"name": demoSmall, "path": "catalogue:demo-small"}, {"name": demoLarge, "path": "catalogue:demo-large"}},
		[]object{{"name": demo, "algorithm": "r-stitch", "models": []string{demoSmall, demoLarge}, "threshold": 0.025}}
}

// whole is the configuration of the tests: the pair that is built in, and the real one where its files are.
func whole() object {
	models, routes := pair()
	directory := os.Getenv("TOKENROUTER_MODELS")
	var coders []string
	var real []object
	for _, size := range []string{"0.5b", "1.5b"} {
		file := filepath.Join(directory, fmt.Sprintf(files, size))
		if _, err := os.Stat(file); directory == "" || err != nil {
			return object{"models": models, "routes": routes}
		}
		coders = append(coders, coder+"-"+size)
		real = append(real, object{"name": coder + "-" + size, "path": file, "context": 2048})
	}
	haveReal = true
	return object{"models": append(models, real...), "routes": append(routes, object{"name": coder, "algorithm": "r-stitch", "models": coders, "threshold": 0.1})}
}

// ready waits until the models are loaded.
func (s *server) ready() error {
	for range 3000 {
		select {
		case err := <-s.ended:
			return errors.Join(errors.New("ended before it was ready"), err)
		case <-time.After(100 * time.Millisecond):
		}
		if r, err := http.Get("http://" + s.address + "/health"); err == nil {
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
func client(more ...option.RequestOption) *openai.Client { return clientOf(address, more...) }

func clientOf(address string, more ...option.RequestOption) *openai.Client {
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
