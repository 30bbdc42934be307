package sched

// Snapshot is a moment of an [Engine]. Counts of different models are not taken at the same instant.
type Snapshot struct {
	Queue  int // requests that wait to be admitted
	Live   int // requests admitted and not yet finished
	Closed bool
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
