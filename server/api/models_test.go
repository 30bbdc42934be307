package api

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	pairModel  = `{"id":"pair","object":"model","created":1700000000,"owned_by":"tokenrouter","context_length":1024,"route":{"algorithm":"r-stitch","models":["small","large"],"threshold":0.5}}`
	smallModel = `{"id":"small","object":"model","created":1700000000,"owned_by":"tokenrouter","context_length":1500}`
	largeModel = `{"id":"org/large","object":"model","created":1700000000,"owned_by":"tokenrouter","context_length":1024}`
)

func TestModels(t *testing.T) {
	site := newSite(t, brief(), nil)
	r, body := site.get(t, "/v1/models")
	require.Equal(t, 200, r.StatusCode)
	require.JSONEq(t, `{"object":"list","data":[`+pairModel+`,`+smallModel+`,`+largeModel+`]}`, body)
	for path, want := range map[string]string{"pair": pairModel, "org/large": largeModel, "org%2Flarge": largeModel} {
		r, body = site.get(t, "/v1/models/"+path)
		require.Equal(t, 200, r.StatusCode, path)
		require.Equal(t, want, body)
	}
}

func TestProbes(t *testing.T) {
	loading := []Loading{{"small", 1}, {"large", 0.25}}
	site := newSite(t, nil, func(o *Options) { o.Loading = func() []Loading { return loading } })
	r, body := site.get(t, "/healthz")
	require.Equal(t, 200, r.StatusCode)
	require.JSONEq(t, `{"status":"ok"}`, body)
	r, body = site.get(t, "/readyz")
	require.Equal(t, 503, r.StatusCode)
	require.JSONEq(t, `{"status":"loading","loading":[{"model":"small","progress":1},{"model":"large","progress":0.25}]}`, body)
	require.Equal(t, "5", r.Header.Get("Retry-After"))
	r, same := site.get(t, "/health")
	require.Equal(t, 503, r.StatusCode)
	require.Equal(t, body, same)
	for _, path := range []string{"/v1/models", "/v1/models/pair"} {
		r, body = site.get(t, path)
		requireProblem(t, r, body, 503, "", "model_loading", "being loaded")
	}
	r, body = site.post(t, "/v1/chat/completions", chatBody("pair", ""))
	requireProblem(t, r, body, 503, "", "model_loading", "being loaded")
	require.Equal(t, "5", r.Header.Get("Retry-After"))

	site.api.Ready(targets(), brief())
	r, body = site.get(t, "/readyz")
	require.Equal(t, 200, r.StatusCode)
	require.JSONEq(t, `{"status":"ready"}`, body)
	r, body = site.get(t, "/health")
	require.Equal(t, 200, r.StatusCode)
	require.JSONEq(t, `{"status":"ok"}`, body)
	head, err := http.Head(site.URL + "/readyz")
	require.NoError(t, err)
	require.NoError(t, head.Body.Close())
	require.Equal(t, 200, head.StatusCode)

	site.api.Drain()
	r, body = site.get(t, "/readyz")
	require.Equal(t, 503, r.StatusCode)
	require.JSONEq(t, `{"status":"shutting down"}`, body)
	r, body = site.post(t, "/v1/chat/completions", chatBody("pair", ""))
	requireProblem(t, r, body, 503, "", "shutting_down", "the server is shutting down")
	require.Equal(t, "5", r.Header.Get("Retry-After"))
	http.DefaultClient.CloseIdleConnections()
}
