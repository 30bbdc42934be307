package api

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/internal/lockedbuf"
	"github.com/tokenrouter/tokenrouter/sched"
)

// loading is an engine whose models are never there: whatever needs them waits until its context is done.
type loading struct {
	script
	began chan struct{} // has one for each that waits
}

func (l *loading) wait(ctx context.Context) error {
	l.began <- struct{}{}
	<-ctx.Done()
	return context.Cause(ctx)
}

func (l *loading) Submit(ctx context.Context, _ sched.Request) (Stream, error) {
	return nil, l.wait(ctx)
}
func (l *loading) Load(ctx context.Context, _ string) error   { return l.wait(ctx) }
func (l *loading) Unload(ctx context.Context, _ string) error { return l.wait(ctx) }

// Who waits for a model to be loaded and leaves is no failure of the server; who is told to go is told why.
func TestInterruptedWhileAModelIsLoaded(t *testing.T) {
	chat := chatBody("pair", "")
	for _, c := range []struct {
		name, path, body string
		cause            error // of the request's context; nil: the request times out
		status           int
		code, log        string
	}{
		{"left", "/v1/chat/completions", chat, context.Canceled, 0, "", `"status":499`},
		{"left, streamed", "/v1/chat/completions", chatBody("pair", `"stream":true`), context.Canceled, 0, "", `"status":499`},
		{"left, load", "/v1/models/small/load", "", context.Canceled, 0, "", `"status":499`},
		{"left, unload", "/v1/models/small/unload", "", context.Canceled, 0, "", `"status":499`},
		{"shutdown", "/v1/chat/completions", chat, ErrShutdown, http.StatusServiceUnavailable, "shutting_down", `"status":503`},
		{"shutdown, load", "/v1/models/small/load", "", ErrShutdown, http.StatusServiceUnavailable, "shutting_down", `"status":503`},
		{"timeout", "/v1/chat/completions", chat, nil, http.StatusGatewayTimeout, "timeout", `"status":504`},
	} {
		t.Run(c.name, func(t *testing.T) {
			log := &lockedbuf.Buffer{}
			o := Options{Log: zerolog.New(log)}
			if c.cause == nil {
				o.RequestTimeout = time.Millisecond
			}
			s := New(o)
			e := &loading{began: make(chan struct{}, 1)}
			s.Ready(targets(), e)
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			go func() {
				<-e.began
				if c.cause != nil {
					cancel(c.cause)
				}
			}()
			w := httptest.NewRecorder()
			s.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodPost, "http://localhost"+c.path, strings.NewReader(c.body)))
			require.Contains(t, log.String(), c.log)
			if c.status == 0 {
				require.Empty(t, w.Body.String(), "there is nobody to read it")
				require.NotContains(t, log.String(), `"level":"error"`)
				return
			}
			require.Equal(t, c.status, w.Code)
			require.Contains(t, w.Body.String(), `"code":"`+c.code+`"`)
		})
	}
}
