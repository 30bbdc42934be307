package api

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/internal/lockedbuf"
	"github.com/tokenrouter/tokenrouter/router"
	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/sched/simrunner"
)

// newEngine starts the scheduler's engine on simulated models that stand behind the test's targets.
func newEngine(t *testing.T, adjust func(*sched.Options)) *sched.Engine {
	t.Helper()
	pause := func(*sched.Batch) time.Duration { return 200 * time.Microsecond }
	small := simrunner.Model{Seed: 1, Vocab: vocab, PageTokens: 8, Pages: 1024, MaxContext: 2048, EndIDs: []int32{2}, EndRate: 0.01, Sure: 0.5, Latency: pause}
	large := simrunner.Model{Seed: 2, Vocab: vocab + 20, PageTokens: 16, Pages: 512, MaxContext: 1024, EndIDs: []int32{2}, EndRate: 0.01, Sure: 0.5, Latency: pause}
	threshold := 0.5
	o := sched.Options{
		Models: []sched.ModelOptions{
			{Name: "small", Runner: simrunner.New(small), Info: small.Info(), Text: theText},
			{Name: "org/large", Runner: simrunner.New(large), Info: large.Info(), Text: theText},
		},
		Routes: []sched.RouteOptions{{
			Name: "pair", Algorithm: "r-stitch", Models: []string{"small", "org/large"}, Params: router.Params{Threshold: &threshold},
		}},
		MaxQueue: 100,
	}
	if adjust != nil {
		adjust(&o)
	}
	e, err := sched.NewEngine(o)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, e.Close(context.Background()))
	})
	return e
}

// requireFreed waits until the engine holds nothing any more.
func requireFreed(t *testing.T, e *sched.Engine) {
	t.Helper()
	require.Eventually(t, func() bool {
		s := e.Snapshot()
		free := s.Live+s.Queue == 0
		for _, m := range s.Models {
			free = free && m.FreePages == m.Pages && m.Live+m.Waiting+m.Running+m.Pending == 0
		}
		return free
	}, 10*time.Second, time.Millisecond)
}

// endless asks for the longest answer that there can be.
const endless = `"ignore_eos":true,"temperature":0`

func TestClientLeavesInTheMiddleOfAStream(t *testing.T) {
	e := newEngine(t, nil)
	site := newSite(t, EngineOf(e), nil)
	r, err := site.Client().Post(site.URL+"/v1/chat/completions", "application/json", strings.NewReader(chatBody("pair", endless+`,"stream":true`)))
	require.NoError(t, err)
	lines := bufio.NewReader(r.Body)
	for range 6 {
		_, err := lines.ReadString('\n')
		require.NoError(t, err)
	}
	require.Equal(t, 1, e.Snapshot().Live)
	require.NoError(t, r.Body.Close())
	requireFreed(t, e)
	require.Eventually(t, func() bool { return strings.Contains(site.log.String(), `"status":499`) }, 5*time.Second, time.Millisecond)
}

func TestClientLeavesWhileItWaits(t *testing.T) {
	e := newEngine(t, nil)
	site := newSite(t, EngineOf(e), nil)
	ctx, cancel := context.WithCancel(t.Context())
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, site.URL+"/v1/completions", strings.NewReader(completionBody("pair", endless+`,"max_tokens":1000`)))
	require.NoError(t, err)
	go func() {
		for e.Snapshot().Live == 0 {
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	_, err = site.Client().Do(q)
	require.ErrorIs(t, err, context.Canceled)
	requireFreed(t, e)
}

// A client that takes nothing of what is sent to it does not hold the engine for longer than the write timeout.
func TestClientThatStopsReading(t *testing.T) {
	e := newEngine(t, nil)
	log := &lockedbuf.Buffer{}
	s := New(Options{Log: zerolog.New(log), WriteTimeout: 100 * time.Millisecond})
	s.Ready(targets(), EngineOf(e))
	server := httptest.NewUnstartedServer(s)
	server.Listener = tiny{server.Listener}
	server.Start()
	defer server.Close()

	dialer := net.Dialer{Control: func(_, _ string, c syscall.RawConn) error {
		return c.Control(func(fd uintptr) { _ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 2048) })
	}}
	conn, err := dialer.Dial("tcp", server.Listener.Addr().String())
	require.NoError(t, err)
	defer conn.Close()
	body := chatBody("small", endless+`,"stream":true,"logprobs":true,"top_logprobs":20`) // some 5 MB
	_, err = fmt.Fprintf(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return e.Snapshot().Live == 1 }, 5*time.Second, time.Millisecond)
	requireFreed(t, e)
	require.Eventually(t, func() bool { return strings.Contains(log.String(), `"status":499`) }, 5*time.Second, time.Millisecond)
}

// tiny is a listener whose connections buffer little of what is written.
type tiny struct{ net.Listener }

func (l tiny) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if tcp, ok := c.(*net.TCPConn); ok {
		err = tcp.SetWriteBuffer(2048)
	}
	return c, err
}

// A stream that has nothing to send yet is kept alive.
func TestPing(t *testing.T) {
	site := newSite(t, &script{}, func(o *Options) { o.PingInterval = 5 * time.Millisecond })
	r, err := site.Client().Post(site.URL+"/v1/chat/completions", "application/json", strings.NewReader(chatBody("pair", `"stream":true`)))
	require.NoError(t, err)
	defer r.Body.Close()
	lines := bufio.NewScanner(r.Body)
	var got []string
	for len(got) < 5 && lines.Scan() {
		got = append(got, lines.Text())
	}
	require.Contains(t, got[0], `"role":"assistant"`)
	require.Equal(t, []string{"", ": still working", "", ": still working"}, got[1:])
}

func TestQueueFull(t *testing.T) {
	e := newEngine(t, func(o *sched.Options) { o.MaxLive, o.MaxQueue = 1, 0 })
	site := newSite(t, EngineOf(e), nil)
	first, err := site.Client().Post(site.URL+"/v1/chat/completions", "application/json", strings.NewReader(chatBody("pair", endless+`,"stream":true`)))
	require.NoError(t, err)
	r, body := site.post(t, "/v1/chat/completions", chatBody("pair", ""))
	requireProblem(t, r, body, 503, "", "queue_full", "queue full")
	require.Equal(t, "1", r.Header.Get("Retry-After"))
	// Of several prompts none is left behind when one does not fit.
	require.NoError(t, first.Body.Close())
	requireFreed(t, e)
	r, body = site.post(t, "/v1/completions", `{"model":"pair","prompt":["a","b"],"max_tokens":900,"ignore_eos":true}`)
	requireProblem(t, r, body, 503, "", "queue_full", "queue full")
	requireFreed(t, e)
	r, _ = site.post(t, "/v1/chat/completions", chatBody("pair", `"max_tokens":3`))
	require.Equal(t, 200, r.StatusCode)
}

// The engine's context check is the last one: what the targets do not know (a small KV cache) it refuses.
func TestPromptLargerThanTheCache(t *testing.T) {
	e := newEngine(t, func(o *sched.Options) {
		m := simrunner.Model{Seed: 1, Vocab: vocab, PageTokens: 8, Pages: 4, MaxContext: 2048}
		o.Models[0].Runner, o.Models[0].Info = simrunner.New(m), m.Info()
	})
	r, body := newSite(t, EngineOf(e), nil).post(t, "/v1/completions", fmt.Sprintf(`{"model":"small","prompt":%q}`, strings.Repeat("x", 40)))
	requireProblem(t, r, body, 400, "prompt", "context_length_exceeded", "holds 32 tokens")
}

// Good requests beside bad ones, impatient ones and each other give what they give alone, streamed or not.
func TestManyAtOnce(t *testing.T) {
	e := newEngine(t, func(o *sched.Options) { o.MaxLive = 8 })
	site := newSite(t, EngineOf(e), nil)
	good := func(i int) string {
		return fmt.Sprintf(`{"model":%q,"messages":[{"role":"user","content":"question %d"}],"max_tokens":60,"seed":%d,"temperature":%d,"stop":["aab"]`,
			[]string{"pair", "small", "org/large"}[i%3], i, i, i%2)
	}
	const n = 12
	alone := make([]string, n)
	for i := range alone {
		r, body := site.post(t, "/v1/chat/completions", good(i)+"}")
		require.Equal(t, 200, r.StatusCode, body)
		alone[i] = content(t, body)
	}
	var clients sync.WaitGroup
	errs := make(chan error, 6*n)
	for i := range n {
		clients.Go(func() {
			if got, err := site.try(good(i) + "}"); err != nil || contentOf(got) != alone[i] {
				errs <- fmt.Errorf("request %d: %q, %w", i, got, err)
			}
		})
		clients.Go(func() {
			got, err := site.try(good(i) + `,"stream":true}`)
			if err != nil || joined(got) != alone[i] {
				errs <- fmt.Errorf("stream %d: %q, %w", i, got, err)
			}
		})
		clients.Go(func() { // leaves at once
			ctx, cancel := context.WithTimeout(context.Background(), time.Duration(i)*time.Millisecond)
			defer cancel()
			q, err := http.NewRequestWithContext(ctx, http.MethodPost, site.URL+"/v1/chat/completions", strings.NewReader(chatBody("pair", endless+`,"stream":true`)))
			if err != nil {
				errs <- err
				return
			}
			if r, err := site.Client().Do(q); err == nil {
				_, _ = io.Copy(io.Discard, r.Body)
				r.Body.Close()
			}
		})
		clients.Go(func() {
			bad := []string{"{", chatBody("pair", `"n":0`), chatBody("nobody", ""), `{"model":"pair","messages":[{"role":"user","content":"` + strings.Repeat("x", 3000) + `"}]}`}[i%4]
			r, err := site.Client().Post(site.URL+"/v1/chat/completions", "application/json", strings.NewReader(bad))
			if err != nil {
				errs <- err
				return
			}
			r.Body.Close()
			if r.StatusCode != http.StatusBadRequest && r.StatusCode != http.StatusNotFound {
				errs <- fmt.Errorf("%q: status %d", bad, r.StatusCode)
			}
		})
	}
	clients.Wait()
	close(errs)
	for err := range errs {
		t.Error(err)
	}
	requireFreed(t, e)
}

func (s *site) try(body string) (string, error) {
	r, err := s.Client().Post(s.URL+"/v1/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		return "", err
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err == nil && r.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d", r.StatusCode)
	}
	return string(text), err
}

// A connection is used again after longer than the write timeout, by a client that asks before it sends its body.
func TestConnectionIsUsedAgain(t *testing.T) {
	site := newSite(t, brief(), func(o *Options) { o.WriteTimeout = 50 * time.Millisecond })
	conn, err := net.Dial("tcp", site.Listener.Addr().String())
	require.NoError(t, err)
	defer conn.Close()
	lines := bufio.NewReader(conn)
	for range 2 {
		body := chatBody("pair", "")
		_, err = fmt.Fprintf(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n", len(body))
		require.NoError(t, err)
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, "HTTP/1.1 100 Continue\r\n", line)
		_, err = lines.ReadString('\n')
		require.NoError(t, err)
		_, err = io.WriteString(conn, body)
		require.NoError(t, err)
		r, err := http.ReadResponse(lines, nil)
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, r.Body)
		require.NoError(t, err)
		require.NoError(t, r.Body.Close())
		require.Equal(t, http.StatusOK, r.StatusCode)
		time.Sleep(100 * time.Millisecond)
	}
}

// What a token costs here, from the engine's event to the socket.
func BenchmarkStream(b *testing.B) {
	for range b.N / 1000 {
		b.StopTimer()
		s := &script{events: make([]sched.Event, 1001), summary: brief().summary}
		for i := range s.events {
			s.events[i] = sched.Event{Text: "a", Tokens: []sched.Token{token(16, "a", 0, -1)}}
		}
		s.events[1000].Finish = sched.FinishLength
		api := New(Options{Log: zerolog.Nop()})
		api.Ready(targets(), s)
		q := httptest.NewRequest(http.MethodPost, "/v1/chat/completions", strings.NewReader(chatBody("pair", `"stream":true`)))
		w := httptest.NewRecorder()
		b.StartTimer()
		api.ServeHTTP(w, q)
	}
}
