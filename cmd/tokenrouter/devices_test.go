package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/internal/fakegpu"
	"github.com/tokenrouter/tokenrouter/sched"
)

// gpu makes a machine with GPUs, which in truth are the processor.
func gpu(t *testing.T) *fakegpu.Machine {
	t.Helper()
	d, err := sched.OpenNativeDevice(sched.NativeOptions{})
	require.NoError(t, err)
	path := d.LibraryPath()
	require.NoError(t, d.Close())
	return fakegpu.New(t, path, "../../native/include")
}

func TestDevices(t *testing.T) {
	m := gpu(t)
	m.Control(t, "gpus=2 memory=24000000000 free=20000000000")
	status, out, aside := shell(t, "", "devices")
	require.Zero(t, status, aside)
	require.Regexp(t, `(?m)^cpu +\S.* GB +[\d.]+ GB *$`, out)
	require.Regexp(t, `(?m)^cuda +Fake GPU 0, compute capability 9.0 +24.0 GB +20.0 GB *$`, out)
	require.Regexp(t, `(?m)^cuda:1 +Fake GPU 1, compute capability 9.0 +24.0 GB +20.0 GB *$`, out)

	m.Control(t, "driver=mismatch")
	status, out, aside = shell(t, "", "devices", "--json")
	require.Zero(t, status, aside)
	var list []sched.NativeProbe
	require.NoError(t, json.Unmarshal([]byte(out), &list))
	require.Len(t, list, 2)
	require.Empty(t, list[0].Fault)
	require.Equal(t, sched.FaultDriver, list[1].Fault)
	require.Contains(t, list[1].Reason, "reboot")
	status, out, _ = shell(t, "", "devices", "--cuda-library", "/none.so")
	require.Zero(t, status)
	require.Contains(t, out, "reboot", "the driver comes first")
}

func TestDoctorAndGPUs(t *testing.T) {
	m := gpu(t)
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	t.Setenv("TOKENROUTER_MODELS", dir)
	small, _ := tiny(t)
	file := filepath.Join(dir, "c.yaml")
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, "models: [{name: s, path: %s, device: cuda}]\n", small), 0o600))
	status, out, aside := shell(t, "", "doctor", "-c", file)
	require.Zero(t, status, aside+out)
	require.Regexp(t, `(?m)^ok +gpu +cuda: Fake GPU 0, compute capability 9.0, 1.1 GB, 1.0 GB free, driver for CUDA 13.0; run and serve take it with --device cuda$`, out)
	require.Regexp(t, `(?m)^ok +configuration +\S+c.yaml: 1 model, 0 routes; takes about`, out)
	m.Control(t, "open=crash")
	status, out, _ = shell(t, "", "doctor", "-c", file)
	require.Equal(t, 1, status)
	require.Regexp(t, `(?m)^warning +gpu +cuda\n +-> opening cuda crashed`, out)
	require.Regexp(t, `(?m)^PROBLEM +configuration .*\n +-> model "s" is on device "cuda": opening cuda crashed the process that tried it \(.*\): SIGSEGV`, out)
}

func TestRunOnAGPU(t *testing.T) {
	m := gpu(t)
	small, large := tiny(t)
	base := []string{"run", "--small", small, "--large", large, "--threads", "2", "--max-tokens", "9", "the sea"}
	status, onCPU, aside := shell(t, "", base...)
	require.Zero(t, status, aside)
	status, onGPU, aside := shell(t, "", append(base, "--device", "cuda")...)
	require.Zero(t, status, aside)
	require.Equal(t, onCPU, onGPU)
	m.Control(t, "driver=no-device")
	status, _, aside = shell(t, "", append(base, "--device", "cuda")...)
	require.Equal(t, 1, status)
	require.Contains(t, aside, `device "cuda": there is no GPU`)
	status, _, aside = shell(t, "", append(base, "--device", "graphics")...)
	require.Equal(t, 1, status)
	require.Contains(t, aside, `--device: no device is called "graphics"`)
	status, _, aside = shell(t, "", "bench", small, "--device", "cuda")
	require.Equal(t, 1, status)
	require.Contains(t, aside, "--device cuda: there is no GPU")
}
