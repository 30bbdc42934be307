package api

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/tokenrouter/tokenrouter/server/openai"
)

// condition is the body of the probes.
type condition struct {
	Status  string               `json:"status"`
	Loading []Loading            `json:"loading,omitzero"`
	Lost    []openai.DeviceState `json:"lost,omitzero"` // devices that are gone, with the models on them
}

// healthz says that the process lives.
func (s *Server) healthz(c *gin.Context) { s.write(c, http.StatusOK, condition{Status: "ok"}) }

// lostDevices are those on which no step succeeds any more. What does without them is still answered, but whoever shares requests out
// among servers had better send them elsewhere.
func lostDevices(e Engine) (list []openai.DeviceState) {
	snap := e.Snapshot()
	for i := range snap.Devices {
		if d := &snap.Devices[i]; d.Lost != nil {
			list = append(list, deviceState(d))
		}
	}
	return list
}

// readyz says whether requests are answered, and if not, what is missing.
func (s *Server) readyz(c *gin.Context) { s.readiness(c, "ready") }

// health says the same by the path and the word of llama-server and vLLM, whose users wait there for the models.
func (s *Server) health(c *gin.Context) { s.readiness(c, "ok") }

func (s *Server) readiness(c *gin.Context, ready string) {
	switch state := s.state.Load(); {
	case state.draining:
		s.write(c, http.StatusServiceUnavailable, condition{Status: "shutting down"})
	case state.engine == nil:
		c.Header("Retry-After", retryLoading)
		s.write(c, http.StatusServiceUnavailable, condition{Status: "loading", Loading: s.options.Loading()})
	default:
		if lost := lostDevices(state.engine); len(lost) > 0 {
			s.write(c, http.StatusServiceUnavailable, condition{Status: "device lost", Lost: lost})
			return
		}
		s.write(c, http.StatusOK, condition{Status: ready})
	}
}
