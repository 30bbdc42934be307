// Package cputime measures processor time: unlike the clock it does not depend on who else is running, so tests can put
// bounds on it.
package cputime

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Now is what this process has used so far of all cores.
func Now(t testing.TB) time.Duration {
	t.Helper()
	var u syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
