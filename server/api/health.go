package api

import (
	"net/http"

	"github.com/gin-gonic/gin"
)

// health is the body of the probes.
type health struct {
	Status  string    `json:"status"`
	Loading []Loading `json:"loading,omitzero"`
}

// healthz says that the process lives.
func (s *Server) healthz(c *gin.Context) { s.write(c, http.StatusOK, health{Status: "ok"}) }

// readyz says whether requests are answered, and if not, what is missing.
func (s *Server) readyz(c *gin.Context) {
	switch state := s.state.Load(); {
	case state.draining:
		s.write(c, http.StatusServiceUnavailable, health{Status: "shutting down"})
	case state.engine == nil:
		c.Header("Retry-After", retryLoading)
		s.write(c, http.StatusServiceUnavailable, health{Status: "loading", Loading: s.options.Loading()})
	default:
		s.write(c, http.StatusOK, health{Status: "ready"})
	}
}
