package app

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/tokenrouter/tokenrouter/internal/lockedbuf"
	"github.com/tokenrouter/tokenrouter/internal/tinygguf"
	"github.com/tokenrouter/tokenrouter/server/api"
	"github.com/tokenrouter/tokenrouter/server/config"
	"github.com/tokenrouter/tokenrouter/server/machine"
	"github.com/tokenrouter/tokenrouter/server/metrics"
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

// pair writes two tiny models and parses a configuration for them. more is appended to it.
func pair(t *testing.T, more string) *config.Config {
	t.Helper()
	return parse(t, fmt.Sprintf(`
models:
  - {name: small, path: %s}
  - {name: large, path: %s}
routes:
  - {name: pair, algorithm: r-stitch, models: [small, large], threshold: 0.9}
devices:
  - {name: cpu, threads: 2, kv_memory: 8MiB}
%s`, tinygguf.Temp(t, tinygguf.Options{Seed: 1, Layers: 1, Name: "one"}), tinygguf.Temp(t, tinygguf.Options{Seed: 2, Name: "two"}), more))
}

func parse(t *testing.T, text string) *config.Config {
	t.Helper()
	c, err := config.Parse(filepath.Join(t.TempDir(), "c.yaml"), []byte(text))
	require.NoError(t, err)
	return c
}

func TestModelsOfTheCatalogue(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	loader, err := NewLoader(parse(t, `models: [{name: a, path: "catalogue:demo-small"}]`), Options{})
	require.NoError(t, err)
	require.NotNil(t, loader)
	_, err = NewLoader(parse(t, `models: [{name: a, path: "catalogue:demo-smal"}]`), Options{})
	require.ErrorContains(t, err, `models[0].path: model "a": model demo-smal is not on this machine; did you mean demo-small?`)
	t.Setenv("TOKENROUTER_MODELS", t.TempDir())
	_, err = NewLoader(parse(t, `models: [{name: a, path: "catalogue:qwen3-8b"}]`), Options{})
	require.ErrorContains(t, err, "get it (5.1 GB) with: tokenrouter pull qwen3-8b")
}

// running is a server that was started by Serve.
type running struct {
	url     string
	log     *lockedbuf.Buffer
	runtime *Runtime
	stop    context.CancelFunc
	ended   chan error
}

// start runs Serve until it is ready.
func start(t *testing.T, cfg *config.Config) *running {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{log: &lockedbuf.Buffer{}, stop: cancel, ended: make(chan error, 1)}
	ready := make(chan *Runtime, 1)
	o := Options{
		Log: zerolog.New(r.log), Version: "test",
		Listening: func(address string) { r.url = "http://" + address },
		Ready:     func(r *Runtime) { ready <- r },
	}
	go func() { r.ended <- Serve(ctx, cfg, o) }()
	select {
	case r.runtime = <-ready:
	case err := <-r.ended:
		require.NoError(t, err)
	}
	t.Cleanup(func() {
		cancel()
		http.DefaultClient.CloseIdleConnections()
	})
	return r
}

// end asks the server to end and waits for it.
func (r *running) end(t *testing.T) {
	t.Helper()
	r.stop()
	select {
	case err := <-r.ended:
		require.NoError(t, err)
	case <-time.After(30 * time.Second):
		t.Fatal("the server did not end")
	}
	r.ended <- nil
}

func (r *running) post(t *testing.T, path, body string) (int, string) {
	t.Helper()
	a, err := http.Post(r.url+path, "application/json", strings.NewReader(body))
	require.NoError(t, err)
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	require.NoError(t, err)
	return a.StatusCode, string(text)
}

const question = `"messages":[{"role":"user","content":"the man and the sea"}],"temperature":0,"max_tokens":40,"ignore_eos":true`

// From a file to an answer that two models wrote: all the real parts, with tiny models.
func TestServe(t *testing.T) {
	r := start(t, pair(t, "server: {listen: '127.0.0.1:0'}"))
	for _, path := range []string{"/healthz", "/readyz", "/v1/models"} {
		a, err := http.Get(r.url + path)
		require.NoError(t, err)
		require.NoError(t, a.Body.Close())
		require.Equal(t, 200, a.StatusCode)
	}
	status, body := r.post(t, "/v1/chat/completions", `{"model":"pair",`+question+`,"routing":{"trace":true,"threshold":0.99}}`)
	require.Equal(t, 200, status, body)
	var answer struct {
		SystemFingerprint string `json:"system_fingerprint"`
		Usage             struct {
			PromptTokens     int `json:"prompt_tokens"`
			CompletionTokens int `json:"completion_tokens"`
		}
		Routing struct {
			Tokens map[string]int
			Trace  []struct{ Model string }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(body), &answer))
	require.Equal(t, 40, answer.Usage.CompletionTokens)
	require.Equal(t, 40, answer.Routing.Tokens["small"]+answer.Routing.Tokens["large"])
	require.Len(t, answer.Routing.Trace, 40)
	require.Regexp(t, "^fp_[0-9a-f]{10}$", answer.SystemFingerprint)
	written := fmt.Sprintf("tokenrouter_tokens_total{model=\"small\"} %d\n", answer.Routing.Tokens["small"])
	require.Eventually(t, func() bool { // the last step is counted when it has been answered
		a, err := http.Get(r.url + "/metrics")
		if err != nil {
			return false
		}
		defer a.Body.Close()
		page, err := io.ReadAll(a.Body)
		return err == nil && strings.Contains(string(page), written)
	}, 10*time.Second, 10*time.Millisecond)

	// The same again gives the same; each model alone gives its own.
	again := `{"model":"pair",` + question + `,"routing":{"threshold":0.99}}`
	_, first := r.post(t, "/v1/chat/completions", again)
	_, second := r.post(t, "/v1/chat/completions", again)
	require.Equal(t, content(t, first), content(t, second))
	for _, name := range []string{"small", "large"} {
		status, body = r.post(t, "/v1/chat/completions", `{"model":"`+name+`",`+question+`}`)
		require.Equal(t, 200, status, body)
		require.Contains(t, body, `"routing":{"route":"`+name+`","algorithm":"single","tokens":{"`+name+`":40},"discarded":0,"handoffs":0}`)
	}
	status, body = r.post(t, "/v1/completions", `{"model":"small","prompt":[1,2,3],"max_tokens":3,"ignore_eos":true,"temperature":0}`)
	require.Equal(t, 200, status, body)
	require.Contains(t, body, `"prompt_tokens":3`)
	r.end(t)
	for _, want := range []string{"device open", "model loaded", "KV cache", "listening", "ready", "shutting down", "stopped"} {
		require.Contains(t, r.log.String(), `"message":"`+want+`"`)
	}
}

func content(t *testing.T, body string) string {
	t.Helper()
	var a struct {
		Choices []struct{ Message struct{ Content string } }
	}
	require.NoError(t, json.Unmarshal([]byte(body), &a))
	require.Len(t, a.Choices, 1, body)
	return a.Choices[0].Message.Content
}

// endless starts an answer as long as the context, and reads its first chunks.
func (r *running) endless(t *testing.T) *bufio.Reader {
	t.Helper()
	body := `{"model":"pair","stream":true,"ignore_eos":true,"messages":[{"role":"user","content":"a"}]}`
	a, err := http.Post(r.url+"/v1/chat/completions", "application/json", strings.NewReader(body))
	require.NoError(t, err)
	t.Cleanup(func() { a.Body.Close() })
	lines := bufio.NewReader(a.Body)
	for range 4 {
		_, err := lines.ReadString('\n')
		require.NoError(t, err)
	}
	return lines
}

func TestRunningAnswersEndBeforeTheServerDoes(t *testing.T) {
	r := start(t, pair(t, "server: {listen: '127.0.0.1:0', shutdown_timeout: 1m}"))
	lines := r.endless(t)
	r.stop()
	rest, err := io.ReadAll(lines)
	require.NoError(t, err)
	require.True(t, strings.HasSuffix(string(rest), "data: [DONE]\n\n"))
	r.end(t)
	_, err = http.Get(r.url + "/healthz")
	require.Error(t, err, "nothing listens any more")
}

// As long as something is being answered after the signal, whoever asks is told that the server is going away.
func TestDrainingServerSaysSo(t *testing.T) {
	cfg := pair(t, "server: {listen: '127.0.0.1:0'}")
	loader, err := NewLoader(cfg, Options{})
	require.NoError(t, err)
	s, err := newServer(cfg, loader, Options{Log: zerolog.Nop()}, metrics.New())
	require.NoError(t, err)
	begun, release := make(chan struct{}), make(chan struct{})
	door := *s.front.door.Load()
	door.next = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/held" {
			close(begun)
			<-release
		}
		s.api.ServeHTTP(w, r)
	})
	s.front.door.Store(&door)
	s.api.Ready([]api.Target{{Name: "m"}}, instant{})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	r, ended, drained := &running{url: "http://" + listener.Addr().String()}, make(chan error, 1), make(chan struct{})
	go func() { ended <- s.listen(listener) }()
	status := func(path string) int {
		a, err := http.Get(r.url + path)
		require.NoError(t, err)
		require.NoError(t, a.Body.Close())
		return a.StatusCode
	}
	require.Equal(t, 200, status("/readyz"))
	held := make(chan int, 1)
	go func() {
		a, err := http.Get(r.url + "/held")
		if err != nil {
			held <- 0
			return
		}
		held <- a.StatusCode
		_ = a.Body.Close()
	}()
	<-begun
	go func() {
		defer close(drained)
		s.drain(time.Hour)
	}()
	require.Eventually(t, func() bool { return status("/readyz") == 503 }, time.Minute, 5*time.Millisecond)
	require.Equal(t, 200, status("/healthz"))
	code, body := r.post(t, "/v1/completions", `{"model":"m","prompt":"a"}`)
	require.Equal(t, 503, code)
	require.Contains(t, body, `"code":"shutting_down"`)
	select {
	case <-drained:
		t.Fatal("it ended while something was being answered")
	default:
	}
	close(release)
	<-drained
	require.Equal(t, 404, <-held, "there is nothing at that path, but it was answered")
	require.ErrorIs(t, <-ended, http.ErrServerClosed)
	_, err = http.Get(r.url + "/healthz")
	require.Error(t, err, "nothing listens any more")
	s.leave()
}

// A client that has sent half of its request does not hold up the end.
func TestHalfARequestDoesNotHoldUpTheEnd(t *testing.T) {
	r := start(t, pair(t, "server: {listen: '127.0.0.1:0', shutdown_timeout: 1m}"))
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	require.NoError(t, err)
	defer conn.Close()
	_, err = io.WriteString(conn, "POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 100\r\n\r\n")
	require.NoError(t, err)
	in := bufio.NewReader(conn)
	line, err := in.ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, line, "100 Continue") // the body is being read
	began := time.Now()
	r.end(t)
	require.Less(t, time.Since(began), 10*time.Second)
	rest, err := io.ReadAll(in)
	require.NoError(t, err)
	require.Contains(t, string(rest), `"code":"shutting_down"`)
}

func TestShutdownTimeoutCancels(t *testing.T) {
	r := start(t, pair(t, "server: {listen: '127.0.0.1:0', shutdown_timeout: 0s}"))
	lines := r.endless(t)
	r.stop()
	rest, err := io.ReadAll(lines)
	require.NoError(t, err)
	require.Contains(t, string(rest), `"code":"shutting_down"`, "the client is told")
	require.NotContains(t, string(rest), "[DONE]")
	r.end(t)
}

func TestEndWhileLoading(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	o := Options{Log: zerolog.Nop(), Loading: func(*Loader) { cancel() }}
	require.NoError(t, Serve(ctx, pair(t, "server: {listen: '127.0.0.1:0'}"), o))
}

func TestAddressInUse(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	err = Serve(t.Context(), pair(t, fmt.Sprintf("server: {listen: '%s'}", l.Addr())), Options{Log: zerolog.Nop()})
	require.ErrorContains(t, err, "c.yaml:9:18: server.listen: cannot listen")
	require.ErrorContains(t, err, "address already in use; another program listens there")
}

// What is wrong with files and settings is said with its place in the configuration, before or instead of serving.
func TestMistakes(t *testing.T) {
	whole := tinygguf.Temp(t, tinygguf.Options{Seed: 1})
	text, err := os.ReadFile(whole)
	require.NoError(t, err)
	cut := filepath.Join(t.TempDir(), "cut.gguf")
	require.NoError(t, os.WriteFile(cut, text[:len(text)-100], 0o600))
	noise := filepath.Join(t.TempDir(), "noise.gguf")
	require.NoError(t, os.WriteFile(noise, []byte(strings.Repeat("noise", 100)), 0o600))
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"no such file", "models: [{name: a, path: /none.gguf}]", []string{"c.yaml:1:26: models[0].path", `model "a"`, "/none.gguf", "no such file"}},
		{"truncated", fmt.Sprintf("models: [{name: a, path: %s}]", cut), []string{"models[0].path", `model "a"`, "cut.gguf"}},
		{"not a GGUF file", fmt.Sprintf("models: [{name: a, path: %s}]", noise), []string{"models[0].path", `model "a"`, "noise.gguf"}},
		{"vocabulary only", "models: [{name: a, path: " + repository(t, "models/testdata/tiny-vocab.gguf") + "}]", []string{"models[0].path", "has a vocabulary but no weights"}},
		{"context too long", fmt.Sprintf("models: [{name: a, path: %s, context: 4096}]", whole), []string{"models[0].context", "4096 tokens is more than the 2048"}},
		{"unknown algorithm", fmt.Sprintf("models: [{name: a, path: %s}, {name: b, path: %s}]\nroutes: [{name: r, algorithm: r-stich, models: [a, b]}]", whole, whole),
			[]string{"c.yaml:2:31: routes[0].algorithm", `unknown routing algorithm "r-stich"`, "r-stitch"}},
		{"threshold out of range", fmt.Sprintf("models: [{name: a, path: %s}, {name: b, path: %s}]\nroutes: [{name: r, algorithm: r-stitch, models: [a, b], threshold: -1}]", whole, whole),
			[]string{"c.yaml:2:68: routes[0].threshold"}},
		{"vocabularies differ", fmt.Sprintf("models: [{name: a, path: %s}, {name: b, path: %s}]\nroutes: [{name: r, algorithm: r-stitch, models: [a, b]}]", whole, repository(t, "native/tests/data/qwen2-tiny-tied.gguf")),
			[]string{"routes[0].models", `models "a" and "b" do not go together`, "qwen2-tiny-tied.gguf", "token"}},
		{"KV memory too small", fmt.Sprintf("models: [{name: a, path: %s}]\ndevices: [{name: cpu, kv_memory: 1KiB, threads: 2}]", whole), []string{`device "cpu", kv_memory 1KiB`, "raise the budget"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, err := NewLoader(parse(t, c.text), Options{Log: zerolog.Nop()})
			if err == nil {
				_, err = l.Load(t.Context())
			}
			for _, want := range c.want {
				require.ErrorContains(t, err, want)
			}
		})
	}
}

// repository is the path of a file of this project.
func repository(t *testing.T, path string) string {
	t.Helper()
	full, err := filepath.Abs(filepath.Join("../..", path))
	require.NoError(t, err)
	_, err = os.Stat(full)
	require.NoError(t, err)
	return full
}

func TestLibraryThatIsNotThere(t *testing.T) {
	l, err := NewLoader(pair(t, ""), Options{Log: zerolog.Nop(), Library: "/none/libtokenrouter.so"})
	require.NoError(t, err)
	_, err = l.Load(t.Context())
	require.ErrorContains(t, err, "/none/libtokenrouter.so")
}

func TestLoaderTellsProgress(t *testing.T) {
	l, err := NewLoader(pair(t, ""), Options{Log: zerolog.Nop()})
	require.NoError(t, err)
	require.Zero(t, l.Fraction())
	require.Equal(t, "small", l.Progress()[0].Model)
	r, err := l.Load(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1.0, l.Fraction())
	require.Equal(t, 1.0, l.Progress()[1].Progress)
	require.NoError(t, r.Close(t.Context()))
}

// The KV caches get what the device's memory allows, the same number of tokens for each model, and no more than the
// live requests can fill.
func TestKVCapacity(t *testing.T) {
	// Per token: layers x 2 (K, V) x 2 heads x 16 numbers x 2 bytes: 128 bytes for the one-layer model, 256 for the
	// other. A page of 32 tokens on both takes 12,288 bytes; 1 MiB holds 85.
	cfg := pair(t, "")
	cfg.Devices[0].KVMemory = 1 << 20
	require.Equal(t, 85*32, capacity(t, cfg))
	// 1 live request of 2048 tokens needs 64 pages.
	cfg.Batching.MaxLive = 1
	require.Equal(t, 2048, capacity(t, cfg))
}

func capacity(t *testing.T, cfg *config.Config) int {
	t.Helper()
	l, err := NewLoader(cfg, Options{Log: zerolog.Nop()})
	require.NoError(t, err)
	r, err := l.Load(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close(t.Context())) }()
	require.Equal(t, []string{"pair", "small", "large"}, []string{r.Targets[0].Name, r.Targets[1].Name, r.Targets[2].Name})
	require.Equal(t, r.Targets[1].Capacity, r.Targets[2].Capacity)
	require.Equal(t, 2048, r.Targets[0].Context)
	require.Equal(t, 300, r.Targets[0].Vocab)
	return r.Targets[0].Capacity
}

// The models' files state a context of 2048 tokens; 32 KiB of KV memory hold 2 pages of 32 on both.
func TestKVMemoryLimitsTheContext(t *testing.T) {
	const warning = "kv_memory limits the context"
	cfg := pair(t, "server: {listen: '127.0.0.1:0'}")
	cfg.Devices[0].KVMemory = 32 << 10
	r := start(t, cfg)
	require.Contains(t, r.log.String(), `"level":"warn","model":"small","context":2048,"kv_tokens":64,"message":"`+warning)
	require.Equal(t, 2, strings.Count(r.log.String(), warning), "one for each model")
	for _, words := range []int{70, 3000} {
		status, body := r.post(t, "/v1/completions", `{"model":"pair","prompt":[1`+strings.Repeat(",1", words-1)+`]}`)
		require.Equal(t, 400, status)
		require.Contains(t, body, fmt.Sprintf(`prompt: %d prompt tokens; the memory for the KV cache limits the context of \"pair\" to 64 of 2048`, words))
	}
	r.end(t)

	r = start(t, pair(t, "server: {listen: '127.0.0.1:0'}"))
	require.NotContains(t, r.log.String(), warning)
	r.end(t)
}

// More prompts than may be answered and wait together never fit: that is said, and not to try again.
func TestMorePromptsThanEverFit(t *testing.T) {
	r := start(t, pair(t, "server: {listen: '127.0.0.1:0'}\nbatching: {max_live: 2, max_queue: 1}"))
	prompts := func(n int) string {
		return `{"model":"pair","max_tokens":1,"prompt":["a"` + strings.Repeat(`,"a"`, n-1) + `]}`
	}
	for _, n := range []int{4, 200} {
		status, body := r.post(t, "/v1/completions", prompts(n))
		require.Equal(t, 400, status)
		require.Contains(t, body, fmt.Sprintf("prompt: %d prompts; this server takes at most 3 in a request", n))
	}
	status, body := r.post(t, "/v1/completions", prompts(3))
	require.Equal(t, 200, status, body)
	r.end(t)
}

func TestExactFloatAndContext(t *testing.T) {
	cfg := pair(t, "")
	cfg.Models[0].ExactFloat, cfg.Models[1].Context = true, 64
	l, err := NewLoader(cfg, Options{Log: zerolog.Nop()})
	require.NoError(t, err)
	r, err := l.Load(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close(t.Context())) }()
	require.Equal(t, []int{64, 2048, 64}, []int{r.Targets[0].Context, r.Targets[1].Context, r.Targets[2].Context})
}
