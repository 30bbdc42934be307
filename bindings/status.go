package bindings

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// Status is the tr_status of a failed call. As an error it is a sentinel: errors.Is(err, bindings.ErrFormat).
type Status int32

// The failures of the header, by its names. statusOK is not an error and never returned as one.
const (
	statusOK       Status = 0
	ErrArgument    Status = 1 // the call is wrong: an id out of range, a page table too short
	ErrIO          Status = 2 // a file cannot be opened, read or mapped
	ErrFormat      Status = 3 // a file is not a valid GGUF file
	ErrUnsupported Status = 4 // a valid file or setting that the library does not run
	ErrNoMemory    Status = 5 // an allocation failed
	ErrDevice      Status = 6 // the device failed or is gone
	ErrInternal    Status = 7 // a fault of the library's own
)

// Error names the status.
func (s Status) Error() string {
	switch s {
	case statusOK:
		return "no error"
	case ErrArgument:
		return "invalid argument"
	case ErrIO:
		return "input/output error"
	case ErrFormat:
		return "invalid file format"
	case ErrUnsupported:
		return "not supported"
	case ErrNoMemory:
		return "out of memory"
	case ErrDevice:
		return "device failure"
	case ErrInternal:
		return "internal error of the native library"
	default:
		return fmt.Sprintf("unknown status %d of the native library", int32(s))
	}
}

// Failures that Go finds before or instead of the library.
var (
	ErrPlatform   = errors.New("the native library does not run on this system (it needs Linux on x86-64 with glibc)")
	ErrNotFound   = errors.New("native library not found")
	ErrABIVersion = errors.New("native library of another ABI version")
	ErrClosed     = errors.New("handle is closed")
	ErrInUse      = errors.New("handle is in use")
)

// Error is a failed call of the library: which one, its status, and the library's own message. It unwraps to its Status.
type Error struct {
	Call    string // C function: "tr_model_load"
	Status  Status
	Message string // as the library wrote it; may be empty
}

// Error gives the message, or the status where the library gave no message.
func (e *Error) Error() string {
	if e.Message == "" {
		return e.Call + ": " + e.Status.Error()
	}
	return e.Call + ": " + e.Status.Error() + ": " + e.Message
}

// Unwrap returns the Status, for errors.Is.
func (e *Error) Unwrap() error { return e.Status }

// messageBytes bounds the library's message. A longer one is cut by the library.
const messageBytes = 1024

// message is a caller's error buffer: `char *err, size_t err_len`. One belongs to one call at a time, so that it does not
// matter on which thread the call runs.
type message [messageBytes]byte

// failure turns a returned tr_status into an error; nil for TR_OK.
func (m *message) failure(function string, result uintptr) error {
	status := Status(int32(uint32(result))) // tr_status is the low half of the result register; the rest is undefined
	if status == statusOK {
		return nil
	}
	return &Error{Call: function, Status: status, Message: text(m[:])}
}

// text is what a buffer holds up to its first NUL.
func text(buffer []byte) string {
	if end := bytes.IndexByte(buffer, 0); end >= 0 {
		buffer = buffer[:end]
	}
	return strings.ToValidUTF8(string(buffer), "\uFFFD")
}

// reset empties a buffer that is used again.
func (m *message) reset() { m[0] = 0 }
