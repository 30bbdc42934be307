package api

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/tokenrouter/tokenrouter/router"
	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/server/openai"
)

// listRoutes answers GET /v1/routes: the routes, and what the engine is doing.
func (s *Server) listRoutes(c *gin.Context) {
	state, ok := s.serving(c)
	if !ok {
		return
	}
	snap := state.engine.Snapshot()
	list := openai.RouteList{Object: openai.ObjectList, Data: []openai.Route{}, Models: []openai.ModelState{}, Devices: []openai.DeviceState{}, Policy: string(snap.Policy), Live: snap.Live, Queue: snap.Queue}
	for i := range state.targets {
		if t := &state.targets[i]; t.route() {
			list.Data = append(list.Data, openai.Route{
				ID: t.Name, Object: openai.ObjectRoute, ContextLength: t.limit(), RouteDetail: t.detail(), DefaultThreshold: t.threshold(),
			})
		}
	}
	for i := range snap.Models {
		m := modelState(&snap.Models[i])
		if t, err := find(state.targets, m.ID); err == nil && m.KV.Capacity > 0 { // else it is unloaded
			m.Memory = t.Memory
		}
		list.Models = append(list.Models, m)
	}
	for _, d := range snap.Devices {
		list.Devices = append(list.Devices, deviceState(&d))
	}
	if s.options.Resident != nil {
		list.Resident = s.options.Resident()
	}
	s.write(c, http.StatusOK, list)
}

// threshold is the one that holds where a request gives none; nil: there is none.
func (t *Target) threshold() *float64 {
	if t.Params.Threshold != nil {
		return t.Params.Threshold
	}
	a, err := router.Lookup(t.Algorithm)
	if err != nil {
		return nil
	}
	if score := a.Role(0, len(t.Models), t.Params).Score; score != nil {
		return &score.At
	}
	return nil
}

func deviceState(d *sched.DeviceSnapshot) openai.DeviceState {
	o := openai.DeviceState{ID: d.Name, Object: openai.ObjectDeviceState, Sharing: "exclusive", Models: d.Models}
	if d.Concurrent {
		o.Sharing = "concurrent"
	}
	if d.Lost != nil {
		o.Lost = d.Lost.Error()
	}
	return o
}

func modelState(m *sched.ModelSnapshot) openai.ModelState {
	o := openai.ModelState{
		ID: m.Name, Object: openai.ObjectModelState, Live: m.Live, Waiting: m.Waiting, Running: m.Running, Pending: m.Pending,
		Batch: openai.BatchState{
			Threshold: m.Threshold, Planned: m.Planned, MaxWaitMS: float64(m.MaxWait) / float64(time.Millisecond),
			Last: m.Batch, Steps: m.Steps, Requests: m.Requests,
		},
		KV:      openai.KVState{Capacity: m.Pages * m.PageTokens, Used: (m.Pages - m.FreePages) * m.PageTokens, Cached: m.Cached * m.PageTokens},
		Routing: m.Routing, Tokens: m.Tokens, Share: m.Share,
	}
	if o.KV.Capacity > 0 {
		o.KV.Usage = float64(o.KV.Used) / float64(o.KV.Capacity)
	}
	if g := m.Graphs; g != nil {
		o.Graphs = &openai.GraphState{Hits: g.Hits, Misses: g.Misses}
	}
	if l := m.Latency; l.Known {
		o.Latency = &openai.LatencyState{Base: 1000 * l.Base, PerRequest: 1000 * l.PerRequest, PerToken: 1000 * l.PerRow, Stretch: l.Stretch}
	}
	return o
}
