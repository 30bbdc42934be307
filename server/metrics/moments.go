package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/tokenrouter/tokenrouter/sched"
)

// moments reads a snapshot of the engine at each scrape.
type moments struct {
	snapshot func() sched.Snapshot
}

var _ prometheus.Collector = (*moments)(nil)

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(prometheus.BuildFQName("tokenrouter", "", name), help, labels, nil)
}

var (
	requestsDesc  = desc("requests", "Requests of the engine: queued, or live.", "state")
	localDesc     = desc("model_requests", "Requests at a model: waiting for a step, running in one, or pending at a peer.", "model", "state")
	pagesDesc     = desc("kv_pages", "Pages of the KV cache: used by requests, cached for requests that begin in the same way, or free.", "model", "state")
	thresholdDesc = desc("batch_threshold", "Requests that a model waits for before it starts a step (B).", "model")
	plannedDesc   = desc("batch_threshold_planned", "B as planned for the present number of live requests, before it is clipped (B*).", "model")
	waitDesc      = desc("batch_wait_limit_seconds", "Longest time that a request waits for the threshold; 0: no limit.", "model")
	latencyDesc   = desc("step_latency_estimate_seconds", "Estimate of a step's latency: base, per request, and per row.", "model", "part")
	routingDesc   = desc("routing_probability", "Estimate of how often a request goes from one model to another after a step.", "from", "to")
	lostDesc      = desc("device_lost", "1: the device is gone, and every step on it fails.", "device")
	stretchDesc   = desc("step_stretch_estimate", "Times as long that a step takes while another model on the device steps, too.", "model")
	graphsDesc    = desc("graph_steps_total", "Steps on a GPU that ran as a recorded graph (hit), or not (miss).", "model", "result")
	shareDesc     = desc("token_share", "Share of the tokens of routes that a model has written.", "model")
)

// Describe implements prometheus.Collector.
func (m *moments) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{requestsDesc, localDesc, pagesDesc, thresholdDesc, plannedDesc, waitDesc, latencyDesc, routingDesc, lostDesc, stretchDesc, graphsDesc, shareDesc} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (m *moments) Collect(out chan<- prometheus.Metric) {
	s := m.snapshot()
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	count := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, v, labels...)
	}
	gauge(requestsDesc, float64(s.Queue), "queued")
	gauge(requestsDesc, float64(s.Live), "live")
	for i := range s.Devices {
		lost := 0.0
		if s.Devices[i].Lost != nil {
			lost = 1
		}
		gauge(lostDesc, lost, s.Devices[i].Name)
	}
	for i := range s.Models {
		x := &s.Models[i]
		gauge(localDesc, float64(x.Waiting), x.Name, "waiting")
		gauge(localDesc, float64(x.Running), x.Name, "running")
		gauge(localDesc, float64(x.Pending), x.Name, "pending")
		gauge(pagesDesc, float64(x.FreePages-x.Cached), x.Name, "free")
		gauge(pagesDesc, float64(x.Cached), x.Name, "cached")
		gauge(pagesDesc, float64(x.Pages-x.FreePages), x.Name, "used")
		gauge(thresholdDesc, float64(x.Threshold), x.Name)
		gauge(plannedDesc, float64(x.Planned), x.Name)
		gauge(waitDesc, x.MaxWait.Seconds(), x.Name)
		if x.Latency.Known {
			gauge(latencyDesc, x.Latency.Base, x.Name, "base")
			gauge(latencyDesc, x.Latency.PerRequest, x.Name, "request")
			gauge(latencyDesc, x.Latency.PerRow, x.Name, "row")
		}
		if x.Latency.Stretch > 0 {
			gauge(stretchDesc, x.Latency.Stretch, x.Name)
		}
		if x.Graphs != nil {
			count(graphsDesc, float64(x.Graphs.Hits), x.Name, "hit")
			count(graphsDesc, float64(x.Graphs.Misses), x.Name, "miss")
		}
		for to, p := range x.Routing {
			gauge(routingDesc, p, x.Name, to)
		}
		if x.Routing != nil {
			gauge(shareDesc, x.Share, x.Name)
		}
	}
}
