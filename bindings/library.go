package bindings

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// ABIVersion is the TR_ABI_VERSION that this package is written for.
const ABIVersion = 5

// Library is an opened libtokenrouter. It stays loaded until the process ends: its thread pool must not lose its code.
// Safe for concurrent use.
type Library struct {
	path    string
	place   string
	digest  string
	version string
	fn      symbols
}

// Path is the file that was loaded. An embedded copy that was extracted to a temporary place is gone from there already.
func (l *Library) Path() string { return l.path }

// Place says in words where the library was found: "TOKENROUTER_LIB", "embedded copy", ...
func (l *Library) Place() string { return l.place }

// Digest is the SHA-256 of the file, in hexadecimal.
func (l *Library) Digest() string { return l.digest }

// Version is the library's own line about itself: version, build, instruction sets.
func (l *Library) Version() string { return l.version }

// String is one line for a log.
func (l *Library) String() string {
	return fmt.Sprintf("%s (%s, %s, ABI %d, sha256 %.12s)", l.version, l.path, l.place, ABIVersion, l.digest)
}

// Open loads the library at path, which it makes absolute, and compares ABI versions before it binds anything else.
//
// Errors: [ErrPlatform], [ErrNotFound] (no such file), [ErrABIVersion], and what the system's loader says.
func Open(path string) (*Library, error) {
	return open(path, "given path")
}

func open(path, place string) (*Library, error) {
	if err := checkPlatform(); err != nil {
		return nil, err
	}
	// With a slash in it the loader takes the path as it is and searches nowhere else.
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("native library %s: %w", path, err)
	}
	digest, err := digestOf(path)
	if os.IsNotExist(err) {
		return nil, fmt.Errorf("%w: %s (%s): no such file", ErrNotFound, path, place)
	}
	if err != nil {
		return nil, fmt.Errorf("native library %s (%s): %w", path, place, err)
	}
	object, err := openObject(path)
	if err != nil {
		return nil, fmt.Errorf("native library %s (%s): %w", path, place, err)
	}
	l := &Library{path: path, place: place, digest: digest}
	if err := l.bind(object); err != nil {
		_ = closeObject(object) // only tr_abi_version can have run in it
		return nil, fmt.Errorf("native library %s (%s): %w", path, place, err)
	}
	l.version = l.describe()
	return l, nil
}

// bind checks the ABI version and then looks the other functions up.
func (l *Library) bind(object uintptr) error {
	address, err := lookup(object, "tr_abi_version")
	if err != nil {
		return fmt.Errorf("not a libtokenrouter: %w", err)
	}
	l.fn.abiVersion = address
	if found := l.abiVersion(); found != ABIVersion {
		program, err := os.Executable()
		if err != nil {
			program = os.Args[0]
		}
		return fmt.Errorf("%w: it has ABI version %d, this program (%s) needs %d; build both from one source (make build), or remove the library and let the program use its own copy",
			ErrABIVersion, found, program, ABIVersion)
	}
	return l.fn.bind(object)
}

// uint32_t tr_abi_version(void);
func (l *Library) abiVersion() uint32 {
	return uint32(call(l.fn.abiVersion))
}

// const char *tr_version(void);
func (l *Library) describe() string {
	return nativeString(call(l.fn.version)) // safe: a constant string of the library, which is never unloaded
}

// digestOf is the SHA-256 of a regular file.
func digestOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil {
		return "", err
	} else if !info.Mode().IsRegular() {
		return "", fmt.Errorf("not a regular file but %s", info.Mode().Type())
	}
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
