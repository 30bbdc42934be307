package bindings

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/internal/tinygguf"
)

// threads of every device of these tests: all CPU devices of a process share one pool, which has one size.
const threads = 2

func openDevice(t testing.TB) *Device {
	t.Helper()
	d, err := library(t).OpenDevice(DeviceOptions{Threads: threads})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d
}

func openModel(t testing.TB, o tinygguf.Options) *Model {
	t.Helper()
	d := openDevice(t)
	m, err := d.LoadModel(tinygguf.Temp(t, o), ModelOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, m.Close()) })
	return m
}

func newArena(t testing.TB, m *Model, o ArenaOptions) *Arena {
	t.Helper()
	a, err := m.NewArena(o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, a.Close()) })
	return a
}

// tokens are n ids that look like text to nobody, the same for the same seed.
func tokens(seed, n int) []int32 {
	out := make([]int32, n)
	state := uint32(seed)*2654435761 + 12345
	for i := range out {
		state = state*1664525 + 1013904223 // the generator of Numerical Recipes
		out[i] = int32(state >> 24)        // its high bits, a byte
	}
	return out
}

// pages is the page table [first, first+n).
func pages(first, n int) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = int32(first + i)
	}
	return out
}

// clone copies an answer out of native memory.
func clone(a Answer) Answer {
	a.TopIDs = append([]int32(nil), a.TopIDs...)
	a.TopLogits = append([]float32(nil), a.TopLogits...)
	a.Hidden = append([]float32(nil), a.Hidden...)
	a.Logits = append([]float32(nil), a.Logits...)
	return a
}

// ask runs one segment alone, on the pages from `first` on, and answers its last token.
func ask(t testing.TB, a *Arena, first, position int, ids []int32, r Row) Answer {
	t.Helper()
	b := a.NewBatch()
	b.AddSegment(ids, position, pages(first, (position+len(ids)+PageTokens-1)/PageTokens))
	r.Segment, r.Offset = 0, len(ids)-1
	b.AddRow(&r)
	require.NoError(t, a.Step(b))
	return clone(b.Answer(0))
}
