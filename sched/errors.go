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
)

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
