//go:build !(linux && amd64)

package bindings

import (
	"fmt"
	"runtime"
)

// checkPlatform refuses: version 1 of the library is for Linux on x86-64.
func checkPlatform() error {
	return fmt.Errorf("%w: this is %s on %s; run it on Linux on x86-64, or talk to a server there", ErrPlatform, runtime.GOOS, runtime.GOARCH)
}

func openObject(string) (uintptr, error)      { return 0, checkPlatform() }
func closeObject(uintptr) error               { return checkPlatform() }
func lookup(uintptr, string) (uintptr, error) { return 0, checkPlatform() }

// call is unreachable here: every call goes through a handle, and no library can have been opened.
//
//go:uintptrescapes
func call(uintptr, ...uintptr) uintptr { panic(checkPlatform()) }
