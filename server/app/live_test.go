package app

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/internal/lockedbuf"
	"github.com/tokenrouter/tokenrouter/internal/tinygguf"
	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/server/config"
)

const said = `{"model":"pair",` + question + `}`

// waitFor waits for a line of the log to be there so many times.
func (r *running) waitFor(t *testing.T, text string, times int) {
	t.Helper()
	require.Eventually(t, func() bool { return strings.Count(r.log.String(), text) >= times }, 30*time.Second, 5*time.Millisecond, "%s: %s", text, r.log)
}

func (r *running) get(t *testing.T, path string) string {
	t.Helper()
	a, err := http.Get(r.url + path)
	require.NoError(t, err)
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	require.NoError(t, err)
	return string(text)
}

// Models that nobody asks for are freed, and come back with the same answers.
func TestIdleUnload(t *testing.T) {
	r := start(t, pair(t, "server: {listen: '127.0.0.1:0', idle_unload: 100ms}"))
	status, first := r.post(t, "/v1/chat/completions", said)
	require.Equal(t, 200, status, first)
	for n := 1; n <= 2; n++ {
		r.waitFor(t, "models unloaded", n)
		require.NotContains(t, r.get(t, "/v1/routes"), `"memory"`)
		require.Contains(t, r.get(t, "/readyz"), "ready")
		require.Contains(t, r.get(t, "/metrics"), `tokenrouter_kv_pages{model="small",state="used"} 0`)
		status, again := r.post(t, "/v1/chat/completions", said)
		require.Equal(t, 200, status, again)
		require.Equal(t, content(t, first), content(t, again))
		require.Equal(t, n, strings.Count(r.log.String(), "models loaded again"))
	}
	// Several requests at a time wait for one load.
	r.waitFor(t, "models unloaded", 3)
	answers := make(chan int, 4)
	for range cap(answers) {
		go func() {
			a, err := http.Post(r.url+"/v1/chat/completions", "application/json", strings.NewReader(said))
			if err != nil {
				answers <- 0
				return
			}
			defer a.Body.Close()
			_, _ = io.Copy(io.Discard, a.Body)
			answers <- a.StatusCode
		}()
	}
	for range cap(answers) {
		require.Equal(t, 200, <-answers)
	}
	require.Equal(t, 3, strings.Count(r.log.String(), "models loaded again"))
	r.end(t)
}

// An answer that takes longer than the idle time is not cut.
func TestBusyIsNotIdle(t *testing.T) {
	r := start(t, pair(t, "server: {listen: '127.0.0.1:0', idle_unload: 20ms}"))
	for range 2 {
		rest, err := io.ReadAll(r.endless(t))
		require.NoError(t, err)
		require.True(t, strings.HasSuffix(string(rest), "data: [DONE]\n\n"))
	}
	r.waitFor(t, "models unloaded", 1)
	r.end(t) // while nothing is loaded
}

// A file that is gone when the models are wanted again is an error for the request, and the server lives on.
func TestCannotLoadAgain(t *testing.T) {
	cfg := pair(t, "server: {listen: '127.0.0.1:0', idle_unload: 50ms}")
	r := start(t, cfg)
	r.waitFor(t, "models unloaded", 1)
	path := cfg.Models[0].Path
	require.NoError(t, os.Rename(path, path+".away"))
	status, body := r.post(t, "/v1/chat/completions", said)
	require.Equal(t, 500, status)
	require.Contains(t, body, "no such file")
	require.NoError(t, os.Rename(path+".away", path))
	status, _ = r.post(t, "/v1/chat/completions", said)
	require.Equal(t, 200, status)
	r.end(t)
}

// reloadable is a server whose configuration is a file.
type reloadable struct {
	*running
	path   string
	models string
	reload chan struct{}
}

func startReloadable(t *testing.T, server string) *reloadable {
	t.Helper()
	r := &reloadable{path: filepath.Join(t.TempDir(), "c.yaml"), reload: make(chan struct{}, 1)}
	r.models = fmt.Sprintf("models:\n  - {name: small, path: %s}\n  - {name: large, path: %s}\ndevices: [{name: cpu, threads: 2, kv_memory: 8MiB}]\n",
		tinygguf.Temp(t, tinygguf.Options{Seed: 1, Layers: 1, Name: "one"}), tinygguf.Temp(t, tinygguf.Options{Seed: 2, Name: "two"}))
	r.write(t, "routes: [{name: pair, algorithm: r-stitch, models: [small, large], threshold: 0.9}]\nserver: "+server)
	cfg, err := config.Load(r.path)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	r.running = &running{log: &lockedbuf.Buffer{}, stop: cancel, ended: make(chan error, 1)}
	ready := make(chan struct{})
	go func() {
		r.ended <- Serve(ctx, cfg, Options{
			Log: zerolog.New(r.log), Listening: func(address string) { r.url = "http://" + address }, Ready: func(*Runtime) { close(ready) },
			Reload: r.reload, Configure: func() (*config.Config, error) { return config.Load(r.path) },
		})
	}()
	<-ready
	t.Cleanup(func() {
		cancel()
		http.DefaultClient.CloseIdleConnections()
	})
	return r
}

func (r *reloadable) write(t *testing.T, rest string) {
	t.Helper()
	require.NoError(t, os.WriteFile(r.path, []byte(r.models+rest), 0o600))
}

func TestReload(t *testing.T) {
	r := startReloadable(t, "{listen: '127.0.0.1:0'}")
	loads := func() int { return strings.Count(r.log.String(), `"message":"model loaded"`) }
	require.Equal(t, 2, loads())
	_, first := r.post(t, "/v1/chat/completions", said)

	// Settings of the server hold at once, without loading anything.
	r.write(t, "routes: [{name: pair, algorithm: r-stitch, models: [small, large], threshold: 0.9}]\nserver: {listen: '127.0.0.1:0', api_keys: [a-secret-key]}")
	r.reload <- struct{}{}
	r.waitFor(t, "the configuration holds", 1)
	status, _ := r.post(t, "/v1/chat/completions", said)
	require.Equal(t, 401, status)
	require.Equal(t, 2, loads())

	// Another route: a new engine, while an answer of the old one goes on to its end.
	r.write(t, "routes: [{name: pair, algorithm: r-stitch, models: [small, large], threshold: 0.9}]\nserver: {listen: '127.0.0.1:0'}")
	r.reload <- struct{}{}
	r.waitFor(t, "the configuration holds", 2)
	lines := r.endless(t)
	r.write(t, "routes: [{name: pair, algorithm: r-stitch, models: [small, large], threshold: 0.9}, {name: other, algorithm: random, models: [small, large]}]\nserver: {listen: '127.0.0.1:0'}")
	r.reload <- struct{}{}
	r.waitFor(t, "the configuration holds", 3)
	require.Equal(t, 4, loads())
	require.Contains(t, r.get(t, "/v1/models"), `"id":"other"`)
	_, second := r.post(t, "/v1/chat/completions", said)
	require.Equal(t, content(t, first), content(t, second))
	rest, err := io.ReadAll(lines)
	require.NoError(t, err)
	require.True(t, strings.HasSuffix(string(rest), "data: [DONE]\n\n"), "the old engine ends its answers")

	// Mistakes change nothing.
	for n, text := range []string{"server: {listn: x}", "routes: [{name: pair, algorithm: none, models: [small, large]}]", "server: {listen: '127.0.0.1:0', api_key_file: none}"} {
		r.write(t, text)
		r.reload <- struct{}{}
		r.waitFor(t, "everything stays as it was", n+1)
		status, _ = r.post(t, "/v1/chat/completions", said)
		require.Equal(t, 200, status)
	}
	// What needs a restart is said.
	r.write(t, "server: {listen: '127.0.0.1:1', log_level: debug}")
	r.reload <- struct{}{}
	r.waitFor(t, `"setting":"server.listen","message":"a change of this setting needs a restart`, 1)
	r.waitFor(t, "the configuration holds", 4)
	require.NotContains(t, r.get(t, "/v1/models"), `"id":"pair"`)
	r.end(t)
}

// A certificate that was renewed is used from the next connection on.
func TestTLS(t *testing.T) {
	dir := t.TempDir()
	client := certificate(t, dir, 1)
	r := startReloadable(t, "{listen: '127.0.0.1:0', tls: {cert: "+dir+"/cert.pem, key: "+dir+"/key.pem}}")
	url := strings.Replace(r.url, "http:", "https:", 1)
	require.Contains(t, r.log.String(), `"address":"https://127.0.0.1:`)
	a, err := client.Get(url + "/readyz")
	require.NoError(t, err)
	require.NoError(t, a.Body.Close())
	require.Equal(t, 2, a.ProtoMajor)
	require.EqualValues(t, 1, a.TLS.PeerCertificates[0].SerialNumber.Int64())

	client = certificate(t, dir, 2)
	r.reload <- struct{}{}
	r.waitFor(t, "the configuration holds", 1)
	a, err = client.Get(url + "/readyz")
	require.NoError(t, err)
	require.NoError(t, a.Body.Close())
	require.EqualValues(t, 2, a.TLS.PeerCertificates[0].SerialNumber.Int64())

	r.write(t, "server: {listen: '127.0.0.1:0'}")
	r.reload <- struct{}{}
	r.waitFor(t, "to begin or to end with HTTPS needs a restart", 1)
	r.end(t)
}

// A single model is unloaded while the others answer, and comes back when it is asked for, with the same answers.
func TestUnloadOne(t *testing.T) {
	r := start(t, pair(t, "server: {listen: '127.0.0.1:0'}"))
	act := func(what string) (int, string) { return r.post(t, "/v1/models/"+what, "") }
	status, first := r.post(t, "/v1/chat/completions", said)
	require.Equal(t, 200, status, first)
	alone := func(model string) string {
		status, body := r.post(t, "/v1/chat/completions", `{"model":"`+model+`",`+question+`}`)
		require.Equal(t, 200, status, body)
		return content(t, body)
	}
	large, small := alone("large"), alone("small")
	const used, freed = `tokenrouter_kv_pages{model="large",state="free"} `, `tokenrouter_kv_pages{model="large",state="free"} 0`
	require.NotContains(t, r.get(t, "/metrics"), freed)

	for range 2 { // the second time there is nothing to do
		status, body := act("large/unload")
		require.Equal(t, 200, status, body)
		require.JSONEq(t, `{"id":"large","object":"model","loaded":false,"memory":null}`, body)
	}
	require.Equal(t, 1, strings.Count(r.log.String(), "model unloaded"))
	require.Equal(t, 1, strings.Count(r.get(t, "/v1/routes"), `"memory"`), "that of the other model")
	require.Contains(t, r.get(t, "/metrics"), used)
	require.Contains(t, r.get(t, "/metrics"), freed)
	require.Contains(t, r.get(t, "/readyz"), "ready")
	require.Equal(t, small, alone("small"))
	require.Equal(t, 0, strings.Count(r.log.String(), "model loaded again"), "the small one answers without the large one")

	status, again := r.post(t, "/v1/chat/completions", said) // what was in its KV cache is not counted on
	require.Equal(t, 200, status, again)
	require.Equal(t, content(t, first), content(t, again))
	require.Equal(t, 1, strings.Count(r.log.String(), "model loaded again"))
	require.Equal(t, 2, strings.Count(r.get(t, "/v1/routes"), `"memory"`))
	require.Equal(t, large, alone("large"))

	status, _ = act("small/unload")
	require.Equal(t, 200, status)
	for range 2 {
		status, body := act("small/load")
		require.Equal(t, 200, status)
		require.Contains(t, body, `"loaded":true,"memory":{"weights":`)
	}
	require.Equal(t, 2, strings.Count(r.log.String(), "model loaded again"))
	require.Equal(t, small, alone("small"))

	for path, want := range map[string]string{"none/load": `there is no \"none\"`, "pair/unload": `\"pair\" is a route: load and unload its models, small, large`} {
		_, body := act(path)
		require.Contains(t, body, want)
	}
	// Whoever is being answered is not disturbed.
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var answers []*sched.Stream
	for range 40 { // more than are answered while this goes on
		s, err := r.runtime.Engine.Submit(ctx, sched.Request{Target: "pair", Prompt: []int32{5, 6}, IgnoreEnd: true})
		require.NoError(t, err)
		answers = append(answers, s)
	}
	for _, model := range []string{"small", "large"} {
		status, body := act(model + "/unload")
		require.Equal(t, 409, status)
		require.Contains(t, body, `requests that may come to \"`+model+`\" are being answered or wait; try again when they have ended`)
	}
	cancel()
	for _, s := range answers {
		for {
			if _, err := s.Next(context.Background()); err != nil {
				break
			}
		}
	}
	require.Eventually(t, func() bool {
		status, _ := act("large/unload")
		return status == 200
	}, time.Minute, 10*time.Millisecond)
	r.end(t) // with one of them away
}

// Of a model whose file was replaced nothing is loaded in its place; others go on.
func TestLoadsWhatWasUnloaded(t *testing.T) {
	cfg := pair(t, "server: {listen: '127.0.0.1:0'}")
	r := start(t, cfg)
	status, _ := r.post(t, "/v1/models/large/unload", "")
	require.Equal(t, 200, status)
	path := cfg.Models[1].Path
	require.NoError(t, os.Rename(path, path+".away"))
	status, body := r.post(t, "/v1/models/large/load", "")
	require.Equal(t, 500, status)
	require.Contains(t, body, "No such file")
	other, err := os.ReadFile(cfg.Models[0].Path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, other, 0o600))
	status, body = r.post(t, "/v1/chat/completions", said)
	require.Equal(t, 500, status)
	require.Contains(t, body, "is another file than it was")
	status, _ = r.post(t, "/v1/chat/completions", `{"model":"small",`+question+`}`)
	require.Equal(t, 200, status)
	require.NoError(t, os.Rename(path+".away", path))
	status, _ = r.post(t, "/v1/chat/completions", said)
	require.Equal(t, 200, status)
	r.end(t)
}
