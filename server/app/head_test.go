package app

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/internal/tinygguf"
	"github.com/tokenrouter/tokenrouter/server/config"
)

// headed is a pair of tiny models with these routes.
func headed(t *testing.T, routes string) *config.Config {
	t.Helper()
	return parse(t, fmt.Sprintf(`
models:
  - {name: small, path: %s}
  - {name: large, path: %s}
routes:
%s
devices:
  - {name: cpu, threads: 2, kv_memory: 8MiB}
server: {listen: '127.0.0.1:0'}
`, tinygguf.Temp(t, tinygguf.Options{Seed: 1, Layers: 1, Name: "one"}), tinygguf.Temp(t, tinygguf.Options{Seed: 2, Name: "two"}), routes))
}

// constant is a head that gives every row the score 0, the probability a half.
func constant(t *testing.T, algorithm string, threshold float32) string {
	return tinygguf.TempHead(t, tinygguf.Head{Weight: make([]float32, 64), Threshold: threshold, Algorithm: algorithm})
}

// Learned routes over HTTP. The head says a half everywhere, so the thresholds decide: the recommended one, the route's, and the
// request's, in rising order.
func TestServeWithHeads(t *testing.T) {
	low, residual := constant(t, "", 0.25), tinygguf.TempResidualHead(t, tinygguf.ResidualHead{Threshold: 0.5})
	cfg := headed(t, fmt.Sprintf(`
  - {name: citer, algorithm: citer, models: [small, large], head: %[1]s}
  - {name: sure, algorithm: citer, models: [small, large], head: %[1]s, threshold: 0.75}
  - {name: co-llm, algorithm: co-llm, models: [small, large], head: %[1]s}
  - {name: r2r, algorithm: r2r, models: [small, large], head: %[2]s}
`, low, residual))
	r := start(t, cfg)
	require.Len(t, r.runtime.devices, 1)
	require.Len(t, r.runtime.devices[0].models[0].heads, 2, "each file once")
	require.Empty(t, r.runtime.devices[0].models[1].heads)
	require.Equal(t, 2, strings.Count(r.log.String(), `"message":"router head loaded"`))
	prints := map[string]bool{}
	for _, target := range r.runtime.Targets {
		prints[target.Fingerprint] = true
	}
	require.Len(t, prints, 6)

	ask := func(route, routing string) map[string]int {
		status, body := r.post(t, "/v1/chat/completions", `{"model":"`+route+`",`+question+`,"routing":{`+routing+`}}`)
		require.Equal(t, 200, status, body)
		var a struct {
			Routing struct{ Tokens map[string]int }
		}
		require.NoError(t, json.Unmarshal([]byte(body), &a))
		return a.Routing.Tokens
	}
	small, large := map[string]int{"small": 40, "large": 0}, map[string]int{"small": 0, "large": 40}
	require.Equal(t, small, ask("citer", ""), "sure of a half, where the head recommends a quarter")
	require.Equal(t, large, ask("citer", `"threshold":0.51`))
	require.Equal(t, large, ask("sure", ""))
	require.Equal(t, small, ask("sure", `"threshold":0.5`))
	require.Equal(t, large, ask("co-llm", ""), "a half is above the quarter")
	require.Equal(t, small, ask("co-llm", `"threshold":0.5`))
	require.Equal(t, large, ask("r2r", `"threshold":0`))
	mixed := ask("r2r", "")
	require.Equal(t, 40, mixed["small"]+mixed["large"])

	// Heads come and go with their model.
	status, body := r.post(t, "/v1/models/small/unload", "")
	require.Equal(t, 200, status, body)
	require.Nil(t, r.runtime.devices[0].models[0].heads)
	require.Equal(t, mixed, ask("r2r", ""))
	require.Equal(t, small, ask("citer", ""))
	require.Len(t, r.runtime.devices[0].models[0].heads, 2)

	status, body = r.post(t, "/v1/chat/completions", `{"model":"r2r",`+question+`,"routing":{"algorithm":"citer"}}`)
	require.Equal(t, 400, status, body)
	require.Contains(t, body, "was made for algorithm")
	r.end(t)
}

func TestHeadsThatDoNotFit(t *testing.T) {
	wide := tinygguf.TempHead(t, tinygguf.Head{Weight: make([]float32, 96)})
	for want, route := range map[string]string{
		`algorithm "citer" needs a router head for model "small": give its file (head: FILE.gguf)`:                `algorithm: citer`,
		`algorithm "r-stitch" needs no router head: leave the head out`:                                           `algorithm: r-stitch, head: ` + constant(t, "", 0.5),
		`algorithm "r2r" with strategy "entropy" needs no router head`:                                            `algorithm: r2r, strategy: entropy, head: ` + constant(t, "", 0.5),
		`was made for algorithm "citer", whose scores mean something else to "co-llm"`:                            `algorithm: co-llm, head: ` + constant(t, "citer", 0.5),
		wide + ` reads hidden states of 96 values, those of model "small" have 64: it was made for another model`: `algorithm: citer, head: ` + wide,
		`no such file or directory`:                          `algorithm: citer, head: ` + filepath.Join(t.TempDir(), "none.gguf"),
		`is of architecture "qwen2", expected "router-head"`: `algorithm: citer, head: ` + tinygguf.Temp(t, tinygguf.Options{}),
	} {
		_, err := NewLoader(headed(t, "  - {name: r, models: [small, large], "+route+"}"), Options{})
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "routes[0].head")
		require.ErrorContains(t, err, `route "r"`)
	}
}

// What only loading shows is an error with its place, and everything is freed: the device could not be closed otherwise.
func TestBrokenHeadFreesAll(t *testing.T) {
	whole := constant(t, "", 0.5)
	broken := tinygguf.TempHead(t, tinygguf.Head{Weight: make([]float32, 64), Extra: "stray.weight"})
	l, err := NewLoader(headed(t, fmt.Sprintf(`
  - {name: a, models: [small, large], algorithm: citer, head: %s}
  - {name: b, models: [small, large], algorithm: citer, head: %s}`, whole, broken)), Options{})
	require.NoError(t, err)
	_, err = l.Load(context.Background())
	require.ErrorContains(t, err, "routes[1].head")
	require.ErrorContains(t, err, "stray.weight")
	require.NotContains(t, err.Error(), "close")
}
