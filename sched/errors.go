package sched

import (
	"errors"
	"fmt"
)

// Errors of [Engine.Submit], to be matched with errors.Is. The errors returned wrap them and say the particulars.
var (
	ErrUnknownTarget = errors.New("unknown model or route")
	ErrTooLong       = errors.New("prompt too long") // prompt and one token exceed the context or the KV cache
	ErrQueueFull     = errors.New("queue full")
	ErrClosed        = errors.New("engine closed")
	ErrInvalid       = errors.New("invalid request")
	ErrLost          = errors.New("device lost") // also of a Runner's steps: none of the device's will succeed any more
)

// BusyError says that requests may still come to a model that was to be vacated.
type BusyError struct {
	Model    string
	Requests int // that are queued or live; 0: none is, the last ones are just being finished there
}

// Error implements error.
func (e *BusyError) Error() string {
	switch e.Requests {
	case 0:
		return fmt.Sprintf("model %q is finishing its last requests", e.Model)
	case 1:
		return fmt.Sprintf("a request that may come to %q is being answered or waits", e.Model)
	default:
		return fmt.Sprintf("%d requests that may come to %q are being answered or wait", e.Requests, e.Model)
	}
}

// HeadError is what Submit's error wraps, beside ErrInvalid, where the route cannot have the algorithm that a request asks for, because
// that needs a router head which the route does not have.
type HeadError struct {
	Err error // the particulars
}

// Error implements error.
func (e *HeadError) Error() string { return e.Err.Error() }

// Unwrap returns the particulars.
func (e *HeadError) Unwrap() error { return e.Err }

// ModelError is what Event.Err holds when a model could not go on with a request: its runner failed, its algorithm
// misbehaved, or a message did not fit.
type ModelError struct {
	Model string // name of the model
	Err   error  // the cause
}

// Error implements error.
func (e *ModelError) Error() string { return fmt.Sprintf("model %q: %v", e.Model, e.Err) }

// Unwrap returns the cause.
func (e *ModelError) Unwrap() error { return e.Err }
