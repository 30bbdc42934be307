package machine

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == ProbeCommand {
		if err := ProbeChild(os.Args[2], os.Stdout); err != nil {
			panic(err)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// pretend makes a machine of files.
func pretend(t *testing.T, files map[string]string) {
	t.Helper()
	old := root
	root = t.TempDir()
	t.Cleanup(func() { root = old })
	for path, text := range files {
		path = filepath.Join(root, path)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
}

func TestCPU(t *testing.T) {
	pretend(t, map[string]string{"proc/cpuinfo": "processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\nflags\t\t: fpu avx2 fma f16c avx512f\n\nprocessor\t: 1\nmodel name\t: Some CPU @ 2 GHz\n"})
	require.Equal(t, CPU{Name: "Some CPU @ 2 GHz", Cores: runtime.NumCPU(), Features: []string{"avx2", "fma", "f16c", "avx512f"}}, FindCPU())
	pretend(t, map[string]string{"sys/fs/cgroup/cpu.max": "150000 100000\n"})
	require.Equal(t, 1.5, FindCPU().Quota)
	pretend(t, map[string]string{"sys/fs/cgroup/cpu.max": "max 100000\n"})
	require.Zero(t, FindCPU().Quota)
	pretend(t, nil)
	require.Equal(t, CPU{Cores: runtime.NumCPU(), Features: []string{}}, FindCPU())
}

func TestMemory(t *testing.T) {
	info := "MemTotal:       24684000 kB\nMemFree:         1000000 kB\nMemAvailable:   20000000 kB\n"
	pretend(t, map[string]string{"proc/meminfo": info})
	require.Equal(t, Memory{Total: 24684000 << 10, Available: 20000000 << 10}, FindMemory())
	// A container of 4 GiB that has 1 GiB in use, a quarter of it files that can go.
	pretend(t, map[string]string{
		"proc/meminfo": info, "proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "4294967296\n",
		"sys/fs/cgroup/a/b/memory.current": "1073741824\n", "sys/fs/cgroup/a/b/memory.stat": "anon 5\ninactive_file 268435456\n",
	})
	require.Equal(t, Memory{Total: 24684000 << 10, Available: 4<<30 - 1<<30 + 256<<20, Limit: 4 << 30}, FindMemory())
	pretend(t, map[string]string{"proc/meminfo": info, "sys/fs/cgroup/memory.max": "max\n"})
	require.Zero(t, FindMemory().Limit)
}

func TestGPU(t *testing.T) {
	pretend(t, nil)
	require.Equal(t, GPU{Names: []string{}}, FindGPU())
	pretend(t, map[string]string{
		"proc/driver/nvidia/version":                       "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 2024\nGCC version: 12\n",
		"proc/driver/nvidia/gpus/0000:01:00.0/information": "Model: \t\t NVIDIA H200\nIRQ:   1\n",
	})
	require.Equal(t, GPU{Driver: "550.54.15", Names: []string{"NVIDIA H200"}}, FindGPU())
}

func TestThisMachine(t *testing.T) {
	require.Positive(t, FindMemory().Total)
	require.Positive(t, FindMemory().Available)
	require.Greater(t, Resident(), int64(1<<20))
}

func TestBandwidth(t *testing.T) {
	got, err := Bandwidth(t.Context(), 2, 100*time.Millisecond, FindMemory().Available)
	require.NoError(t, err)
	// No memory is slower than 100 MB/s or faster than 10 TB/s.
	require.Greater(t, got, 1e8)
	require.Less(t, got, 1e13)
	_, err = Bandwidth(t.Context(), 2, time.Second, 100<<20)
	require.ErrorContains(t, err, "too little memory is free")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Bandwidth(ctx, 1, time.Minute, 1<<30)
	require.ErrorIs(t, err, context.Canceled)
}
