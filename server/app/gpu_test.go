package app

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/internal/fakegpu"
	"github.com/tokenrouter/tokenrouter/internal/lockedbuf"
	"github.com/tokenrouter/tokenrouter/internal/tinygguf"
	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/server/config"
)

// gpu makes a machine with a GPU, which in truth is the processor.
func gpu(t *testing.T) *fakegpu.Machine {
	t.Helper()
	d, err := sched.OpenNativeDevice(sched.NativeOptions{Threads: 2})
	require.NoError(t, err)
	path := d.LibraryPath()
	require.NoError(t, d.Close())
	return fakegpu.New(t, path, "../../native/include")
}

// mixed is a configuration with the small model on the processor and the large one on a GPU.
func mixed(t *testing.T, more string) *config.Config {
	t.Helper()
	return parse(t, fmt.Sprintf(`
models:
  - {name: small, path: %s}
  - {name: large, path: %s, device: cuda}
routes:
  - {name: pair, algorithm: random, models: [small, large], threshold: 0.5%s
devices:
  - {name: cpu, threads: 2, kv_memory: 8MiB}
batching: {max_live: 4}
server: {listen: "127.0.0.1:0"}
`, tinygguf.Temp(t, tinygguf.Options{Seed: 1, Layers: 1}), tinygguf.Temp(t, tinygguf.Options{Seed: 2}), more))
}

// load brings a configuration up. The caller closes what it returns.
func loadGPU(t *testing.T, cfg *config.Config, log *lockedbuf.Buffer) (*Runtime, error) {
	t.Helper()
	l, err := NewLoader(cfg, Options{Log: zerolog.New(log)})
	require.NoError(t, err)
	return l.Load(t.Context())
}

func TestModelsOnTwoKindsOfDevices(t *testing.T) {
	m := gpu(t)
	var log lockedbuf.Buffer
	r, err := loadGPU(t, mixed(t, "}"), &log)
	require.NoError(t, err)
	s, err := r.Engine.Submit(t.Context(), sched.Request{Target: "pair", Prompt: []int32{1, 2, 3}, MaxTokens: 20, IgnoreEnd: true})
	require.NoError(t, err)
	for {
		e, err := s.Next(t.Context())
		require.NoError(t, err)
		require.NoError(t, e.Err)
		if e.Finish != "" {
			break
		}
	}
	require.Positive(t, s.Summary().Tokens["small"])
	require.Positive(t, s.Summary().Tokens["large"])
	models := r.Engine.Snapshot().Models
	require.Nil(t, models[0].Graphs, "the processor records no steps")
	require.NotNil(t, models[1].Graphs)
	require.Equal(t, uint64(1), models[1].Graphs.Misses)
	require.GreaterOrEqual(t, models[1].Graphs.Hits+1, models[1].Steps) // and those that were timed before
	require.NoError(t, r.Close(t.Context()))
	for _, want := range []string{
		`"device":"cuda","gpu":"Fake GPU 0","capability":"9.0","driver":"13.0","memory":"1024 MiB","free":"960 MiB","message":"GPU found"`,
		`"device":"cpu","kind":"cpu","threads":2`, `"device":"cuda","kind":"cuda","threads":2`, m.Library,
		// max_live bounds it: 4 requests of the context of 2048.
		`"device":"cuda","kv_tokens":8192,"sharing":"exclusive","models":1`,
	} {
		require.Contains(t, log.String(), want)
	}
}

func TestGPUErrors(t *testing.T) {
	m := gpu(t)
	for words, says := range map[string]string{
		"driver=crash":    `models[1].device: device "cuda": opening cuda crashed the process that tried it`,
		"open=old-driver": `models[1].device: device "cuda": the NVIDIA driver is too old for this library: it supports CUDA 13.0`,
		"load=no-memory":  `device "cuda" is out of memory: it holds nothing, and 1.0 GB of 1.1 GB were free; take smaller models or less kv_memory`,
		"arena=no-memory": `device "cuda" is out of memory: it holds large`,
		"free=100000000":  `device "cuda": out of memory: the models take 268.9 MB (large 458.0 kB)`,
	} {
		m.Control(t, words)
		var log lockedbuf.Buffer
		_, err := loadGPU(t, mixed(t, "}"), &log)
		require.ErrorContains(t, err, says, words)
	}
}

// A GPU that is lost while the server runs: requests for its models fail, with an error that says so; so do the probes; the rest goes on.
func TestLostGPU(t *testing.T) {
	m := gpu(t)
	r := start(t, mixed(t, ", on_peer_failure: continue}"))
	get := func(path string) (int, string) {
		a, err := http.Get(r.url + path)
		require.NoError(t, err)
		defer a.Body.Close()
		text, err := io.ReadAll(a.Body)
		require.NoError(t, err)
		return a.StatusCode, string(text)
	}
	ask := func(model string) (int, string) {
		return r.post(t, "/v1/completions", fmt.Sprintf(`{"model": %q, "prompt": "the sea", "max_tokens": 20, "temperature": 0}`, model))
	}
	status, _ := ask("large")
	require.Equal(t, 200, status)
	m.Control(t, "step=lost")
	status, body := ask("large")
	require.Equal(t, 503, status)
	require.Contains(t, body, `"code":"device_lost"`)
	require.Contains(t, body, "unspecified launch failure")
	status, body = ask("large")
	require.Equal(t, 503, status, "refused at the door")
	require.Contains(t, body, "cannot answer")
	status, _ = ask("small")
	require.Equal(t, 200, status)
	status, body = ask("pair")
	require.Equal(t, 200, status, "the entry goes on alone")
	require.Contains(t, body, `"lost":"large"`)
	status, body = get("/readyz")
	require.Equal(t, 503, status)
	require.Contains(t, body, `"status":"device lost","lost":[{"id":"cuda","object":"device_state","sharing":"exclusive","models":["large"],"lost":"device lost:`)
	_, body = get("/v1/routes")
	require.Regexp(t, `"graphs":\{"hits":[1-9][0-9]*,"misses":1\}`, body)
	require.Equal(t, 1, strings.Count(body, `"graphs"`), "of the model on the GPU alone")
	require.Contains(t, body, `{"id":"cpu","object":"device_state","sharing":"exclusive","models":["small"]}`)
	status, _ = get("/healthz")
	require.Equal(t, 200, status)
	r.end(t)
	require.Contains(t, r.log.String(), "the device is lost: its models fail until the server is restarted")
}

// The KV memory is shared out among the models of a GPU: as many tokens for each as what the weights leave has room for.
func TestMemoryOfAGPU(t *testing.T) {
	m := gpu(t)
	text := func(kv string) *config.Config {
		return parse(t, fmt.Sprintf(`
models:
  - {name: one, path: %s, device: cuda}
  - {name: two, path: %s, device: cuda}
devices: [{name: cuda, threads: 2%s}]
`, tinygguf.Temp(t, tinygguf.Options{Seed: 1, Layers: 1}), tinygguf.Temp(t, tinygguf.Options{Seed: 2}), kv))
	}
	memory := 1 << 30
	working := 2*workingMemory + int(spareShare*float64(memory))
	m.Control(t, fmt.Sprintf("memory=%d free=%d", memory, working+2_000_000))
	var log lockedbuf.Buffer
	r, err := loadGPU(t, text(""), &log)
	require.NoError(t, err)
	weights := 0
	for _, l := range r.devices[0].models {
		weights += int(l.native.Info().WeightBytes)
	}
	// Keys and values of a token in F16: 2 heads of 16 dimensions, in 1 layer and in 2.
	perToken := (1 + 2) * 2 * 32 * 2
	want := (2_000_000 - weights) / perToken / sched.NativePageTokens * sched.NativePageTokens
	require.Equal(t, want, r.devices[0].tokens)
	for _, target := range r.Targets {
		require.Equal(t, want, target.Capacity)
	}
	require.NoError(t, r.Close(t.Context()))

	_, err = loadGPU(t, text(", kv_memory: 3MB"), &log)
	require.ErrorContains(t, err, fmt.Sprintf("kv_memory is 3000000B, and the weights leave %.1f MB", float64(2_000_000-weights)/1e6))
	require.ErrorContains(t, err, "kv_memory: auto takes those")
	m.Control(t, fmt.Sprintf("memory=%d free=%d", memory, working+weights+3000))
	_, err = loadGPU(t, text(""), &log)
	require.ErrorContains(t, err, `device "cuda" is out of memory: the weights leave 3.0 kB`)
	m.Control(t, fmt.Sprintf("memory=%d free=%d", memory, working-100_000_000))
	_, err = loadGPU(t, text(""), &log)
	require.ErrorContains(t, err, "there is room for one; take smaller ones")
}
