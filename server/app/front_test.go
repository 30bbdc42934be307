package app

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/internal/tinygguf"
	"github.com/tokenrouter/tokenrouter/models"
	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/server/api"
	"github.com/tokenrouter/tokenrouter/server/config"
)

// doorOf is the front of a configuration before a handler that answers everything.
func doorOf(t *testing.T, server string) http.Handler {
	t.Helper()
	cfg := parse(t, "models: [{name: a, path: a.gguf}]\nserver: "+server)
	d, err := newDoor(cfg, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }))
	require.NoError(t, err)
	f := &front{log: zerolog.Nop()}
	f.door.Store(d)
	return f
}

func ask(h http.Handler, method, path string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, http.NoBody)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestAPIKeys(t *testing.T) {
	file := filepath.Join(t.TempDir(), "keys")
	require.NoError(t, os.WriteFile(file, []byte("# of the team\n\nsecret-of-file\n"), 0o600))
	h := doorOf(t, "{api_keys: [secret-one, secret-two], api_key_file: "+file+"}")
	for _, c := range []struct {
		method, path string
		headers      []string
		want         int
	}{
		{"GET", "/v1/models", nil, 401},
		{"GET", "/v1/models", []string{"Authorization", "Bearer secret-one"}, 200},
		{"GET", "/v1/models", []string{"Authorization", "bearer  secret-two"}, 200},
		{"GET", "/v1/models", []string{"X-API-Key", "secret-of-file"}, 200},
		{"GET", "/v1/models", []string{"Authorization", "Bearer secret-on"}, 401},
		{"GET", "/v1/models", []string{"Authorization", "Bearer secret-onee"}, 401},
		{"GET", "/v1/models", []string{"Authorization", "Basic secret-one"}, 401},
		{"GET", "/v1/models", []string{"Authorization", "Bearer "}, 401},
		{"GET", "/v1/models", []string{"Authorization", "secret-one"}, 401},
		{"POST", "/v1/chat/completions", nil, 401},
		{"GET", "/metrics", nil, 401},
		{"GET", "/v1/../healthz", nil, 401},
		{"GET", "/healthz", nil, 200},
		{"HEAD", "/readyz", nil, 200},
		{"GET", "/health", nil, 200},
		{"GET", "/", nil, 200},
		{"GET", "/web/page.js", nil, 200},
		{"POST", "/", nil, 401},
	} {
		w := ask(h, c.method, c.path, c.headers...)
		require.Equal(t, c.want, w.Code, "%v", c)
		if c.want == 401 {
			require.Equal(t, "Bearer", w.Header().Get("WWW-Authenticate"))
			require.JSONEq(t, `{"error":{"message":"no valid API key was given: send one as Authorization: Bearer KEY","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`, w.Body.String())
		}
	}
	require.Equal(t, 200, ask(doorOf(t, "{}"), "GET", "/v1/models").Code, "without keys everybody is let in")
}

// asked is an engine that remembers who asked.
type asked struct {
	instant
	clients []string
}

func (a *asked) Submit(_ context.Context, r sched.Request) (api.Stream, error) {
	a.clients = append(a.clients, r.Client)
	return &nothing{}, nil
}

// Where keys are wanted, clients are told apart by them, and else by their addresses: nobody passes as several by making keys up.
func TestClients(t *testing.T) {
	m, err := models.Open(tinygguf.Temp(t, tinygguf.Options{}))
	require.NoError(t, err)
	clients := func(server string, headers ...[2]string) []string {
		e := &asked{}
		a := api.New(api.Options{Log: zerolog.Nop()})
		a.Ready([]api.Target{{Name: "m", Algorithm: "single", Models: []string{"m"}, Context: 512, Vocab: m.Tokenizer().VocabSize(), Text: textOf(m)}}, e)
		d, err := newDoor(parse(t, "models: [{name: a, path: a.gguf}]\nserver: "+server), a)
		require.NoError(t, err)
		f := &front{log: zerolog.Nop()}
		f.door.Store(d)
		for _, header := range headers {
			q := httptest.NewRequest(http.MethodPost, "/v1/completions", strings.NewReader(`{"model":"m","prompt":"a"}`))
			q.Header.Set(header[0], header[1])
			w := httptest.NewRecorder()
			f.ServeHTTP(w, q)
			require.Equal(t, 200, w.Code, w.Body.String())
		}
		return e.clients
	}
	keys := [][2]string{{"Authorization", "Bearer secret-one"}, {"X-API-Key", "secret-one"}, {"Authorization", "Bearer secret-two"}}
	who := clients("{api_keys: [secret-one, secret-two]}", keys...)
	require.Equal(t, who[0], who[1])
	require.NotEqual(t, who[1], who[2])
	for _, name := range who {
		require.NotContains(t, name, "secret")
	}
	require.Equal(t, []string{"192.0.2.1", "192.0.2.1", "192.0.2.1"}, clients("{}", keys...), "where httptest's requests come from")
}

func TestCORS(t *testing.T) {
	h := doorOf(t, "{api_keys: [secret-one], cors_origins: ['https://app.example.org']}")
	preflight := []string{"Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "authorization,content-type"}
	w := ask(h, "OPTIONS", "/v1/chat/completions", append(preflight, "Origin", "https://app.example.org")...)
	require.Equal(t, 204, w.Code, "a preflight carries no key")
	require.Equal(t, "https://app.example.org", w.Header().Get("Access-Control-Allow-Origin"))
	require.Equal(t, "authorization,content-type", w.Header().Get("Access-Control-Allow-Headers"))
	require.Contains(t, w.Header().Values("Vary"), "Origin")
	w = ask(h, "POST", "/v1/chat/completions", "Origin", "https://app.example.org")
	require.Equal(t, 401, w.Code)
	require.Equal(t, "https://app.example.org", w.Header().Get("Access-Control-Allow-Origin"), "the page may read the error")
	for _, origin := range []string{"https://evil.example.org", "http://app.example.org", "https://app.example.org.evil", "null"} {
		w = ask(h, "OPTIONS", "/v1/chat/completions", append(preflight, "Origin", origin)...)
		require.Empty(t, w.Header().Get("Access-Control-Allow-Origin"), origin)
		require.Equal(t, 403, w.Code)
	}
	require.Equal(t, "http://any:1", ask(doorOf(t, "{cors_origins: ['*']}"), "GET", "/", "Origin", "http://any:1").Header().Get("Access-Control-Allow-Origin"))
	require.Empty(t, ask(doorOf(t, "{}"), "GET", "/", "Origin", "http://any:1").Header().Get("Access-Control-Allow-Origin"))
	require.Empty(t, ask(doorOf(t, "{}"), "GET", "/").Header())
}

func TestDoorMistakes(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	for server, want := range map[string]string{
		"{api_key_file: /none}":                              "c.yaml:2:24: server.api_key_file: cannot read the API keys",
		"{api_key_file: " + write("empty", "# none\n") + "}": "holds no key",
		"{api_key_file: " + write("short", "\nabc\n") + "}":  "short:2: a key has at least 8 characters",
		"{tls: {cert: /none, key: /none}}":                   "server.tls: cannot use the certificate",
		"{tls: {cert: " + write("c", "x") + ", key: /none}}": "server.tls: cannot use the certificate",
	} {
		_, err := newDoor(parse(t, "models: [{name: a, path: a.gguf}]\nserver: "+server), http.NotFoundHandler())
		require.ErrorContains(t, err, want, server)
	}
	for server, want := range map[string]string{
		"{api_keys: [short]}":            "api_keys[0]",
		"{cors_origins: [app.example]}":  "cors_origins[0]",
		"{cors_origins: ['http://a/b']}": "cors_origins[0]",
		"{tls: {cert: a}}":               "tls",
	} {
		_, err := config.Parse("c.yaml", []byte("models: [{name: a, path: a.gguf}]\nserver: "+server))
		require.ErrorContains(t, err, want)
	}
}

// certificate writes a certificate for 127.0.0.1 and its key, and returns a client that trusts it.
func certificate(t *testing.T, dir string, serial int64) *http.Client {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		DNSNames: []string{"localhost"}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	require.NoError(t, os.WriteFile(filepath.Join(dir, "cert.pem"), cert, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "key.pem"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600))
	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(cert))
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, ServerName: "localhost"}, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}
