package api

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/server/openai"
)

// Residence is an engine whose models can be loaded and unloaded one by one. Requests for what is unloaded load it.
type Residence interface {
	// Load waits until a model is in memory.
	Load(ctx context.Context, model string) error
	// Unload frees the memory of a model. It is a *sched.BusyError while requests may come to the model.
	Unload(ctx context.Context, model string) error
}

// The last part of paths that act on a model.
const (
	loads   = "/load"
	unloads = "/unload"
)

// actOnModel answers POST /v1/models/{name}/load and /unload.
func (s *Server) actOnModel(c *gin.Context) {
	path := strings.TrimPrefix(c.Param("id"), "/")
	name, load := strings.CutSuffix(path, loads)
	if !load {
		var unload bool
		if name, unload = strings.CutSuffix(path, unloads); !unload {
			c.Header("Allow", http.MethodGet)
			s.notAllowed(c)
			return
		}
	}
	state, ok := s.serving(c)
	if !ok {
		return
	}
	t, e := find(state.targets, name)
	if e != nil {
		s.fail(c, e)
		return
	}
	if t.route() {
		s.fail(c, openai.Invalid("", openai.CodeInvalidValue, "%q is a route: load and unload its models, %s", t.Name, strings.Join(t.Models, ", ")))
		return
	}
	r, ok := state.engine.(Residence)
	if !ok {
		s.fail(c, openai.Invalid("", openai.CodeUnsupported, "this server does not load and unload models"))
		return
	}
	act := r.Unload
	if load {
		act = r.Load
	}
	if err := act(c.Request.Context(), t.Name); err != nil {
		s.give(c, stopped(c.Request.Context(), err, notMoved(err)))
		return
	}
	answer := openai.Residence{ID: t.Name, Object: openai.ObjectModel, Loaded: load}
	if load {
		answer.Memory = t.Memory
	}
	s.write(c, http.StatusOK, answer)
}

// notMoved turns an error of a Residence into one of the API.
func notMoved(err error) *openai.Error {
	var busy *sched.BusyError
	switch {
	case errors.As(err, &busy):
		e := openai.Invalid("", openai.CodeModelBusy, "%v; try again when they have ended", err)
		e.Status = http.StatusConflict
		return e
	case errors.Is(err, sched.ErrClosed):
		return openai.Failure(http.StatusServiceUnavailable, openai.CodeShuttingDown, "%v", ErrShutdown)
	default:
		return openai.Failure(http.StatusInternalServerError, openai.CodeInternal, "%v", err)
	}
}
