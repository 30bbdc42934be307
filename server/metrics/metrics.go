// Package metrics tells Prometheus what an engine does.
package metrics

import (
	"net/http"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/tokenrouter/tokenrouter/sched"
)

// Metrics has a registry of its own. Safe for concurrent use.
type Metrics struct {
	registry *prometheus.Registry

	admission *prometheus.HistogramVec // by model
	steps     *prometheus.HistogramVec
	requests  *prometheus.HistogramVec
	rows      *prometheus.HistogramVec
	extends   *prometheus.HistogramVec
	pending   *prometheus.HistogramVec
	waits     *prometheus.HistogramVec // by model and for what
	running   *prometheus.CounterVec
	appended  *prometheus.CounterVec // by model and kind
	recalled  *prometheus.CounterVec
	ahead     *prometheus.CounterVec
	used      *prometheus.CounterVec
	committed *prometheus.CounterVec
	drafted   *prometheus.CounterVec
	judged    *prometheus.CounterVec // by model and verdict
	handoffs  *prometheus.CounterVec // by from and to
	evictions *prometheus.CounterVec
	errors    *prometheus.CounterVec
	faults    *prometheus.CounterVec

	mu     sync.Mutex
	models map[string]*perModel
}

// perModel are the metrics of one model, looked up once.
type perModel struct {
	first, again                                                                          prometheus.Observer
	steps, requests, rows, extends                                                        prometheus.Observer
	running, prefill, decode, resume, rebuild, recalled, used, committed, evicted, failed prometheus.Counter
	drafted, accepted, rejected                                                           prometheus.Counter
}

// New makes the metrics of an engine that is still to be made.
func New() *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry(), models: make(map[string]*perModel)}
	seconds := prometheus.ExponentialBuckets(0.0005, 2, 16)
	counts := prometheus.ExponentialBuckets(1, 2, 10)
	histogram := func(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		v := prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: "tokenrouter", Name: name, Help: help, Buckets: buckets}, labels)
		m.registry.MustRegister(v)
		return v
	}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		v := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "tokenrouter", Name: name, Help: help}, labels)
		m.registry.MustRegister(v)
		return v
	}
	m.admission = histogram("admission_delay_seconds", "Time from a request to its admission at the entry.", seconds, "model")
	m.steps = histogram("step_seconds", "Time of a step on the device.", seconds, "model")
	m.requests = histogram("step_requests", "Requests in a step.", counts, "model")
	m.rows = histogram("step_rows", "Tokens that a step takes in, of all its requests.", prometheus.ExponentialBuckets(1, 2, 13), "model")
	m.extends = histogram("extend_tokens", "Tokens that a request takes in in one step.", prometheus.ExponentialBuckets(1, 2, 13), "model")
	m.pending = histogram("pending_seconds", "Time that a request was away from a model, at peers.", seconds, "model")
	m.waits = histogram("wait_seconds", "Time that a request waited at a model until a step took it: since its admission (admission), or since it came back to wait there, for the threshold or its turn (step).", seconds, "model", "since")
	m.running = counter("running_seconds_total", "Time of requests in steps, summed over the requests.", "model")
	m.appended = counter("appended_tokens_total", "Tokens taken in: of prompts (prefill), just written by the model (decode), from peers (resume), again after an eviction (rebuild).", "model", "kind")
	m.recalled = counter("recalled_tokens_total", "Tokens that did not have to be taken in, because their pages were in the KV cache.", "model")
	m.ahead = counter("ahead_tokens_total", "Tokens taken in before their request came to the model, while it was idle.", "model")
	m.used = counter("ahead_used_tokens_total", "Those of them that were of use: the request came while they were in the KV cache.", "model")
	m.committed = counter("tokens_total", "Tokens written.", "model")
	m.drafted = counter("drafted_tokens_total", "Tokens drafted, for another model to judge.", "model")
	m.judged = counter("judged_drafts_total", "Drafts of other models that a model judged: accepted is what it wrote itself, rejected the others.", "model", "verdict")
	m.handoffs = counter("handoffs_total", "Requests handed from one model to another.", "from", "to")
	m.evictions = counter("evictions_total", "Requests that lost their KV pages to others.", "model")
	m.errors = counter("step_errors_total", "Steps that failed.", "model")
	m.faults = counter("faults_total", "Broken invariants of the scheduler. Anything but 0 is a defect.", "model")
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Watch adds what an engine is doing at the time of each scrape.
func (m *Metrics) Watch(snapshot func() sched.Snapshot) {
	m.registry.MustRegister(&moments{snapshot: snapshot})
}

// Handler answers scrapes.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// Observer is to be given to the engine.
func (m *Metrics) Observer() *sched.Observer {
	return &sched.Observer{
		Admit: func(r sched.AdmitRecord) { m.admission.WithLabelValues(r.Model).Observe(r.Time.Sub(r.Asked).Seconds()) },
		Batch: m.batch,
		Ahead: func(r sched.AheadRecord) {
			if r.Err == nil {
				m.ahead.WithLabelValues(r.Model).Add(float64(r.Tokens))
			}
		},
		Handoff: func(r sched.HandoffRecord) {
			if !r.Start {
				m.handoffs.WithLabelValues(r.From, r.To).Inc()
			}
		},
		Resume: func(r sched.ResumeRecord) {
			if r.Known {
				m.pending.WithLabelValues(r.To).Observe(r.Away.Seconds())
			}
		},
		Fault: func(model string, _ error) { m.faults.WithLabelValues(model).Inc() },
	}
}

func (m *Metrics) batch(r sched.BatchRecord) {
	p := m.model(r.Model)
	took := r.End.Sub(r.Start).Seconds()
	p.steps.Observe(took)
	p.requests.Observe(float64(r.Segments))
	p.running.Add(took * float64(r.Segments))
	p.rows.Observe(float64(r.Prefill + r.Decode + r.Resume + r.Rebuild))
	for _, w := range r.Waits {
		if w.First {
			p.first.Observe(w.Time.Seconds())
		} else {
			p.again.Observe(w.Time.Seconds())
		}
	}
	for _, n := range r.Lengths {
		p.extends.Observe(float64(n))
	}
	p.prefill.Add(float64(r.Prefill))
	p.decode.Add(float64(r.Decode))
	p.resume.Add(float64(r.Resume))
	p.rebuild.Add(float64(r.Rebuild))
	p.recalled.Add(float64(r.Recalled))
	p.used.Add(float64(r.Ahead))
	p.committed.Add(float64(r.Committed))
	p.drafted.Add(float64(r.Drafted))
	p.accepted.Add(float64(r.Accepted))
	p.rejected.Add(float64(r.Rejected))
	p.evicted.Add(float64(r.Evicted))
	if r.Err != nil {
		p.failed.Inc()
	}
}

func (m *Metrics) model(name string) *perModel {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.models[name]
	if p == nil {
		kind := func(k string) prometheus.Counter { return m.appended.WithLabelValues(name, k) }
		p = &perModel{
			first: m.waits.WithLabelValues(name, "admission"), again: m.waits.WithLabelValues(name, "step"),
			steps: m.steps.WithLabelValues(name), requests: m.requests.WithLabelValues(name), rows: m.rows.WithLabelValues(name),
			extends: m.extends.WithLabelValues(name), running: m.running.WithLabelValues(name), prefill: kind("prefill"),
			decode: kind("decode"), resume: kind("resume"), rebuild: kind("rebuild"), recalled: m.recalled.WithLabelValues(name), used: m.used.WithLabelValues(name), committed: m.committed.WithLabelValues(name),
			drafted: m.drafted.WithLabelValues(name), accepted: m.judged.WithLabelValues(name, "accepted"), rejected: m.judged.WithLabelValues(name, "rejected"),
			evicted: m.evictions.WithLabelValues(name), failed: m.errors.WithLabelValues(name),
		}
		m.models[name] = p
	}
	return p
}
