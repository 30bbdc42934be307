package sched

import "time"

// Snapshot is a moment of an [Engine]. Counts of different models are not taken at the same instant.
type Snapshot struct {
	Queue   int              // requests that wait to be admitted
	Live    int              // requests admitted and not yet finished
	Closed  bool             // no new requests are taken
	Policy  Policy           // of batching
	Models  []ModelSnapshot  // in the order of Options.Models
	Devices []DeviceSnapshot // that models are on
	Fault   error            // the first broken invariant found, if any
}

// DeviceSnapshot is a moment of a device.
type DeviceSnapshot struct {
	Name       string
	Concurrent bool
	Models     []string
	Lost       error // why steps on it fail; nil: they do not
}

// ModelSnapshot is a moment of one subserver.
type ModelSnapshot struct {
	Name       string
	Live       int // live requests of routes that this model is part of
	Waiting    int
	Running    int
	Pending    int
	Pages      int    // of the KV cache
	PageTokens int    // tokens of a page
	FreePages  int    // those with known contents, which are kept until they are needed, included
	Cached     int    // of FreePages: those with known contents
	Steps      uint64 // since the start

	Batch    int    // requests of the last step
	Requests uint64 // of all steps, since the start
	Tokens   uint64 // written, since the start

	Threshold int           // requests that a step waits for now
	Planned   int           // the same before it is clipped to what can come and what fits
	MaxWait   time.Duration // longest wait for it; 0: no bound
	Latency   LatencySnapshot
	Graphs    *GraphCounts       // of the steps; nil: none yet, or the device records none
	Routing   map[string]float64 // estimate of where requests of routes go after a step, by model; nil: none has come here
	Share     float64            // of the tokens of routes that was written here, since the start
}

// LatencySnapshot is an estimate of how long a step takes: Base + PerRequest*requests + PerRow*tokens, in seconds.
type LatencySnapshot struct {
	Known                    bool
	Base, PerRequest, PerRow float64
	Stretch                  float64 // times as long while another model on the device steps, too; 0: not known, or they take turns
}

// Snapshot returns what the engine is doing, for readiness probes and tests.
func (e *Engine) Snapshot() Snapshot {
	e.mu.Lock()
	snap := Snapshot{Queue: e.queued, Live: e.live, Closed: e.shut, Policy: e.options.Policy, Fault: e.broken}
	e.mu.Unlock()
	for _, s := range e.subservers {
		s.mu.Lock()
		m := ModelSnapshot{
			Name: s.name, Live: len(s.live),
			Waiting: s.counts[Waiting], Running: s.counts[Running], Pending: s.counts[Pending],
			Pages: s.pool.Pages(), PageTokens: s.info.PageTokens, FreePages: s.pool.FreePages(), Cached: s.pool.CachedPages(), Steps: s.steps,
			Batch: s.batch, Requests: s.served, Tokens: s.written,
			Threshold: s.bound(), Planned: s.ruled(s.visitors), MaxWait: max(0, s.waitLimit()),
		}
		m.Graphs = s.graphs.Load()
		latency, known := s.observed.latency()
		m.Latency = LatencySnapshot{known, latency.Base, latency.PerRequest, latency.PerRow, s.observed.stretch()}
		all := 0.0
		for _, x := range s.observed.moves {
			all += x
		}
		if all > 0 {
			m.Routing = make(map[string]float64)
			for i, x := range s.observed.moves {
				if x > 0 {
					m.Routing[e.subservers[i].name] = x / all
				}
			}
		}
		m.Share = s.observed.tokens
		s.mu.Unlock()
		snap.Models = append(snap.Models, m)
	}
	for _, d := range e.devices {
		one := DeviceSnapshot{Name: d.name, Concurrent: d.concurrent, Lost: d.gone()}
		for _, s := range d.members {
			one.Models = append(one.Models, s.name)
		}
		snap.Devices = append(snap.Devices, one)
	}
	snap.shares(e)
	return snap
}

// shares turns the tokens that models have written into shares of their group.
func (snap *Snapshot) shares(e *Engine) {
	for _, g := range e.groups {
		all := 0.0
		for _, s := range g.members {
			all += snap.Models[s.index].Share
		}
		for _, s := range g.members {
			if all > 0 {
				snap.Models[s.index].Share /= all
			}
		}
	}
}
