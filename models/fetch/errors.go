package fetch

import (
	"errors"
	"fmt"
	"time"
)

// What [Fetcher.File] fails with, to be told apart with errors.Is.
var (
	ErrNotFound = errors.New("not found on the host")
	ErrDenied   = errors.New("the host denies access")
	ErrChecksum = errors.New("wrong checksum")
	ErrSpace    = errors.New("not enough room on the disk")
	// ErrOther says that the host has another file than the one that was asked for.
	ErrOther = errors.New("the host has another file")
)

var errRedirect = errors.New("the redirect is not followed")

// temporary is a failure that another try may not have.
type temporary struct {
	err   error
	after time.Duration // that the host asked to wait; 0: it did not say
}

func (t *temporary) Error() string { return t.err.Error() }
func (t *temporary) Unwrap() error { return t.err }

func passing(format string, args ...any) error { return &temporary{err: fmt.Errorf(format, args...)} }

// startOver is a temporary failure after which what has come is of no use.
type startOver struct{ err error }

func (s *startOver) Error() string { return s.err.Error() }
func (s *startOver) Unwrap() error { return s.err }

func useless(format string, args ...any) error { return &startOver{fmt.Errorf(format, args...)} }
