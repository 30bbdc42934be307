package bindings

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Environment variables that name a library to load.
const (
	Variable     = "TOKENROUTER_LIB"      // for [Load]
	CUDAVariable = "TOKENROUTER_CUDA_LIB" // for [LoadCUDA]
)

// File names of the library's two builds, which have one ABI.
const (
	FileName     = "libtokenrouter.so"      // devices of the kind cpu
	CUDAFileName = "libtokenrouter-cuda.so" // of the kinds cpu and cuda
)

// Load finds the library and opens it. The first place that has one decides: if that one does not load, it is an error and
// not a reason to look further, so that a program never runs on another library than the one it should.
//
// Places, in order:
//
//  1. override (a flag of the program), if not ""
//  2. the file that the environment variable TOKENROUTER_LIB names
//  3. the development build: build/native of the source tree that this program was compiled from, as long as it is
//     there. A program built with -trimpath, as releases are, knows no such tree.
//  4. the copy that the program carries, if it was built with one; extracted to the user's cache directory
//  5. beside the executable
//  6. ../lib of the executable's directory
//
// The order puts first what was asked for, and then what was most surely built together with this program: a binary that
// carries its library must not pick up an older one from a ../lib it was installed next to.
//
// Errors: those of [Open]; [ErrNotFound] lists every place.
func Load(override string) (*Library, error) {
	return load(override, Variable, places, fmt.Sprintf("build it (make build), or set %s to the path of a %s", Variable, FileName))
}

// LoadCUDA is Load for the build that runs models on GPUs, too. It loads where there is no GPU and no driver: both are looked for when a
// device is opened.
//
// Places, in order: override; TOKENROUTER_CUDA_LIB; the development build, build/cuda; beside the executable; ../lib of its directory;
// the directories of LD_LIBRARY_PATH; the system's library directories. No program carries a copy.
func LoadCUDA(override string) (*Library, error) {
	return load(override, CUDAVariable, cudaPlaces, fmt.Sprintf("build it (make cuda; make install puts it into ../lib), or set %s to the path of a %s", CUDAVariable, CUDAFileName))
}

func load(override, variable string, places func() []place, advice string) (*Library, error) {
	if err := checkPlatform(); err != nil {
		return nil, err
	}
	if override != "" {
		return open(override, "given path")
	}
	if path := os.Getenv(variable); path != "" {
		return open(path, variable)
	}
	return search(variable, places(), advice)
}

// search opens the library of the first place that has one.
func search(variable string, places []place, advice string) (*Library, error) {
	looked := []string{variable + ": not set"}
	for _, place := range places {
		library, err := place.open()
		if err == nil {
			return library, nil
		}
		if !errors.Is(err, errAbsent) {
			return nil, err
		}
		looked = append(looked, fmt.Sprintf("%s: %v", place.name, err))
	}
	return nil, fmt.Errorf("%w; looked at:\n  %s\n%s", ErrNotFound, strings.Join(looked, "\n  "), advice)
}

// errAbsent says that a place has no library.
var errAbsent = errors.New("none")

// place is where a library may be. open returns an error that is errAbsent if there is none.
type place struct {
	name string
	open func() (*Library, error)
}

func places() []place {
	executable := executableDir()
	return []place{
		filePlace("development build", sourcePath("build", "native", FileName)),
		{"embedded copy", openEmbedded},
		filePlace("beside the executable", join(executable, FileName)),
		filePlace("../lib of the executable", join(executable, "..", "lib", FileName)),
	}
}

// systemDirs are where packages and `make install` put libraries on the systems that the library runs on.
var systemDirs = []string{"/usr/local/lib", "/usr/local/lib64", "/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib"}

func cudaPlaces() []place {
	executable := executableDir()
	list := []place{
		filePlace("development build", sourcePath("build", "cuda", CUDAFileName)),
		filePlace("beside the executable", join(executable, CUDAFileName)),
		filePlace("../lib of the executable", join(executable, "..", "lib", CUDAFileName)),
	}
	for _, dir := range filepath.SplitList(os.Getenv("LD_LIBRARY_PATH")) {
		list = append(list, filePlace("LD_LIBRARY_PATH", join(dir, CUDAFileName)))
	}
	for _, dir := range systemDirs {
		list = append(list, filePlace("system", join(dir, CUDAFileName)))
	}
	return list
}

// filePlace is a place that is one file; path is "" if this process has no such place.
func filePlace(name, path string) place {
	return place{name, func() (*Library, error) {
		if path == "" {
			return nil, fmt.Errorf("%w: this program has no such place", errAbsent)
		}
		if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("%w: %s does not exist", errAbsent, path)
		}
		return open(path, name)
	}}
}

// sourcePath is a path in the source tree that this package was compiled from; "" if the compiler left the tree out.
func sourcePath(elements ...string) string {
	_, file, _, ok := runtime.Caller(0)
	if !ok || !filepath.IsAbs(file) {
		return "" // built with -trimpath: "github.com/..."
	}
	return filepath.Join(append([]string{filepath.Dir(filepath.Dir(file))}, elements...)...)
}

// executableDir is the directory of the program, symbolic links resolved; "" if unknown.
func executableDir() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return ""
	}
	return filepath.Dir(path)
}

func join(dir string, elements ...string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(append([]string{dir}, elements...)...)
}
