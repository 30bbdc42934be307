package app

import (
	"bufio"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/rs/zerolog"

	"github.com/tokenrouter/tokenrouter/server/api"
	"github.com/tokenrouter/tokenrouter/server/config"
	"github.com/tokenrouter/tokenrouter/server/openai"
)

// front stands before the API: who is let in, and which web pages may ask. What it does can be changed while it serves.
type front struct {
	log      zerolog.Logger
	door     atomic.Pointer[door]
	requests inflight
}

// door is how a front works; never changed in place.
type door struct {
	next    http.Handler
	keys    [][sha256.Size]byte // digests, so that comparing takes the same time whatever their lengths
	origins []string
	cert    *tls.Certificate // nil: plain HTTP
}

// newDoor reads what the configuration names.
func newDoor(cfg *config.Config, next http.Handler) (*door, error) {
	d := &door{next: next, origins: cfg.Server.CORSOrigins}
	keys := slices.Clone(cfg.Server.APIKeys)
	if path := cfg.Server.APIKeyFile; path != "" {
		more, err := readKeys(path)
		if err != nil {
			return nil, cfg.At("server.api_key_file", err)
		}
		keys = append(keys, more...)
	}
	for _, k := range keys {
		d.keys = append(d.keys, sha256.Sum256([]byte(k)))
	}
	if t := cfg.Server.TLS; t != nil {
		cert, err := tls.LoadX509KeyPair(t.Cert, t.Key)
		if err != nil {
			return nil, cfg.At("server.tls", fmt.Errorf("cannot use the certificate: %w", err))
		}
		d.cert = &cert
	}
	return d, nil
}

// CheckFiles reports what is wrong with the files of keys and certificates that a configuration names.
func CheckFiles(cfg *config.Config) error {
	_, err := newDoor(cfg, nil)
	return err
}

// minKey is the shortest key, in bytes, that is a secret and not a mistake.
const minKey = 8

func readKeys(path string) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the API keys: %w", err)
	}
	defer f.Close()
	var keys []string
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		switch key := strings.TrimSpace(lines.Text()); {
		case key == "" || strings.HasPrefix(key, "#"):
		case len(key) < minKey:
			return nil, fmt.Errorf("%s:%d: a key has at least %d characters", path, n, minKey)
		default:
			keys = append(keys, key)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("cannot read the API keys: %w", err)
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("%s holds no key; without the setting everybody is let in", path)
	}
	return keys, nil
}

// ServeHTTP implements http.Handler.
func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer f.requests.begin()()
	d := f.door.Load()
	if d.cors(w, r) {
		return
	}
	if err := d.foreign(r); err != nil {
		f.log.Warn().Str("path", r.URL.Path[:min(len(r.URL.Path), 100)]).Str("client", r.RemoteAddr).Err(err).Msg("request of a web page refused")
		turnAway(w, http.StatusForbidden, openai.CodeForbiddenOrigin, err.Error())
		return
	}
	client, admitted := d.admits(r)
	if !admitted && !public(r) {
		f.log.Warn().Str("path", r.URL.Path[:min(len(r.URL.Path), 100)]).Str("client", r.RemoteAddr).Msg("request without a valid API key refused")
		refuse(w)
		return
	}
	if client != "" {
		r = r.WithContext(api.WithClient(r.Context(), client))
	}
	d.next.ServeHTTP(w, r)
}

// certificate is what a handshake uses now.
func (f *front) certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	if cert := f.door.Load().cert; cert != nil {
		return cert, nil
	}
	return nil, errors.New("no certificate is configured any more")
}

// public reports whether a request needs no key: the probes, and the web page, which asks for one itself.
func public(r *http.Request) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	path := r.URL.Path
	return slices.Contains([]string{"/healthz", "/readyz", "/health", "/"}, path) || strings.HasPrefix(path, "/web/")
}

// admits reports whether a request carries a key, where one is wanted, and whose it is: a name made of the key's digest. Where none is
// wanted a key says nothing: anybody can make up as many as they like.
func (d *door) admits(r *http.Request) (client string, ok bool) {
	if len(d.keys) == 0 {
		return "", true
	}
	got, found := sha256.Sum256([]byte(keyOf(r))), 0
	for _, k := range d.keys { // all of them, so that the time says nothing of which one
		found |= subtle.ConstantTimeCompare(got[:], k[:])
	}
	if found == 0 {
		return "", false
	}
	return hex.EncodeToString(got[:]), true
}

// keyOf is the API key that a request gives, as Authorization: Bearer KEY or as X-API-Key: KEY; "": none.
func keyOf(r *http.Request) string {
	if scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok && strings.EqualFold(scheme, "Bearer") {
		return strings.TrimSpace(token)
	}
	return r.Header.Get("X-API-Key")
}

func refuse(w http.ResponseWriter) {
	w.Header().Set("WWW-Authenticate", "Bearer")
	turnAway(w, http.StatusUnauthorized, openai.CodeInvalidAPIKey, "no valid API key was given: send one as Authorization: Bearer KEY")
}

// turnAway answers a request that does not come to the API.
func turnAway(w http.ResponseWriter, status int, code, message string) {
	e := &openai.Error{Message: message, Type: openai.TypeInvalidRequest, Code: code}
	body, err := json.Marshal(e.Body())
	if err != nil {
		http.Error(w, message, status)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that has gone misses nothing
}

// cors writes what a browser wants to know before it lets a page of another origin use an answer. true: that was all.
func (d *door) cors(w http.ResponseWriter, r *http.Request) (answered bool) {
	if len(d.origins) == 0 {
		return false
	}
	h := w.Header()
	h.Add("Vary", "Origin")
	origin := r.Header.Get("Origin")
	if origin == "" || !d.trusts(origin) {
		return false
	}
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", "*, X-Request-Id")
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	h.Add("Vary", "Access-Control-Request-Headers")
	h.Set("Access-Control-Allow-Methods", "GET, POST")
	if wanted := r.Header.Get("Access-Control-Request-Headers"); wanted != "" {
		h.Set("Access-Control-Allow-Headers", wanted)
	}
	h.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
	return true
}
