package bindings

import (
	"math"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/internal/tinygguf"
)

func TestDevice(t *testing.T) {
	d := openDevice(t)
	info, err := d.Describe()
	require.NoError(t, err)
	require.Equal(t, threads, info.Threads)
	require.Equal(t, "cpu", info.Kind)
	require.NotEmpty(t, info.ISA)
}

func TestDeviceErrors(t *testing.T) {
	openDevice(t) // holds the pool at its size
	for _, c := range []struct {
		name    string
		options DeviceOptions
		is      error
		says    string
	}{
		{"kind", DeviceOptions{Kind: "abacus"}, ErrUnsupported, "abacus"},
		{"instruction set", DeviceOptions{ISA: "z80"}, ErrArgument, "z80"},
		{"thread count below zero", DeviceOptions{Threads: -1}, ErrArgument, "-1"},
		{"another pool size", DeviceOptions{Threads: threads + 1}, ErrArgument, "thread"},
		{"thread count of 64 bits", DeviceOptions{Threads: math.MaxInt32 + 1 + threads}, ErrArgument, "threads"},
		{"NUL byte", DeviceOptions{Kind: "cpu\x00"}, ErrArgument, "NUL"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := library(t).OpenDevice(c.options)
			require.ErrorIs(t, err, c.is)
			require.ErrorContains(t, err, c.says)
		})
	}
}

func TestModelInfo(t *testing.T) {
	d := openDevice(t)
	path := tinygguf.Temp(t, tinygguf.Options{Name: "tiny test model", Layers: 3, Context: 777, Weights: tinygguf.Q8_0})
	var progress atomic.Int32
	m, err := d.LoadModel(path, ModelOptions{Progress: &progress})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, m.Close()) })
	require.Equal(t, int32(1000), progress.Load())
	require.NoError(t, os.Remove(path), "the file is not needed any more")

	got := m.Info()
	require.NotZero(t, got.WeightBytes)
	got.WeightBytes = 0 // how weights are packed is the library's own
	embedding, kv := 64, 32
	layer := 2*embedding + embedding*(2*embedding+2*kv) + embedding + 2*kv + 3*embedding*128
	require.Equal(t, ModelInfo{
		Architecture: "qwen2", Name: "tiny test model", Vocab: 300, Embd: 64, Layers: 3, Heads: 4, HeadsKV: 2, HeadDim: 16,
		ContextTrain:    777,
		Params:          uint64(2*300*embedding + 3*layer + embedding),
		KVBytesPerToken: 3 * 2 * 32 * 2, // layers, K and V, 2 heads of 16, F16
	}, got)

	a := newArena(t, m, ArenaOptions{Pages: 2})
	require.Equal(t, ArenaOptions{Pages: 2, MaxTokens: 512, MaxRows: 64}, a.Options())
	ask(t, a, 0, 0, tokens(1, 8), Row{})
}

func TestModelErrors(t *testing.T) {
	d := openDevice(t)
	dir := t.TempDir()
	whole, err := os.ReadFile(tinygguf.Temp(t, tinygguf.Options{}))
	require.NoError(t, err)
	file := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, content, 0o600))
		return path
	}
	for _, c := range []struct {
		name, path string
		is         Status
	}{
		{"missing file", filepath.Join(dir, "missing.gguf"), ErrIO},
		{"a directory", dir, ErrIO},
		{"empty path", "", ErrArgument},
		{"NUL byte", "a\x00b", ErrArgument},
		{"empty file", file("empty.gguf", nil), ErrFormat},
		{"no GGUF file", file("text.gguf", []byte("once upon a time there was a model")), ErrFormat},
		{"cut in the header", file("header.gguf", whole[:100]), ErrFormat},
		{"cut in the weights", file("weights.gguf", whole[:len(whole)-4096]), ErrFormat},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := d.LoadModel(c.path, ModelOptions{})
			require.ErrorIs(t, err, c.is)
			if c.is == ErrArgument {
				return // found before the call
			}
			require.ErrorContains(t, err, c.path)
			var native *Error
			require.ErrorAs(t, err, &native)
			require.Equal(t, "tr_model_load", native.Call)
			require.NotEmpty(t, native.Message)
		})
	}
}

func TestArenaErrors(t *testing.T) {
	m := openModel(t, tinygguf.Options{})
	for _, c := range []struct {
		name    string
		options ArenaOptions
		is      error
	}{
		{"no pages", ArenaOptions{}, ErrArgument},
		{"pages below zero", ArenaOptions{Pages: -1}, ErrArgument},
		{"tokens below zero", ArenaOptions{Pages: 1, MaxTokens: -1}, ErrArgument},
		{"rows below zero", ArenaOptions{Pages: 1, MaxRows: -1}, ErrArgument},
		{"pages of 64 bits", ArenaOptions{Pages: 1<<32 + 1}, ErrArgument},
		{"more than positions can count", ArenaOptions{Pages: math.MaxInt32}, ErrArgument},
		{"more than there is", ArenaOptions{Pages: 60_000_000}, ErrNoMemory}, // 490 GB
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := m.NewArena(c.options)
			require.ErrorIs(t, err, c.is)
		})
	}
	a := newArena(t, m, ArenaOptions{Pages: 2})
	require.NoError(t, a.CopyPage(0, 1))
	require.ErrorIs(t, a.CopyPage(0, 2), ErrArgument)
	require.ErrorIs(t, a.CopyPage(-1, 0), ErrArgument)
}

// Handles close in order, once, and refuse calls afterwards.
func TestClose(t *testing.T) {
	d, err := library(t).OpenDevice(DeviceOptions{Threads: threads})
	require.NoError(t, err)
	path := tinygguf.Temp(t, tinygguf.Options{})
	m, err := d.LoadModel(path, ModelOptions{})
	require.NoError(t, err)
	a, err := m.NewArena(ArenaOptions{Pages: 1})
	require.NoError(t, err)

	require.ErrorIs(t, d.Close(), ErrInUse)
	require.ErrorIs(t, m.Close(), ErrInUse)
	_, err = d.Describe()
	require.NoError(t, err, "a refused Close leaves the handle open")

	require.NoError(t, a.Close())
	require.NoError(t, a.Close())
	require.ErrorIs(t, a.CopyPage(0, 0), ErrClosed)
	b := a.NewBatch()
	b.AddSegment([]int32{1}, 0, []int32{0})
	require.ErrorIs(t, a.Step(b), ErrClosed)

	require.ErrorIs(t, d.Close(), ErrInUse)
	require.NoError(t, m.Close())
	require.NoError(t, m.Close())
	_, err = m.NewArena(ArenaOptions{Pages: 1})
	require.ErrorIs(t, err, ErrClosed)
	require.Equal(t, 300, m.Info().Vocab)

	require.NoError(t, d.Close())
	require.NoError(t, d.Close())
	_, err = d.Describe()
	require.ErrorIs(t, err, ErrClosed)
	_, err = d.LoadModel(path, ModelOptions{})
	require.ErrorIs(t, err, ErrClosed)
}

// A failed load leaves nothing behind that would hold the device open.
func TestFailedLoadHoldsNothing(t *testing.T) {
	d, err := library(t).OpenDevice(DeviceOptions{Threads: threads})
	require.NoError(t, err)
	_, err = d.LoadModel(filepath.Join(t.TempDir(), "missing"), ModelOptions{})
	require.Error(t, err)
	require.NoError(t, d.Close())
}
