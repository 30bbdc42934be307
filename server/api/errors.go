package api

import (
	"context"
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/server/openai"
)

// Values of Retry-After, in seconds.
const (
	retryLoading = "5"
	retryQueue   = "1"
)

// ErrShutdown is the cause to cancel the server's base context with when requests outlive its shutdown: their clients are
// told so.
var ErrShutdown = errors.New("the server is shutting down")

// errTimeout is the cause of the request timeout.
var errTimeout = errors.New("the answer took longer than this server allows")

// errGone says that the client is not there any more.
var errGone = errors.New("the client has gone")

// interrupted says why a request was cut short whose context is done, or which the engine cancelled: errGone, or an *openai.Error.
func interrupted(ctx context.Context) error {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errTimeout):
		return openai.Failure(http.StatusGatewayTimeout, openai.CodeTimeout, "%v", errTimeout)
	case cause == nil, errors.Is(cause, ErrShutdown): // without a cause it was the engine that cancelled
		return openai.Failure(http.StatusServiceUnavailable, openai.CodeShuttingDown, "%v", ErrShutdown)
	default:
		return errGone
	}
}

// stopped is what to tell of err, the error of a call with this context: that the request was cut short, if that is what it says,
// else otherwise.
func stopped(ctx context.Context, err error, otherwise *openai.Error) error {
	if cause := context.Cause(ctx); cause != nil && errors.Is(err, cause) {
		return interrupted(ctx)
	}
	return otherwise
}

// write sends a JSON body.
func (s *Server) write(c *gin.Context, status int, body any) {
	text, err := openai.Marshal(body)
	if err != nil {
		s.options.Log.Error().Err(err).Msg("an answer could not be written as JSON")
		status = http.StatusInternalServerError
		text = []byte(`{"error":{"message":"the answer could not be written as JSON","type":"server_error","param":null,"code":"internal_error"}}`)
	}
	s.patience(c)
	c.Data(status, "application/json; charset=utf-8", text)
}

// fail sends an error and notes it for the log.
func (s *Server) fail(c *gin.Context, e *openai.Error) {
	recordOf(c).failed(e)
	switch e.Code {
	case openai.CodeQueueFull, openai.CodeRateLimit:
		if c.Writer.Header().Get("Retry-After") == "" {
			c.Header("Retry-After", retryQueue)
		}
	case openai.CodeLoading, openai.CodeShuttingDown:
		c.Header("Retry-After", retryLoading)
	}
	s.write(c, e.Status, e.Body())
	c.Abort()
}

// give sends an error that is an *openai.Error. Otherwise there is nobody to send it to.
func (s *Server) give(c *gin.Context, err error) {
	var e *openai.Error
	if errors.As(err, &e) {
		s.fail(c, e)
		return
	}
	recordOf(c).gone = true
	c.Abort()
}

// failure is an error as the API reports it.
func failure(err error) *openai.Error {
	var e *openai.Error
	if errors.As(err, &e) {
		return e
	}
	return openai.Failure(http.StatusInternalServerError, openai.CodeInternal, "%v", err)
}

// refused turns an error of Engine.Submit into one of the API. Param is the field of the prompt.
func refused(err error, t *Target, param string) *openai.Error {
	var full *sched.QueueFullError
	var head *sched.HeadError
	switch {
	case errors.As(err, &head):
		return openai.Invalid("routing.algorithm", openai.CodeInvalidValue, "%v", head)
	case errors.Is(err, sched.ErrTooLong):
		return openai.Invalid(param, openai.CodeContextLength, "%v", err)
	case errors.As(err, &full) && full.Own:
		e := openai.Failure(http.StatusTooManyRequests, openai.CodeRateLimit, "you have too many requests here: %v; try again later", err)
		e.Type = openai.TypeRateLimit
		return e
	case errors.Is(err, sched.ErrQueueFull):
		return openai.Failure(http.StatusServiceUnavailable, openai.CodeQueueFull, "the server is busy: %v; try again later", err)
	case errors.Is(err, sched.ErrLost):
		return broken(err)
	case errors.Is(err, sched.ErrClosed):
		return openai.Failure(http.StatusServiceUnavailable, openai.CodeShuttingDown, "%v", ErrShutdown)
	case errors.Is(err, sched.ErrUnknownTarget):
		e := openai.Invalid("model", openai.CodeModelNotFound, "%q is not served any more", t.Name)
		e.Status = http.StatusNotFound
		return e
	case errors.Is(err, sched.ErrInvalid):
		return openai.Invalid("", openai.CodeInvalidValue, "%v", err)
	default:
		return openai.Failure(http.StatusInternalServerError, openai.CodeInternal, "the request could not be started: %v", err)
	}
}

// broken turns the error of an answer that a model could not finish into one of the API.
func broken(err error) *openai.Error {
	if errors.Is(err, sched.ErrLost) {
		return openai.Failure(http.StatusServiceUnavailable, openai.CodeDeviceLost, "what the model runs on is gone, and needs a restart of the server: %v", err)
	}
	return openai.Failure(http.StatusInternalServerError, openai.CodeInternal, "the answer could not be finished: %v", err)
}
