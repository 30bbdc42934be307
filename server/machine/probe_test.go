package machine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/internal/fakegpu"
	"github.com/tokenrouter/tokenrouter/sched"
)

// gpu is a machine with a GPU that is none.
func gpu(t *testing.T) *fakegpu.Machine {
	t.Helper()
	d, err := sched.OpenNativeDevice(sched.NativeOptions{})
	require.NoError(t, err)
	path := d.LibraryPath()
	require.NoError(t, d.Close())
	return fakegpu.New(t, path, "../../native/include")
}

var ask = sched.NativeOptions{Kind: "cuda", Threads: 1}

func TestProbe(t *testing.T) {
	m := gpu(t)
	m.Control(t, "gpus=2 memory=2000000000 free=1500000000")
	o := ask
	o.Kind = "cuda:1"
	p := Prober{}.Probe(t.Context(), o)
	require.NoError(t, p.Err())
	require.Equal(t, sched.NativeProbe{
		Kind: "cuda:1", Library: m.Library, Name: "Fake GPU 1", Capability: "9.0", Memory: 2_000_000_000, Free: 1_500_000_000, Driver: "13.0",
		GPUs: []string{"Fake GPU 0", "Fake GPU 1"}, Threads: 1,
	}, p)
}

func TestProbeSaysWhatIsWrong(t *testing.T) {
	m := gpu(t)
	for words, c := range map[string]struct {
		fault sched.Fault
		says  string
	}{
		"driver=crash":     {sched.FaultCrash, "opening cuda:3 crashed the process that tried it (exit status 2): SIGSEGV: segmentation violation"},
		"driver=abort":     {sched.FaultCrash, "SIGABRT: abort"},
		"driver=exit":      {sched.FaultCrash, "the process that opened cuda:3 ended without an answer: it said nothing"},
		"driver=no-device": {sched.FaultNoDevice, "an NVIDIA driver is there, and finds none (cuInit: CUDA error 100 (no CUDA-capable device is detected)); CUDA_VISIBLE_DEVICES"},
		"driver=mismatch":  {sched.FaultDriver, "its library and the module in the kernel are of different releases"},
		"":                 {sched.FaultNoDevice, "there is no GPU 3: this machine has 1, counted from 0 (Fake GPU 0)"},
	} {
		m.Control(t, words)
		o := ask
		o.Kind = "cuda:3"
		p := Prober{}.Probe(t.Context(), o)
		require.Equal(t, c.fault, p.Fault, words)
		require.ErrorContains(t, p.Err(), c.says)
	}
	for words, c := range map[string]struct {
		fault sched.Fault
		says  string
	}{
		"gpu=old":                    {sched.FaultUnsupported, "GPU 0, Fake GPU 0, has compute capability 7.5; 8.0 or later is needed"},
		"driver=old open=old-driver": {sched.FaultOldDriver, "the NVIDIA driver is too old for this library: it supports CUDA 12.4; update it"},
		"open=no-memory":             {sched.FaultNoMemory, "cuda has no memory left: other programs have taken it"},
		"open=fails":                 {sched.FaultDevice, "cuda cannot be opened: tr_device_open: device failure: the GPU failed while being opened: unknown error"},
		"open=crash":                 {sched.FaultCrash, "SIGSEGV"},
	} {
		m.Control(t, words)
		p := Prober{}.Probe(t.Context(), ask)
		require.Equal(t, c.fault, p.Fault, words)
		require.ErrorContains(t, p.Err(), c.says)
	}
	m.Control(t, "")
	t.Setenv("TOKENROUTER_CUDA_LIB", filepath.Join(t.TempDir(), "none.so"))
	p := Prober{}.Probe(t.Context(), ask)
	require.Equal(t, sched.FaultLibrary, p.Fault)
	require.ErrorContains(t, p.Err(), "none.so")
	require.Equal(t, "Fake GPU 0", p.Name, "what is known is said")
}

func TestProbeEndsInTime(t *testing.T) {
	m := gpu(t)
	for _, words := range []string{"driver=hang", "open=hang"} {
		m.Control(t, words)
		p := Prober{Timeout: 2 * time.Second}.Probe(t.Context(), ask)
		require.Equal(t, sched.FaultTimeout, p.Fault)
		require.ErrorContains(t, p.Err(), "opening cuda took longer than 2s: the driver hangs")
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("no longer wanted"))
	p := Prober{}.Probe(ctx, ask)
	require.ErrorContains(t, p.Err(), "no longer wanted")
}

// Without a driver, which is how most machines are.
func TestProbeWithoutDriver(t *testing.T) {
	for _, dir := range []string{"/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/local/nvidia/lib64"} {
		if _, err := os.Stat(filepath.Join(dir, "libcuda.so.1")); err == nil {
			t.Skip("this machine has a driver")
		}
	}
	t.Setenv("LD_LIBRARY_PATH", "")
	p := Prober{}.Probe(t.Context(), ask)
	require.Equal(t, sched.FaultNoDriver, p.Fault)
	require.ErrorContains(t, p.Err(), "no NVIDIA driver: libcuda.so.1 is not on this system; install it")
	p = Prober{Executable: "/none"}.Probe(t.Context(), ask)
	require.Equal(t, sched.FaultProbe, p.Fault)
	require.ErrorContains(t, p.Err(), "/none")
}

func TestProbeOfTheProcessor(t *testing.T) {
	p := Prober{}.Probe(t.Context(), sched.NativeOptions{Kind: "cpu", Threads: 2})
	require.NoError(t, p.Err())
	require.Equal(t, 2, p.Threads)
	require.Empty(t, p.Name)
}
