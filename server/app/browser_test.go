package app

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBrowsers(t *testing.T) {
	open, listed, all := "{}", `{cors_origins: ["https://chat.example.org"]}`, `{cors_origins: ["*"]}`
	keys := "{api_keys: [secret-one]}"
	for _, c := range []struct {
		name, server, method, path, to, host, origin string
		want                                         int
	}{
		{"another program", open, "POST", "/v1/chat/completions", "127.0.0.1", "127.0.0.1:8080", "", 200},
		{"the page of the server", open, "POST", "/v1/chat/completions", "127.0.0.1", "localhost:8080", "http://localhost:8080", 200},
		{"some page, with a request that browsers send unasked", open, "POST", "/v1/chat/completions", "127.0.0.1", "localhost:8080", "https://evil.example", 403},
		{"a file, or a sandboxed frame", open, "POST", "/v1/chat/completions", "127.0.0.1", "localhost:8080", "null", 403},
		{"another port of this machine", open, "GET", "/v1/models", "127.0.0.1", "localhost:8080", "http://localhost:3000", 403},
		{"what is no origin", open, "POST", "/v1/chat/completions", "127.0.0.1", "localhost:8080", "http://[", 403},
		{"a page of the list", listed, "POST", "/v1/chat/completions", "127.0.0.1", "localhost:8080", "https://chat.example.org", 200},
		{"a page that is not in it", listed, "POST", "/v1/chat/completions", "127.0.0.1", "localhost:8080", "https://chat.example.com", 403},
		{"any page, if all may", all, "POST", "/v1/chat/completions", "127.0.0.1", "evil.example", "https://evil.example", 200},
		{"a page of another origin has no key either", keys, "POST", "/v1/chat/completions", "127.0.0.1", "localhost:8080", "https://evil.example", 403},

		{"a name made to mean this machine", open, "GET", "/", "127.0.0.1", "evil.example:8080", "", 403},
		{"the same, for the API", open, "POST", "/v1/chat/completions", "127.0.0.1", "evil.example:8080", "http://evil.example:8080", 403},
		{"by address", open, "GET", "/", "::1", "[::1]:8080", "", 200},
		{"by address without a port", open, "GET", "/", "::1", "[::1]", "", 200},
		{"a name below localhost", open, "GET", "/", "127.0.0.1", "tokens.localhost:8080", "", 200},
		{"with a dot at the end", open, "GET", "/", "127.0.0.1", "LocalHost.", "", 200},
		{"a proxy's name, listed", listed, "GET", "/", "127.0.0.1", "chat.example.org", "", 200},
		{"a proxy's name, with keys", keys, "GET", "/", "127.0.0.1", "chat.example.org", "", 200},
		{"an address of the network, under any name", open, "GET", "/", "192.0.2.1", "models.example.org", "", 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := httptest.NewRequest(c.method, c.path, http.NoBody)
			r.Host = c.host
			if c.origin != "" {
				r.Header.Set("Origin", c.origin)
			}
			r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, &net.TCPAddr{IP: net.ParseIP(c.to), Port: 8080}))
			w := httptest.NewRecorder()
			doorOf(t, c.server).ServeHTTP(w, r)
			require.Equal(t, c.want, w.Code)
			if c.want == http.StatusForbidden {
				var body struct {
					Error struct{ Code, Message string }
				}
				require.NoError(t, json.Unmarshal(w.Body.Bytes(), &body))
				require.Equal(t, "forbidden_origin", body.Error.Code)
				require.Contains(t, body.Error.Message, "server.cors_origins")
			}
		})
	}
}
