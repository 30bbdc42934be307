package bindings

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// resource is the Go side of a native handle's life. Calls on the handle hold it open (use, release); close waits for them
// and refuses while children live, so that no handle is freed under a call or before what was made from it.
type resource struct {
	kind     string // "model", for messages
	parent   *resource
	mu       sync.RWMutex // read: a call is running; write: closing
	closed   bool
	children atomic.Int32
}

// use begins a call. Every nil return needs a release.
func (r *resource) use() error {
	r.mu.RLock()
	if r.closed {
		r.mu.RUnlock()
		return fmt.Errorf("%s: %w", r.kind, ErrClosed)
	}
	return nil
}

// release ends a call.
func (r *resource) release() { r.mu.RUnlock() }

// adopt makes r, in whose use the caller is, the parent of child.
func (r *resource) adopt(child *resource, kind string) {
	child.kind, child.parent = kind, r
	r.children.Add(1)
}

// close runs free once, when no call is running. Closing a second time does nothing.
func (r *resource) close(free func()) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil
	}
	if n := r.children.Load(); n > 0 {
		return fmt.Errorf("close %s: %w: %d made from it still open; close them first", r.kind, ErrInUse, n)
	}
	r.closed = true
	free()
	if r.parent != nil {
		r.parent.children.Add(-1)
	}
	return nil
}
