package sched

import (
	"fmt"
	"time"
)

// QueueFullError says that there are as many requests as the engine takes. It wraps ErrQueueFull.
type QueueFullError struct {
	Live, Queued int
	Own          bool          // a client with fewer requests of its own would not have been refused
	Retry        time.Duration // after which a place should be free, by how fast requests end at present
}

// Error implements error.
func (e *QueueFullError) Error() string {
	if e.Own {
		return fmt.Sprintf("%v: %d requests are being answered and %d wait, among them as many of this client as it may have then",
			ErrQueueFull, e.Live, e.Queued)
	}
	return fmt.Sprintf("%v: %d requests are being answered and %d wait", ErrQueueFull, e.Live, e.Queued)
}

// Unwrap returns ErrQueueFull.
func (e *QueueFullError) Unwrap() error { return ErrQueueFull }

// pace is how fast requests end.
type pace struct {
	last     time.Time
	interval float64 // seconds between two ends, running mean
}

// ended notes the end of a request that was live.
func (p *pace) ended(now time.Time, others bool) {
	if !p.last.IsZero() {
		x := now.Sub(p.last).Seconds()
		if p.interval == 0 {
			p.interval = x
		}
		p.interval += (x - p.interval) / 8
	}
	p.last = now
	if !others {
		p.last = time.Time{} // an idle time says nothing about the pace
	}
}

// Bounds of QueueFullError.Retry.
const (
	leastRetry = time.Second
	mostRetry  = time.Minute
)

// retry is when a place should be free.
func (p *pace) retry() time.Duration {
	return min(max(time.Duration(p.interval*float64(time.Second)), leastRetry), mostRetry)
}

// full reports whether there is no place for a further request, and whether that is the client's own excess. Where one client fills the queue, others still get in, with a
// few requests each: to them it looks as if the queue were twice as long.
func (e *Engine) full(client string) (full, own bool) {
	all, most := e.queued+e.live, e.options.MaxLive+e.options.MaxQueue
	if all < most {
		return false, false
	}
	if client == "" || e.options.MaxQueue == 0 || all >= 2*most {
		return true, false
	}
	few := 1 + e.options.MaxQueue/16
	own = e.perClient[client] >= few
	return own, own
}
