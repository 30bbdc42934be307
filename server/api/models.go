package api

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/tokenrouter/tokenrouter/server/openai"
)

// listModels answers GET /v1/models: routes and models, in the order of the configuration.
func (s *Server) listModels(c *gin.Context) {
	state, ok := s.serving(c)
	if !ok {
		return
	}
	list := openai.ModelList{Object: openai.ObjectList}
	for i := range state.targets {
		list.Data = append(list.Data, state.targets[i].describe())
	}
	s.write(c, http.StatusOK, list)
}

// showModel answers GET /v1/models/{name}.
func (s *Server) showModel(c *gin.Context) {
	state, ok := s.serving(c)
	if !ok {
		return
	}
	t, err := find(state.targets, strings.TrimPrefix(c.Param("id"), "/"))
	if err != nil {
		s.fail(c, err)
		return
	}
	s.write(c, http.StatusOK, t.describe())
}

// serving returns the state if there is an engine to answer; else it has sent the error.
func (s *Server) serving(c *gin.Context) (*state, bool) {
	state := s.state.Load()
	if state.engine == nil {
		s.fail(c, openai.Failure(http.StatusServiceUnavailable, openai.CodeLoading, "the models are being loaded; see /readyz"))
		return nil, false
	}
	return state, true
}
