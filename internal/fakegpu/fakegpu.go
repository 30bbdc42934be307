// Package fakegpu makes, for tests on machines without a GPU, shared libraries in place of NVIDIA's driver and of libtokenrouter-cuda: a
// GPU that is the processor, and that crashes, hangs or fails when it is told to. They are compiled by the C compiler that building the
// native library needs anyway, and lie in a directory of their own, since Go would compile those of a package itself where it uses cgo.
package fakegpu

import (
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	//go:embed source/driver.c
	driver string
	//go:embed source/library.c
	library string
	//go:embed source/control.h
	control string
)

// Machine is a directory with the two libraries. What Control wrote last holds for them, in all processes.
type Machine struct {
	Driver  string // libcuda.so.1
	Library string // libtokenrouter-cuda.so
	control string
}

// New compiles the libraries, real being the native library that runs the models and header the directory of tokenrouter.h. Child
// processes of the test find the driver, and TOKENROUTER_CUDA_LIB names the library. Where there is no C compiler the test is skipped.
func New(t testing.TB, real, header string) *Machine {
	t.Helper()
	compiler, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("SKIPPED: no C compiler (cc) to make libraries in place of a GPU's; install gcc")
	}
	dir := t.TempDir()
	m := &Machine{Driver: filepath.Join(dir, "libcuda.so.1"), Library: filepath.Join(dir, "libtokenrouter-cuda.so"), control: filepath.Join(dir, "control")}
	header, err = filepath.Abs(header)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "control.h"), []byte(control), 0o600))
	for output, source := range map[string]string{m.Driver: driver, m.Library: library} {
		file := output + ".c"
		require.NoError(t, os.WriteFile(file, []byte(source), 0o600))
		c := exec.Command(compiler, "-std=gnu11", "-O1", "-Wall", "-Werror", "-shared", "-fPIC", "-I", dir, "-I", header,
			`-DCONTROL="`+m.control+`"`, `-DREAL="`+real+`"`, file, "-o", output, "-ldl")
		said, err := c.CombinedOutput()
		require.NoError(t, err, "%s", said)
	}
	m.Control(t, "")
	t.Setenv("LD_LIBRARY_PATH", dir)
	t.Setenv("TOKENROUTER_CUDA_LIB", m.Library)
	return m
}

// Control says how the libraries behave from now on: words such as "driver=hang", "open=crash", "step=lost", "free=1000000".
func (m *Machine) Control(t testing.TB, words string) {
	t.Helper()
	next := m.control + ".next"
	require.NoError(t, os.WriteFile(next, []byte(words), 0o600))
	require.NoError(t, os.Rename(next, m.control)) // whoever reads it reads all of it
}
