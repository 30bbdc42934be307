package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/server/app"
	"github.com/tokenrouter/tokenrouter/server/config"
)

// site is a running server, as `serve --demo` runs it.
type site struct {
	url   string
	stop  context.CancelFunc
	ended chan error
}

func serve(t *testing.T) *site {
	t.Helper()
	cfg, err := config.Demo()
	require.NoError(t, err)
	cfg.Server.Listen = "127.0.0.1:0"
	cfg.Devices[0].KVMemory = 32 << 20
	ctx, cancel := context.WithCancel(context.Background())
	s := &site{stop: cancel, ended: make(chan error, 1)}
	ready := make(chan struct{})
	go func() {
		s.ended <- app.Serve(ctx, cfg, app.Options{
			Log: zerolog.Nop(), Version: "test",
			Listening: func(address string) { s.url = "http://" + address },
			Ready:     func(*app.Runtime) { close(ready) },
		})
	}()
	select {
	case <-ready:
	case err := <-s.ended:
		cancel()
		require.NoError(t, err)
		t.Fatal("the server ended before it was ready")
	}
	return s
}

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

// ask sends one request and returns the tokens of its answer.
func (s *site) ask(a ask) ([]token, error) {
	routing := map[string]any{"trace": true}
	set := func(key string, value any, given bool) {
		if given {
			routing[key] = value
		}
	}
	set("algorithm", a.algorithm, a.algorithm != "")
	set("strategy", a.params.Strategy, a.params.Strategy != "")
	set("threshold", a.params.Threshold, a.params.Threshold != nil)
	set("weights", a.params.Weights, a.params.Weights != nil)
	body, err := json.Marshal(map[string]any{
		"model": a.target, "prompt": a.prompt, "max_tokens": newTokens, "temperature": a.temperature, "seed": a.seed, "routing": routing,
	})
	if err != nil {
		return nil, err
	}
	response, err := http.Post(s.url+"/v1/completions", "application/json", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %d: %s", response.StatusCode, text)
	}
	var c struct {
		Routing struct {
			Trace []token
		}
	}
	err = json.Unmarshal(text, &c)
	return c.Routing.Trace, err
}
