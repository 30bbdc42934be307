package sched

// GraphCounts are steps on a device that records what steps of a shape do, and runs it again as a whole: those that found a recording
// (hits), and the others.
type GraphCounts struct {
	Hits, Misses uint64
}

// GraphRunner is a [Runner] whose device may record steps.
type GraphRunner interface {
	Runner
	// Graphs counts the steps since the runner was made; nil where the device records none. Not during a Step.
	Graphs() *GraphCounts
}

// countGraphs keeps the counts after a step for snapshots.
func (s *subserver) countGraphs() {
	if r, ok := s.runner.(GraphRunner); ok {
		s.graphs.Store(r.Graphs())
	}
}
