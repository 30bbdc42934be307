package fetch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// content is a file of n bytes.
func content(seed uint64, n int) []byte {
	r := rand.New(rand.NewPCG(seed, 0))
	b := []byte("GGUF")
	for len(b) < n {
		b = append(b, byte(r.Uint32()))
	}
	return b
}

func sumOf(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// host is a server that misbehaves as a test wants.
type host struct {
	*httptest.Server
	mu       sync.Mutex
	requests []http.Header // as they came
	handle   func(n int, w http.ResponseWriter, r *http.Request)
}

func newHost(t *testing.T, handle func(n int, w http.ResponseWriter, r *http.Request)) *host {
	t.Helper()
	h := &host{handle: handle}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		h.requests = append(h.requests, r.Header.Clone())
		n := len(h.requests)
		h.mu.Unlock()
		h.handle(n, w, r)
	}))
	t.Cleanup(h.Close)
	return h
}

func (h *host) seen() []http.Header {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.requests
}

// serve answers as a file server does: whole or from where the client wants it, if its file is still the same.
func serve(w http.ResponseWriter, r *http.Request, file []byte, tag string, most int) {
	w.Header().Set("ETag", tag)
	from := 0
	if spec, ok := strings.CutPrefix(r.Header.Get("Range"), "bytes="); ok && (r.Header.Get("If-Range") == "" || r.Header.Get("If-Range") == tag) {
		from, _ = strconv.Atoi(strings.TrimSuffix(spec, "-"))
		if from >= len(file) {
			w.Header().Set("Content-Range", fmt.Sprintf("bytes */%d", len(file)))
			w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
			return
		}
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, len(file)-1, len(file)))
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(file)-from))
	if from > 0 {
		w.WriteHeader(http.StatusPartialContent)
	}
	end := min(len(file), from+most)
	_, _ = w.Write(file[from:end])
	if end < len(file) {
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}

// quick is a fetcher that does not wait.
func quick(t *testing.T) *Fetcher {
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &Fetcher{Transport: transport, Pause: time.Millisecond, Stall: 2 * time.Second}
}

func target(t *testing.T) string { return filepath.Join(t.TempDir(), "m.gguf") }

// files lists what lies in the directory of a path.
func files(t *testing.T, path string) []string {
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	names := []string{}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestWhole(t *testing.T) {
	file := content(1, 1<<20)
	h := newHost(t, func(_ int, w http.ResponseWriter, r *http.Request) { serve(w, r, file, `"a"`, len(file)) })
	f, to := quick(t), target(t)
	var last Progress
	f.Progress = func(p Progress) { last = p }
	r := Request{URL: h.URL, To: to, SHA256: sumOf(file), Bytes: int64(len(file)), Magic: "GGUF"}
	got, err := f.File(t.Context(), r)
	require.NoError(t, err)
	require.Equal(t, Result{Bytes: int64(len(file)), SHA256: sumOf(file), Proof: Asked}, got)
	require.Equal(t, Progress{Done: int64(len(file)), Total: int64(len(file))}, last)
	require.Equal(t, []string{"m.gguf"}, files(t, to), "nothing else is left")
	text, err := os.ReadFile(to)
	require.NoError(t, err)
	require.Equal(t, file, text)

	again, err := f.File(t.Context(), r)
	require.NoError(t, err)
	require.True(t, again.Present)
	require.Len(t, h.seen(), 1)
}

// A connection that is cut again and again: each try goes on where the last ended.
func TestCut(t *testing.T) {
	file := content(2, 1<<20)
	h := newHost(t, func(_ int, w http.ResponseWriter, r *http.Request) { serve(w, r, file, `"a"`, 100_000) })
	f, to := quick(t), target(t)
	f.Attempts = 2
	var done int64
	f.Progress = func(p Progress) {
		require.GreaterOrEqual(t, p.Done, done, "never backwards")
		done = p.Done
	}
	got, err := f.File(t.Context(), Request{URL: h.URL, To: to})
	require.NoError(t, err)
	require.Equal(t, sumOf(file), got.SHA256)
	require.Equal(t, Nothing, got.Proof)
	require.Len(t, h.seen(), 11) // 1,048,576 bytes, 100,000 at a time
	require.Equal(t, "bytes=100000-", h.seen()[1].Get("Range"))
	require.Equal(t, `"a"`, h.seen()[1].Get("If-Range"))
}

// A call that gave up leaves a part that the next call goes on with; one without any proof that it is of the same file is not.
func TestNextCallGoesOn(t *testing.T) {
	file := content(3, 300_000)
	for _, c := range []struct {
		name, tag, sum, want string
	}{
		{"validator", `"a"`, "", "bytes=100000-"},
		{"checksum", `W/"a"`, sumOf(file), "bytes=100000-"},
		{"neither", `W/"a"`, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHost(t, func(n int, w http.ResponseWriter, r *http.Request) {
				if n == 1 {
					serve(w, r, file, c.tag, 100_000)
					return
				}
				if n == 2 {
					w.WriteHeader(http.StatusBadGateway)
					return
				}
				serve(w, r, file, c.tag, len(file))
			})
			f, to := quick(t), target(t)
			f.Attempts = 1
			r := Request{URL: h.URL, To: to, SHA256: c.sum}
			_, err := f.File(t.Context(), r)
			require.ErrorContains(t, err, "gave up after 1 tries")
			require.Equal(t, c.want != "", strings.Contains(err.Error(), "the same command goes on from there"), err)
			_, err = f.File(t.Context(), r)
			require.ErrorContains(t, err, "502 Bad Gateway")
			got, err := f.File(t.Context(), r)
			require.NoError(t, err)
			require.Equal(t, sumOf(file), got.SHA256)
			require.Equal(t, c.want, h.seen()[2].Get("Range"))
			require.Equal(t, []string{"m.gguf"}, files(t, to))
		})
	}
}

// A part that is whole already (the process ended before it was named) needs no request.
func TestWholePart(t *testing.T) {
	file := content(4, 5000)
	h := newHost(t, func(_ int, w http.ResponseWriter, r *http.Request) { serve(w, r, file, `"a"`, 0) })
	f, to := quick(t), target(t)
	require.NoError(t, os.WriteFile(to+".part", file, 0o600))
	require.NoError(t, os.WriteFile(to+".part.json", fmt.Appendf(nil, `{"url":%q,"validator":"\"a\"","total":5000}`, h.URL), 0o600))
	got, err := f.File(t.Context(), Request{URL: h.URL, To: to})
	require.NoError(t, err)
	require.Equal(t, sumOf(file), got.SHA256)
	require.Empty(t, h.seen())

	// The same where the length was never said: the host answers 416 and says it.
	to = target(t)
	require.NoError(t, os.WriteFile(to+".part", file, 0o600))
	require.NoError(t, os.WriteFile(to+".part.json", fmt.Appendf(nil, `{"url":%q,"validator":"\"a\""}`, h.URL), 0o600))
	got, err = f.File(t.Context(), Request{URL: h.URL, To: to})
	require.NoError(t, err)
	require.Equal(t, sumOf(file), got.SHA256)
	require.Len(t, h.seen(), 1)
}

// Parts that are of another file, or of nobody knows what, are not gone on with.
func TestStrangeParts(t *testing.T) {
	file := content(5, 5000)
	for name, origin := range map[string]string{
		"no account":      "",
		"broken account":  "{",
		"another URL":     `{"url":"http://elsewhere","validator":"\"a\""}`,
		"longer than all": `{"url":"URL","validator":"\"a\"","total":50}`,
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t, func(_ int, w http.ResponseWriter, r *http.Request) { serve(w, r, file, `"a"`, len(file)) })
			to := target(t)
			require.NoError(t, os.WriteFile(to+".part", content(6, 100), 0o600))
			if origin != "" {
				require.NoError(t, os.WriteFile(to+".part.json", []byte(strings.ReplaceAll(origin, "URL", h.URL)), 0o600))
			}
			got, err := quick(t).File(t.Context(), Request{URL: h.URL, To: to})
			require.NoError(t, err)
			require.Equal(t, sumOf(file), got.SHA256)
			require.Empty(t, h.seen()[0].Get("Range"))
		})
	}
}

// The file on the host changes between two tries: what came of the old one is dropped, however the host tells.
func TestChangesBetweenTries(t *testing.T) {
	old, now := content(7, 300_000), content(8, 250_000)
	for name, second := range map[string]func(w http.ResponseWriter, r *http.Request){
		"by If-Range": func(w http.ResponseWriter, r *http.Request) { serve(w, r, now, `"b"`, len(now)) },
		"by another tag": func(w http.ResponseWriter, r *http.Request) {
			r.Header.Del("If-Range")
			serve(w, r, now, `"b"`, len(now))
		},
		"by the length": func(w http.ResponseWriter, r *http.Request) {
			r.Header.Del("If-Range")
			serve(w, r, now, `"a"`, len(now))
		},
		"by 416": func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
		},
		"by another range": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Range", fmt.Sprintf("bytes 0-%d/%d", len(old)-1, len(old)))
			w.WriteHeader(http.StatusPartialContent)
			_, _ = w.Write(old)
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t, func(n int, w http.ResponseWriter, r *http.Request) {
				switch n {
				case 1:
					serve(w, r, old, `"a"`, 100_000)
				case 2:
					second(w, r)
				default:
					serve(w, r, now, `"b"`, len(now))
				}
			})
			got, err := quick(t).File(t.Context(), Request{URL: h.URL, To: target(t)})
			require.NoError(t, err)
			require.Equal(t, sumOf(now), got.SHA256)
		})
	}
}

func TestKeepsChanging(t *testing.T) {
	h := newHost(t, func(n int, w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Range") != "" {
			w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
			return
		}
		serve(w, r, content(uint64(n), 300_000), fmt.Sprintf(`"%d"`, n), 100_000)
	})
	f := quick(t)
	f.Attempts = 100
	_, err := f.File(t.Context(), Request{URL: h.URL, To: target(t)})
	require.ErrorContains(t, err, "began anew 5 times")
	require.ErrorContains(t, err, "its file has changed")
}

// A host that falls silent, before its answer or within, is left and asked again.
func TestStall(t *testing.T) {
	file := content(14, 100_000)
	h := newHost(t, func(n int, w http.ResponseWriter, r *http.Request) {
		switch n {
		case 1:
			<-r.Context().Done()
		case 2:
			w.Header().Set("ETag", `"a"`)
			w.Header().Set("Content-Length", "100000")
			_, _ = w.Write(file[:40_000])
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		default:
			serve(w, r, file, `"a"`, len(file))
		}
	})
	f := quick(t)
	f.Stall = 500 * time.Millisecond
	got, err := f.File(t.Context(), Request{URL: h.URL, To: target(t)})
	require.NoError(t, err)
	require.Equal(t, sumOf(file), got.SHA256)
	require.Equal(t, "bytes=40000-", h.seen()[2].Get("Range"))
}

// A slow host is no silent one.
func TestSlow(t *testing.T) {
	file := content(15, 1000)
	h := newHost(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		for i := range 20 { // 2 s in all, a piece every 100 ms
			_, _ = w.Write(file[i*50 : i*50+50])
			_ = http.NewResponseController(w).Flush()
			time.Sleep(100 * time.Millisecond)
		}
	})
	f := quick(t)
	f.Stall, f.Attempts = time.Second, 1
	_, err := f.File(t.Context(), Request{URL: h.URL, To: target(t)})
	require.NoError(t, err)
}

func TestInterrupted(t *testing.T) {
	file := content(16, 100_000)
	ctx, cancel := context.WithCancel(t.Context())
	h := newHost(t, func(n int, w http.ResponseWriter, r *http.Request) {
		if n > 1 {
			serve(w, r, file, `"a"`, len(file))
			return
		}
		w.Header().Set("ETag", `"a"`)
		w.Header().Set("Content-Length", "100000")
		_, _ = w.Write(file[:40_000])
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	f, to := quick(t), target(t)
	f.Progress = func(p Progress) {
		if p.Done > 0 {
			cancel()
		}
	}
	_, err := f.File(ctx, Request{URL: h.URL, To: to})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, []string{"m.gguf.part", "m.gguf.part.json"}, files(t, to))
	came, err := os.Stat(to + ".part")
	require.NoError(t, err)
	f.Progress = nil
	_, err = f.File(t.Context(), Request{URL: h.URL, To: to})
	require.NoError(t, err)
	require.Equal(t, fmt.Sprintf("bytes=%d-", came.Size()), h.seen()[1].Get("Range"))
}

func TestNoRoom(t *testing.T) {
	file := content(17, 1<<20)
	h := newHost(t, func(_ int, w http.ResponseWriter, r *http.Request) { serve(w, r, file, `"a"`, len(file)) })
	f, to := quick(t), target(t)
	f.Free = func(string) (uint64, error) { return 1<<20 + reserve - 1, nil }
	_, err := f.File(t.Context(), Request{URL: h.URL, To: to})
	require.ErrorIs(t, err, ErrSpace)
	require.ErrorContains(t, err, "1.0 MB more are needed")
	require.Empty(t, files(t, to))
	f.Free = func(string) (uint64, error) { return 1<<20 + reserve, nil }
	_, err = f.File(t.Context(), Request{URL: h.URL, To: to})
	require.NoError(t, err)
}

// /dev/full stands for a disk that fills up while the file comes: each write to it fails with ENOSPC.
func TestDiskFillsUp(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("there is no /dev/full here")
	}
	p := &part{file: full, hash: sha256.New()}
	_, err = p.Write([]byte("GGUF"))
	require.ErrorIs(t, err, ErrSpace)
	require.ErrorContains(t, err, "the same command goes on from here")
	require.Zero(t, p.size)
	require.NoError(t, full.Close())
}

// Several downloads of one file at a time: one downloads, the others wait and find it.
func TestTogether(t *testing.T) {
	file := content(18, 1<<20)
	h := newHost(t, func(_ int, w http.ResponseWriter, r *http.Request) {
		time.Sleep(100 * time.Millisecond)
		serve(w, r, file, `"a"`, len(file))
	})
	f, to := quick(t), target(t)
	var waited, present atomic.Int32
	f.Notice = func(s string) {
		require.Contains(t, s, "m.gguf is being downloaded by another process")
		waited.Add(1)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			got, err := f.File(t.Context(), Request{URL: h.URL, To: to, SHA256: sumOf(file)})
			if err != nil {
				t.Error(err)
			}
			if got.Present {
				present.Add(1)
			}
		})
	}
	wg.Wait()
	require.Len(t, h.seen(), 1)
	require.EqualValues(t, 3, present.Load())
	require.EqualValues(t, 3, waited.Load())
	require.Equal(t, []string{"m.gguf"}, files(t, to))
}

func TestDiscard(t *testing.T) {
	to := target(t)
	require.ErrorIs(t, Discard(to), os.ErrNotExist)
	require.NoError(t, os.WriteFile(to+".part", []byte("x"), 0o600))
	file, err := os.Open(to + ".part")
	require.NoError(t, err)
	locked, err := lock(file)
	require.NoError(t, err)
	require.True(t, locked)
	require.ErrorContains(t, Discard(to), "is being downloaded")
	require.NoError(t, file.Close())
	require.NoError(t, Discard(to))
	require.Empty(t, files(t, to))
}

func TestSize(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1.0 kB", 491_400_064: "491.4 MB", 999_960_000: "1.0 GB", 1_117_320_768: "1.1 GB"} {
		require.Equal(t, want, Size(n))
	}
}

func FuzzContentRange(f *testing.F) {
	for _, s := range []string{"bytes 0-4/5", "bytes */5", "bytes 1-2/*", "bytes -1-2/3", "", "bytes 9-1/20"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if first, total, ok := contentRange(s); ok && (first < 0 || total < 0 || total > 0 && first >= total) {
			t.Fatalf("%q: %d of %d", s, first, total)
		}
	})
}
