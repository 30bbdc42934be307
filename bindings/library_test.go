package bindings

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// load opens the library under test: that of TOKENROUTER_LIB, or the development build.
var loaded = sync.OnceValues(func() (*Library, error) { return Load("") })

func library(t testing.TB) *Library {
	t.Helper()
	l, err := loaded()
	require.NoError(t, err)
	return l
}

func TestLoad(t *testing.T) {
	l := library(t)
	require.True(t, filepath.IsAbs(l.Path()))
	require.NotEmpty(t, l.Version())
	require.Len(t, l.Digest(), 64)
	for _, part := range []string{l.Version(), l.Path(), l.Place(), fmt.Sprint("ABI ", ABIVersion), l.Digest()[:12]} {
		require.Contains(t, l.String(), part)
	}
}

// builtLibrary compiles C code into a shared library.
func builtLibrary(t testing.TB, code string) string {
	t.Helper()
	dir := t.TempDir()
	source := filepath.Join(dir, "library.c")
	require.NoError(t, os.WriteFile(source, []byte(code), 0o600))
	return compileC(t, source, filepath.Join(dir, FileName), "-shared", "-fPIC")
}

func TestOpenErrors(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.so")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	missing := filepath.Join(t.TempDir(), "no", FileName)
	for _, c := range []struct {
		name, path string
		is         error
		says       []string
	}{
		{"no such file", missing, ErrNotFound, []string{missing}},
		{"a directory", t.TempDir(), nil, []string{"not a regular file"}},
		{"not a library", empty, nil, []string{empty, "file too short"}},
		{"another library", builtLibrary(t, "int f(void) { return 1; }"), nil, []string{"not a libtokenrouter", "tr_abi_version"}},
		{"another ABI version", builtLibrary(t, "unsigned tr_abi_version(void) { return 4242; }"), ErrABIVersion,
			[]string{"4242", fmt.Sprint("needs ", ABIVersion), os.Args[0], "make build"}},
		{"a function missing", builtLibrary(t, fmt.Sprintf("unsigned tr_abi_version(void) { return %d; } const char *tr_version(void) { return \"x\"; }", ABIVersion)), nil,
			[]string{"function tr_device_open is missing"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Open(c.path)
			require.Error(t, err)
			if c.is != nil {
				require.ErrorIs(t, err, c.is)
			}
			for _, part := range append(c.says, c.path) {
				require.ErrorContains(t, err, part)
			}
		})
	}
}

// What was asked for by name is never replaced by something else.
func TestLoadTakesWhatWasAskedFor(t *testing.T) {
	l := library(t)
	good := l.Path()
	bad := filepath.Join(t.TempDir(), "absent.so")

	t.Setenv(Variable, bad)
	_, err := Load("")
	require.ErrorIs(t, err, ErrNotFound)
	require.ErrorContains(t, err, bad)
	require.ErrorContains(t, err, Variable)

	l, err = Load(good)
	require.NoError(t, err, "the override comes before the variable")
	require.Equal(t, good, l.Path())

	t.Setenv(Variable, good)
	l, err = Load("")
	require.NoError(t, err)
	require.Equal(t, Variable, l.Place())
	_, err = Load(bad)
	require.ErrorIs(t, err, ErrNotFound)
}

func TestSearch(t *testing.T) {
	good := library(t).Path()
	absent := filepath.Join(t.TempDir(), FileName)
	broken := builtLibrary(t, "unsigned tr_abi_version(void) { return 7; }")

	_, err := search(Variable, []place{filePlace("first", absent), filePlace("second", ""), filePlace("third", absent)}, "make it")
	require.ErrorIs(t, err, ErrNotFound)
	for _, part := range []string{Variable + ": not set", "first: none: " + absent, "second: none", "third: none", "\nmake it"} {
		require.ErrorContains(t, err, part)
	}

	l, err := search(Variable, []place{filePlace("first", absent), filePlace("second", good), filePlace("third", broken)}, "")
	require.NoError(t, err)
	require.Equal(t, "second", l.Place())

	_, err = search(Variable, []place{filePlace("first", broken), filePlace("second", good)}, "")
	require.ErrorIs(t, err, ErrABIVersion, "a library that does not load is not passed over")
}

func TestPlaces(t *testing.T) {
	var names []string
	for _, p := range places() {
		names = append(names, p.name)
	}
	require.Equal(t, []string{"development build", "embedded copy", "beside the executable", "../lib of the executable"}, names)
	require.FileExists(t, sourcePath("go.mod"), "the source tree that this test was compiled from")
}

// The CUDA build is looked for under its own name, its own variable, and in the system's directories.
func TestLoadCUDA(t *testing.T) {
	t.Setenv(CUDAVariable, "")
	t.Setenv("LD_LIBRARY_PATH", "")
	old := systemDirs
	defer func() { systemDirs = old }()
	systemDirs = []string{filepath.Join(t.TempDir(), "lib")}
	if _, err := os.Stat(sourcePath("build", "cuda", CUDAFileName)); err != nil {
		_, err := LoadCUDA("")
		require.ErrorIs(t, err, ErrNotFound)
		for _, part := range []string{CUDAVariable + ": not set", "development build: none", "beside the executable: none", "../lib of the executable: none", "system: none: " + systemDirs[0], "make cuda", CUDAVariable + " to the path of a " + CUDAFileName} {
			require.ErrorContains(t, err, part)
		}
	} else {
		t.Log("the development build is there: what is said without one is not tested")
	}

	content, err := os.ReadFile(library(t).Path())
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, CUDAFileName), content, 0o600))
	open := func(p place) (*Library, error) { return search(CUDAVariable, []place{p}, "") }
	t.Setenv("LD_LIBRARY_PATH", "/nowhere:"+dir)
	var of []place
	for _, p := range cudaPlaces() {
		if p.name == "LD_LIBRARY_PATH" {
			of = append(of, p)
		}
	}
	require.Len(t, of, 2)
	_, err = open(of[0])
	require.ErrorIs(t, err, ErrNotFound)
	l, err := open(of[1])
	require.NoError(t, err)
	require.Equal(t, "LD_LIBRARY_PATH", l.Place())
	runsOn(t, l)

	t.Setenv(CUDAVariable, filepath.Join(dir, CUDAFileName))
	l, err = LoadCUDA("")
	require.NoError(t, err)
	require.Equal(t, CUDAVariable, l.Place())
	_, err = LoadCUDA("/none.so")
	require.ErrorIs(t, err, ErrNotFound)
	t.Setenv(CUDAVariable, builtLibrary(t, "unsigned tr_abi_version(void) { return 7; }"))
	_, err = LoadCUDA("")
	require.ErrorIs(t, err, ErrABIVersion)
}

func TestUsesMusl(t *testing.T) {
	line := func(path string) string {
		return fmt.Sprintf("7f5c1a2b3000-7f5c1a2b4000 r-xp 00000000 08:01 1234                       %s\n", path)
	}
	require.True(t, usesMusl(line("/usr/bin/x")+line("/lib/ld-musl-x86_64.so.1")))
	require.True(t, usesMusl(line("/lib/libc.musl-x86_64.so.1")))
	require.False(t, usesMusl(line("/lib64/ld-linux-x86-64.so.2")+line("/lib/x86_64-linux-gnu/libc.so.6")))
	maps, err := os.ReadFile("/proc/self/maps")
	require.NoError(t, err)
	require.Equal(t, !strings.Contains(string(maps), "ld-linux"), usesMusl(string(maps)), "this process")
}

func TestStatusErrors(t *testing.T) {
	var m message
	copy(m[:], "bad \xff thing\x00left over")
	require.NoError(t, m.failure("tr_x", 0))
	require.NoError(t, m.failure("tr_x", 0xdeadbeef_00000000), "only the low half of the register is the status")
	err := m.failure("tr_x", 3)
	require.ErrorIs(t, err, ErrFormat)
	require.NotErrorIs(t, err, ErrIO)
	require.EqualError(t, err, "tr_x: invalid file format: bad \uFFFD thing")
	require.EqualError(t, new(message).failure("tr_x", 5), "tr_x: out of memory")
	require.ErrorContains(t, new(message).failure("tr_x", 99), "unknown status 99")
	for s := ErrArgument; s <= ErrInternal; s++ {
		require.NotContains(t, s.Error(), "unknown")
	}
}
