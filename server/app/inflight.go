package app

import "sync"

// inflight counts requests, so that those which had begun before some moment can be waited for.
type inflight struct {
	mu     sync.Mutex
	n      int
	closed chan struct{} // nil: nobody waits; closed when none is left of those that had begun before
}

// begin counts a request in; end counts it out.
func (f *inflight) begin() (end func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed != nil {
		return func() {}
	}
	f.n++
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.n--; f.n == 0 && f.closed != nil {
			close(f.closed)
		}
	}
}

// wait returns a channel that is closed when the requests that have begun so far have ended. It is called once.
func (f *inflight) wait() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = make(chan struct{})
	if f.n == 0 {
		close(f.closed)
	}
	return f.closed
}
