package exactness

import (
	"context"
	"encoding/json"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/models"
	"github.com/tokenrouter/tokenrouter/models/tokenizer"
	"github.com/tokenrouter/tokenrouter/server/app"
	"github.com/tokenrouter/tokenrouter/server/config"
	"github.com/tokenrouter/tokenrouter/tests/internal/realmodels"
)

// pair is the two files and what the test must know of them.
type pair struct {
	small, large string
	endIDs       []int32 // the union over both
}

func findPair(t *testing.T) pair {
	t.Helper()
	p := pair{small: realmodels.Path(t, realmodels.Small), large: realmodels.Path(t, realmodels.Large)}
	for _, path := range []string{p.small, p.large} {
		m, err := models.Open(path)
		require.NoError(t, err)
		p.endIDs = append(p.endIDs, m.EndIDs()...)
	}
	return p
}

// tokenized reads the prompts as the pair's tokens.
func tokenized(t *testing.T, p pair) [][]int32 {
	t.Helper()
	m, err := models.Open(p.small)
	require.NoError(t, err)
	var prompts [][]int32
	for _, text := range readPrompts(t) {
		prompts = append(prompts, m.Tokenizer().Encode(text, tokenizer.Options{ParseSpecial: true}))
	}
	return prompts
}

const routeName = "routed"

// site is a running server, as the serve command runs it.
type site struct {
	url     string
	journal *journal
	stop    context.CancelFunc
	ended   chan error
}

// serve starts a server on the pair and waits until it is ready.
func serve(t *testing.T, p pair, batching, chunk int) *site {
	t.Helper()
	policy := map[string]any{"policy": "eager", "prefill_chunk": chunk}
	if batching > 1 {
		policy["policy"] = "lazy"
		policy["threshold"] = map[string]int{realmodels.Small: batching, realmodels.Large: batching}
		policy["max_wait"] = "5s" // long, so that it is the threshold that decides
	}
	text, err := json.Marshal(map[string]any{
		"models": []any{
			map[string]any{"name": realmodels.Small, "path": p.small, "context": 1024},
			map[string]any{"name": realmodels.Large, "path": p.large, "context": 1024},
		},
		"routes": []any{map[string]any{
			"name": routeName, "algorithm": "r-stitch", "models": []string{realmodels.Small, realmodels.Large}, "threshold": threshold,
		}},
		"devices":  []any{map[string]any{"name": "cpu", "kv_memory": "768MiB"}},
		"batching": policy,
		"server":   map[string]any{"listen": "127.0.0.1:0"},
	})
	require.NoError(t, err)
	cfg, err := config.Parse(filepath.Join(t.TempDir(), "exactness.yaml"), text) // JSON is YAML
	require.NoError(t, err)

	ctx, cancel := context.WithCancel(context.Background())
	s := &site{journal: &journal{}, stop: cancel, ended: make(chan error, 1)}
	s.journal.reset()
	ready := make(chan struct{})
	options := app.Options{
		Log: zerolog.Nop(), Version: "test", Observer: s.journal.observer(),
		Listening: func(address string) { s.url = "http://" + address },
		Ready:     func(*app.Runtime) { close(ready) },
	}
	go func() { s.ended <- app.Serve(ctx, cfg, options) }()
	select {
	case <-ready:
	case err := <-s.ended:
		cancel()
		require.NoError(t, err)
		t.Fatal("the server ended before it was ready")
	}
	return s
}

// close stops the server and checks that it ended well.
func (s *site) close(t *testing.T) {
	t.Helper()
	http.DefaultClient.CloseIdleConnections()
	s.stop()
	select {
	case err := <-s.ended:
		require.NoError(t, err)
	case <-time.After(time.Minute):
		t.Fatal("the server did not end")
	}
}
