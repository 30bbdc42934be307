package api

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/tokenrouter/tokenrouter/server/openai"
)

// lastBodies is how long a body may take that is begun while the server drains.
const lastBodies = time.Second

// body reads the request's body; else it has sent the error.
func (s *Server) body(c *gin.Context) ([]byte, bool) {
	if encoding := c.GetHeader("Content-Encoding"); encoding != "" && encoding != "identity" {
		e := openai.Invalid("", openai.CodeUnsupportedEncoding, "a body with Content-Encoding %s is not supported; send it as it is", clip(encoding))
		e.Status = http.StatusUnsupportedMediaType
		s.fail(c, e)
		return nil, false
	}
	s.patience(c) // for the 100 Continue that some clients wait for; the deadline of the request before may be over
	text, err := s.read(c)
	if err == nil {
		return text, true
	}
	s.fail(c, s.unread(c, err))
	return nil, false
}

// read takes in the body until the client has stalled for too long, or the server drains.
func (s *Server) read(c *gin.Context) ([]byte, error) {
	control := http.NewResponseController(c.Writer)
	// Without support for deadlines (a test's recorder) there is no connection that could stall.
	until := func(t time.Time) { _ = control.SetReadDeadline(t) }
	settle := func() {}
	if s.drained.Err() != nil {
		until(time.Now().Add(min(lastBodies, s.options.BodyTimeout)))
	} else {
		until(time.Now().Add(s.options.BodyTimeout))
		fired := make(chan struct{})
		stop := context.AfterFunc(s.drained, func() {
			defer close(fired)
			until(time.Now())
		})
		settle = func() {
			if !stop() {
				<-fired // or it would set its deadline after the one below
			}
		}
	}
	text, err := io.ReadAll(http.MaxBytesReader(c.Writer, c.Request.Body, s.options.MaxBody))
	settle()
	if err == nil {
		// Taken back, or it would end the watch for the client's leaving, and with it the answer. After an error it
		// stays: net/http reads on before it closes the connection.
		until(time.Time{})
	}
	return text, err
}

// unread says why a body could not be read.
func (s *Server) unread(c *gin.Context, err error) *openai.Error {
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		e := openai.Invalid("", openai.CodeBodyTooLarge, "the request body is larger than %d bytes, the most that this server takes (server.max_body)", tooLarge.Limit)
		e.Status = http.StatusRequestEntityTooLarge
		return e
	}
	c.Header("Connection", "close")
	switch {
	case !errors.Is(err, os.ErrDeadlineExceeded):
		return openai.Invalid("", openai.CodeInvalidJSON, "the request body did not arrive whole: %v", err)
	case s.drained.Err() != nil:
		return openai.Failure(http.StatusServiceUnavailable, openai.CodeShuttingDown, "%v, and the request body had not arrived whole", ErrShutdown)
	default:
		e := openai.Invalid("", openai.CodeRequestTimeout, "the request body did not arrive whole within %v", s.options.BodyTimeout)
		e.Status = http.StatusRequestTimeout
		return e
	}
}
