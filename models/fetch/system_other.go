//go:build !linux && !darwin

package fetch

import (
	"errors"
	"os"
)

// lock always succeeds: here two downloads of one file must not be started at a time.
func lock(*os.File) (bool, error) { return true, nil }

// FreeSpace is not known here.
func FreeSpace(string) (uint64, error) { return 0, errors.ErrUnsupported }
