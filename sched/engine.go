package sched

import "context"

// Engine answers requests with one subserver per model. Its methods are safe for concurrent use.
type Engine struct{}

// NewEngine checks the options and starts the loops. The error says which option is wrong. On error the caller keeps
// the runners; otherwise the engine owns them.
func NewEngine(o Options) (*Engine, error) { return nil, ErrClosed }

// Submit queues a request and returns its answer at once. Cancelling ctx cancels the request as Stream.Cancel does, at
// any time. Errors wrap ErrUnknownTarget, ErrInvalid, ErrTooLong, ErrQueueFull or ErrClosed and say the particulars.
func (e *Engine) Submit(ctx context.Context, r Request) (*Stream, error) { return nil, ErrClosed }

// Snapshot returns what the engine is doing, for readiness probes and tests.
func (e *Engine) Snapshot() Snapshot { return Snapshot{} }

// Close ends the engine: new requests are refused with ErrClosed, those queued and live go on until they end or ctx is
// done, whichever is first, and are then cancelled. It returns when all loops have ended and the runners are closed;
// the error joins those of the runners. Later calls wait for the first and return the same.
func (e *Engine) Close(ctx context.Context) error { return nil }
