package sched

import "context"

// Stream is the answer to one request. Its methods are safe for concurrent use.
type Stream struct{}

// Next returns the next event. After the last one (the one with Finish set) it returns io.EOF. It waits no longer than
// ctx allows; giving up on Next does not cancel the request. A reader that is slow, or never reads, holds up nobody.
func (s *Stream) Next(ctx context.Context) (Event, error) { return Event{}, ErrClosed }

// ID returns the request's ID.
func (s *Stream) ID() string { return "" }

// Summary returns the account of the request: final once Next has returned the last event, so far before that.
func (s *Stream) Summary() Summary { return Summary{} }

// Cancel ends the request on all subservers; the last event then has FinishCancelled. After the end it does nothing.
func (s *Stream) Cancel() {}
