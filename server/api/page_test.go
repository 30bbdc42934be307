package api

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// The page is there while the models are still being loaded: it says so itself.
func TestPageIsServedFromTheStart(t *testing.T) {
	site := newSite(t, nil, nil)
	r, body := site.get(t, "/")
	require.Equal(t, http.StatusOK, r.StatusCode)
	require.Equal(t, "text/html; charset=utf-8", r.Header.Get("Content-Type"))
	require.Contains(t, r.Header.Get("Content-Security-Policy"), "default-src 'none'")
	require.Contains(t, body, `src="/web/main.js"`)

	r, _ = site.get(t, "/web/main.js")
	require.Equal(t, http.StatusOK, r.StatusCode)
	require.Equal(t, "text/javascript; charset=utf-8", r.Header.Get("Content-Type"))

	r, body = site.get(t, "/web/nothing.js")
	requireProblem(t, r, body, http.StatusNotFound, "", "not_found", "there is nothing at /web/nothing.js")
	r, body = site.post(t, "/", "{}")
	requireProblem(t, r, body, http.StatusMethodNotAllowed, "", "method_not_allowed", "POST is not allowed at /")
}
