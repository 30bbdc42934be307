package api

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"slices"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/rs/zerolog"

	"github.com/tokenrouter/tokenrouter/server/openai"
	"github.com/tokenrouter/tokenrouter/server/web"
)

// record collects what the log says about a request.
type record struct {
	id      string
	start   time.Time
	err     *openai.Error
	gone    bool // the client went away before its answer was complete
	details func(*zerolog.Event)
}

func (r *record) failed(e *openai.Error) { r.err = e }

// frequent are the paths that probes, scrapers and the web page ask for again and again.
var frequent = []string{"/healthz", "/readyz", "/health", "/metrics", "/v1/routes", "/", web.Prefix + "*file"}

const recordKey = "tokenrouter/record"

func recordOf(c *gin.Context) *record {
	if v, ok := c.Get(recordKey); ok {
		if r, ok := v.(*record); ok {
			return r
		}
	}
	return &record{}
}

// newID makes an identifier that no other request has.
func newID(prefix string) string { return prefix + rand.Text() }

// logged gives a request its ID and writes one line about it when it is over. Probes are logged at debug level. Texts
// of errors that are the client's fault are left out: they may quote the prompt.
func (s *Server) logged(c *gin.Context) {
	r := &record{id: newID("req_"), start: time.Now()}
	c.Set(recordKey, r)
	c.Header("X-Request-Id", r.id)
	defer func() {
		status := c.Writer.Status()
		level := zerolog.InfoLevel
		switch {
		case r.gone:
			status = statusClientClosed
		case r.err != nil && r.err.Status >= 500 && r.err.Status != http.StatusServiceUnavailable:
			level = zerolog.ErrorLevel
		case slices.Contains(frequent, c.FullPath()):
			level = zerolog.DebugLevel
		}
		e := s.options.Log.WithLevel(level).Str("request", r.id).Str("method", c.Request.Method).Str("path", clip(c.Request.URL.Path)).
			Int("status", status).Dur("took_ms", time.Since(r.start)).Str("client", c.RemoteIP())
		if r.err != nil {
			e.Str("code", r.err.Code)
			if r.err.Param != "" {
				e.Str("param", r.err.Param)
			}
			if r.err.Status >= 500 {
				e.Str("error", r.err.Message)
			}
		}
		if r.details != nil {
			e.Func(r.details)
		}
		e.Msg("request")
	}()
	c.Next()
}

// recovered turns a panic into an error for this request alone.
func (s *Server) recovered(c *gin.Context) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		if err, ok := p.(error); ok && errors.Is(err, http.ErrAbortHandler) {
			panic(p)
		}
		s.options.Log.Error().Str("request", recordOf(c).id).Str("panic", fmt.Sprint(p)).Bytes("stack", debug.Stack()).
			Msg("panic in a handler")
		e := openai.Failure(http.StatusInternalServerError, openai.CodeInternal, "internal error; the server's log has the details of request %s", recordOf(c).id)
		if !c.Writer.Written() {
			s.fail(c, e)
			return
		}
		// Part of the answer is out: ending the connection is the only way left to say that it is not whole.
		recordOf(c).failed(e)
		panic(http.ErrAbortHandler)
	}()
	c.Next()
}

// patience gives the client until WriteTimeout from now to take what is written next.
func (s *Server) patience(c *gin.Context) {
	_ = http.NewResponseController(c.Writer).SetWriteDeadline(time.Now().Add(s.options.WriteTimeout))
}
