package sched

// Snapshot is a moment of an [Engine]. Counts of different models are not taken at the same instant.
type Snapshot struct {
	Queue  int             // requests that wait to be admitted
	Live   int             // requests admitted and not yet finished
	Closed bool            // no new requests are taken
	Models []ModelSnapshot // in the order of Options.Models
	Fault  error           // the first broken invariant found, if any
}

// ModelSnapshot is a moment of one subserver.
type ModelSnapshot struct {
	Name      string
	Live      int // live requests of routes that this model is part of
	Waiting   int
	Running   int
	Pending   int
	Pages     int // of the KV cache
	FreePages int
	Steps     uint64 // since the start
}

// Snapshot returns what the engine is doing, for readiness probes and tests.
func (e *Engine) Snapshot() Snapshot {
	e.mu.Lock()
	snap := Snapshot{Queue: e.queued, Live: e.live, Closed: e.shut, Fault: e.broken}
	e.mu.Unlock()
	for _, s := range e.subservers {
		s.mu.Lock()
		snap.Models = append(snap.Models, ModelSnapshot{
			Name: s.name, Live: len(s.live),
			Waiting: s.counts[Waiting], Running: s.counts[Running], Pending: s.counts[Pending],
			Pages: s.pool.Pages(), FreePages: s.pool.FreePages(), Steps: s.steps,
		})
		s.mu.Unlock()
	}
	return snap
}
