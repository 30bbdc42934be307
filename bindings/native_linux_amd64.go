package bindings

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/ebitengine/purego"
)

// The only file that uses purego.

// checkPlatform reports why the library cannot run in this process; nil if it can.
func checkPlatform() error {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return nil // no /proc: the loader itself will say what is wrong
	}
	if usesMusl(string(maps)) {
		return fmt.Errorf("%w: this process runs on musl, the library needs glibc; use a glibc system such as the Debian image",
			ErrPlatform)
	}
	return nil
}

// openObject loads a shared object and keeps its symbols to itself.
func openObject(path string) (uintptr, error) {
	object, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		if strings.Contains(err.Error(), "GLIBC_") {
			return 0, fmt.Errorf("%w (the library was built for a newer glibc than this system's: build it here, or use a newer system)", err)
		}
		return 0, err
	}
	return object, nil
}

// closeObject unloads an object in which nothing has been called that lives on.
func closeObject(object uintptr) error { return purego.Dlclose(object) }

// lookup returns the address of a symbol.
func lookup(object uintptr, name string) (uintptr, error) {
	address, err := purego.Dlsym(object, name)
	if err == nil && address == 0 {
		err = errors.New("symbol is null")
	}
	return address, err
}

// call calls a C function of integer and pointer arguments. It allocates the list of arguments, nothing else. It uses
// SyscallN and not a registered function: those go through reflection, with several allocations per call.
//
// The directive makes the compiler move what a uintptr(unsafe.Pointer(p)) among the arguments points to onto the heap,
// and keep it alive until call returns (rule 4 of unsafe.Pointer).
//
//go:uintptrescapes
func call(function uintptr, args ...uintptr) uintptr {
	result, _, _ := purego.SyscallN(function, args...)
	return result
}
