package fetch

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Lengths that are not true.
func TestLies(t *testing.T) {
	file := content(9, 50_000)
	raw := func(head string, body []byte) func(int, http.ResponseWriter, *http.Request) {
		return func(_ int, w http.ResponseWriter, _ *http.Request) {
			conn, out, err := http.NewResponseController(w).Hijack()
			if err != nil {
				return
			}
			defer conn.Close()
			_, _ = out.WriteString(head)
			_, _ = out.Write(body)
			_ = out.Flush()
		}
	}
	for _, c := range []struct {
		name   string
		handle func(int, http.ResponseWriter, *http.Request)
		r      Request
		want   error
		text   string
	}{
		{"less comes than is said", raw("HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n", file), Request{}, nil, "was cut after 50000 of 60000 bytes"},
		{"another length than asked for", raw("HTTP/1.1 200 OK\r\nContent-Length: 50000\r\n\r\n", file), Request{Bytes: 49_999}, ErrOther, "has 50000 bytes, expected 49999"},
		{"no length, and too much", raw("HTTP/1.1 200 OK\r\n\r\n", file), Request{Bytes: 40_000}, nil, "sends more than the 40000 bytes"},
		{"no length, and too little", raw("HTTP/1.1 200 OK\r\n\r\n", file), Request{Bytes: 60_000}, nil, "cut after 50000 of 60000"},
		{"a negative length", raw("HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", file), Request{}, nil, "cannot reach the host"},
		{"an encoding", raw("HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 50000\r\n\r\n", file), Request{}, nil, "encoded as br"},
		{"another checksum than said", raw("HTTP/1.1 200 OK\r\nX-Linked-ETag: \""+sumOf([]byte("x"))+"\"\r\nContent-Length: 50000\r\n\r\n", file), Request{}, ErrChecksum, "the host says " + sumOf([]byte("x"))},
		{"another checksum than asked for", raw("HTTP/1.1 200 OK\r\nContent-Length: 50000\r\n\r\n", file), Request{SHA256: sumOf([]byte("x"))}, ErrChecksum, "the record says"},
		{"another checksum is said than asked for", raw("HTTP/1.1 200 OK\r\nX-Checksum-Sha256: "+sumOf(file)+"\r\nContent-Length: 50000\r\n\r\n", file), Request{SHA256: sumOf([]byte("x"))}, ErrOther, "by the host's account"},
		{"a page in place of the file", raw("HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n", []byte("<html>hi</html>")), Request{Magic: "GGUF"}, ErrOther, "sign in"},
		{"an empty file", raw("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", nil), Request{Check: func(string) error { return errors.New("no GGUF file") }}, nil, "no GGUF file"},
		{"not what it should be", raw("HTTP/1.1 200 OK\r\nContent-Length: 50000\r\n\r\n", file), Request{Check: func(string) error { return errors.New("no tensors") }}, nil, "not what it should be, and was removed: no tensors"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHost(t, c.handle)
			f := quick(t)
			f.Attempts = 2
			c.r.URL, c.r.To = h.URL, target(t)
			_, err := f.File(t.Context(), c.r)
			require.ErrorContains(t, err, c.text)
			if c.want != nil {
				require.ErrorIs(t, err, c.want)
			}
			require.NoFileExists(t, c.r.To)
		})
	}
}

// Without any length, the end of the connection is the end of the file.
func TestNoLength(t *testing.T) {
	file := content(10, 100_000)
	h := newHost(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(file); i += 10_000 {
			_, _ = w.Write(file[i : i+10_000])
			_ = http.NewResponseController(w).Flush()
		}
	})
	got, err := quick(t).File(t.Context(), Request{URL: h.URL, To: target(t), Magic: "GGUF"})
	require.NoError(t, err)
	require.Equal(t, sumOf(file), got.SHA256)
}

func TestChecksumsOfTheHost(t *testing.T) {
	file := content(11, 1000)
	sum := sha256.Sum256(file)
	in64 := base64.StdEncoding.EncodeToString(sum[:])
	for name, value := range map[string]string{
		"X-Linked-ETag": `"` + sumOf(file) + `"`, "X-Checksum-Sha256": strings.ToUpper(sumOf(file)), "Repr-Digest": "sha-512=:AAAA:, sha-256=:" + in64 + ":", "Digest": "SHA-256=" + in64,
	} {
		h := newHost(t, func(_ int, w http.ResponseWriter, r *http.Request) {
			w.Header().Set(name, value)
			serve(w, r, file, `"a"`, len(file))
		})
		got, err := quick(t).File(t.Context(), Request{URL: h.URL, To: target(t)})
		require.NoError(t, err)
		require.Equal(t, Host, got.Proof, name)
	}
}

// A hub redirects to the store of its files: the checksum that it states is used, its token stays with it.
func TestRedirect(t *testing.T) {
	file := content(12, 1000)
	store := newHost(t, func(_ int, w http.ResponseWriter, r *http.Request) { serve(w, r, file, `"a"`, len(file)) })
	h := newHost(t, func(_ int, w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/here" {
			serve(w, r, file, `"a"`, len(file))
			return
		}
		w.Header().Set("X-Linked-ETag", `"`+sumOf(file)+`"`)
		http.Redirect(w, r, map[string]string{"/": store.URL, "/near": "/here"}[r.URL.Path], http.StatusFound)
	})
	got, err := quick(t).File(t.Context(), Request{URL: h.URL + "/", To: target(t), Token: "secret"})
	require.NoError(t, err)
	require.Equal(t, Host, got.Proof)
	require.Equal(t, "Bearer secret", h.seen()[0].Get("Authorization"))
	require.Empty(t, store.seen()[0].Get("Authorization"))

	_, err = quick(t).File(t.Context(), Request{URL: h.URL + "/near", To: target(t), Token: "secret"})
	require.NoError(t, err)
	require.Equal(t, "Bearer secret", h.seen()[2].Get("Authorization"), "the same host gets it")
}

func TestRedirectsThatAreNotFollowed(t *testing.T) {
	for _, c := range []struct {
		to, want string
		requests int
	}{
		{"/", "the redirect is not followed: more than 10 of them", 10},
		{"ftp://example.org/m.gguf", "the redirect is not followed: to ftp, want http or https", 1},
	} {
		h := newHost(t, func(_ int, w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, c.to, http.StatusFound) })
		f := quick(t)
		f.Attempts = 3 // but another try would be led there, too
		_, err := f.File(t.Context(), Request{URL: h.URL, To: target(t)})
		require.ErrorContains(t, err, c.want)
		require.Len(t, h.seen(), c.requests, c.to)
	}

	secure := httptest.NewTLSServer(http.RedirectHandler("http://127.0.0.1:1", http.StatusFound))
	defer secure.Close()
	f := quick(t)
	f.Transport = secure.Client().Transport
	_, err := f.File(t.Context(), Request{URL: secure.URL, To: target(t)})
	require.ErrorContains(t, err, "the redirect is not followed: from https to http, which anybody could change")
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		status, requests int
		want             error
		text             string
	}{
		{404, 1, ErrNotFound, "404 Not Found"},
		{410, 1, ErrNotFound, "410"},
		{401, 1, ErrDenied, "401"},
		{403, 1, ErrDenied, `403 Forbidden: "accept the licence first"`},
		{400, 1, nil, "400"},
		{416, 3, nil, "no bytes"},
		{429, 3, nil, "429"},
		{500, 3, nil, "gave up after 3 tries: the host answered 500"},
		{501, 1, nil, "501"},
		{503, 3, nil, "503"},
	} {
		h := newHost(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			w.WriteHeader(c.status)
			_, _ = w.Write([]byte("accept the licence first"))
		})
		f, to := quick(t), target(t)
		f.Attempts = 3
		_, err := f.File(t.Context(), Request{URL: h.URL, To: to})
		require.ErrorContains(t, err, c.text)
		if c.want != nil {
			require.ErrorIs(t, err, c.want)
		}
		require.Len(t, h.seen(), c.requests, c.status)
		require.Empty(t, files(t, to), "nothing is left of nothing")
	}
}

func TestRetryAfter(t *testing.T) {
	file := content(13, 1000)
	h := newHost(t, func(n int, w http.ResponseWriter, r *http.Request) {
		if n == 1 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		serve(w, r, file, `"a"`, len(file))
	})
	f := quick(t)
	var notices []string
	f.Notice = func(s string) { notices = append(notices, s) }
	began := time.Now()
	_, err := f.File(t.Context(), Request{URL: h.URL, To: target(t)})
	require.NoError(t, err)
	require.GreaterOrEqual(t, time.Since(began), time.Second)
	require.Equal(t, []string{`the host answered 429 Too Many Requests; trying again in 1s`}, notices)
}
