package app

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/internal/tinygguf"
	"github.com/tokenrouter/tokenrouter/models/gguf"
	"github.com/tokenrouter/tokenrouter/server/config"
)

// broken is a model that loads and fails at every row: the scale of its last norm makes every logit overflow.
func broken(t *testing.T) string {
	t.Helper()
	path := tinygguf.Temp(t, tinygguf.Options{Seed: 2, Name: "two"})
	f, err := gguf.Open(path)
	require.NoError(t, err)
	i := slices.IndexFunc(f.Tensors, func(t gguf.Tensor) bool { return t.Name == "output_norm.weight" })
	require.GreaterOrEqual(t, i, 0)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	at := f.Tensors[i]
	for n := range at.Size / 4 {
		binary.LittleEndian.PutUint32(text[at.Offset+4*n:], math.Float32bits(3e38))
	}
	out := filepath.Join(t.TempDir(), "broken.gguf")
	require.NoError(t, os.WriteFile(out, text, 0o600))
	return out
}

func brokenPair(t *testing.T, policy string) *config.Config {
	t.Helper()
	return parse(t, fmt.Sprintf(`
models:
  - {name: small, path: %s}
  - {name: large, path: %s}
routes:
  - {name: pair, algorithm: r-stitch, models: [small, large], threshold: 0.9%s}
devices:
  - {name: cpu, threads: 2, kv_memory: 8MiB}
server: {listen: '127.0.0.1:0'}
`, tinygguf.Temp(t, tinygguf.Options{Seed: 1, Layers: 1, Name: "one"}), broken(t), policy))
}

const unsure = `"routing":{"threshold":0.001},` + question

func TestPeerFailureEndsTheAnswer(t *testing.T) {
	r := start(t, brokenPair(t, ""))
	status, body := r.post(t, "/v1/chat/completions", `{"model":"pair",`+unsure+`}`)
	require.Equal(t, 500, status, body)
	require.Contains(t, body, `model \"large\"`)
	r.end(t)
}

// The entry goes on alone: it writes what it writes alone, and the response says which model was lost.
func TestPeerFailureContinues(t *testing.T) {
	r := start(t, brokenPair(t, ", on_peer_failure: continue"))
	status, alone := r.post(t, "/v1/chat/completions", `{"model":"small",`+question+`}`)
	require.Equal(t, 200, status, alone)
	status, body := r.post(t, "/v1/chat/completions", `{"model":"pair",`+unsure+`}`)
	require.Equal(t, 200, status, body)
	require.Equal(t, content(t, alone), content(t, body))
	var answer struct {
		Usage   struct{ PromptTokens, CompletionTokens int }
		Routing struct {
			Lost   string
			Tokens map[string]int
		}
	}
	require.NoError(t, json.Unmarshal(bytes.ReplaceAll([]byte(body), []byte("_tokens"), []byte("Tokens")), &answer))
	require.Equal(t, "large", answer.Routing.Lost)
	require.Equal(t, map[string]int{"small": 40, "large": 0}, answer.Routing.Tokens)
	require.Equal(t, 40, answer.Usage.CompletionTokens)

	// In a stream, too: the text is the same, and no piece of it comes twice.
	status, body = r.post(t, "/v1/chat/completions", `{"model":"pair","stream":true,`+unsure+`}`)
	require.Equal(t, 200, status)
	require.True(t, strings.HasSuffix(body, "data: [DONE]\n\n"), body)
	require.Contains(t, body, `"lost":"large"`)
	var text strings.Builder
	for line := range strings.Lines(body) {
		var chunk struct {
			Choices []struct{ Delta struct{ Content string } }
		}
		if data, ok := strings.CutPrefix(line, "data: {"); ok && json.Unmarshal([]byte("{"+data), &chunk) == nil && len(chunk.Choices) > 0 {
			text.WriteString(chunk.Choices[0].Delta.Content)
		}
	}
	require.Equal(t, content(t, alone), text.String())

	// The entry's own failure, and that of the model asked alone, are failures.
	status, body = r.post(t, "/v1/chat/completions", `{"model":"large",`+question+`}`)
	require.Equal(t, 500, status, body)
	require.Contains(t, r.log.String(), "the entry of the route goes on alone")
	r.end(t)
}
