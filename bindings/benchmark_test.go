package bindings

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/internal/tinygguf"
)

// decoding prefills n requests with some hundred tokens and returns what fills a batch in which each decodes one.
func decoding(t testing.TB, a *Arena, n int) func(b *Batch) {
	const position = 500
	ids := make([][]int32, n)
	tables := make([][]int32, n)
	for i := range n {
		ids[i] = tokens(i, 1)
		tables[i] = pages(16*i, 16)
		ask(t, a, 16*i, 0, tokens(i, position), Row{})
	}
	sampling := Sampling{Temperature: 0.8, TopP: 0.95}
	return func(b *Batch) {
		b.Reset()
		for i := range n {
			b.AddSegment(ids[i], position, tables[i])
			b.AddRow(&Row{Segment: i, Top: 20, Hidden: true, Sampling: &sampling})
		}
	}
}

// sink keeps answers from being optimized away.
var sink float32

func read(b *Batch, n int) {
	for i := range n {
		sink += b.Answer(i).Hidden[0]
	}
}

// A warm step allocates the argument list of the call (32 bytes, by the design of purego.SyscallN) and nothing else.
func TestStepAllocates(t *testing.T) {
	m := openModel(t, tinygguf.Options{})
	a := newArena(t, m, ArenaOptions{Pages: 16 * 16})
	b := a.NewBatch()
	fill := decoding(t, a, 16)
	require.LessOrEqual(t, testing.AllocsPerRun(50, func() {
		fill(b)
		if err := a.Step(b); err != nil {
			panic(err)
		}
		read(b, 16)
	}), 1.0)
}

// What the bindings add to a step of 16 decoding requests: filling the batch, the call, reading the answers. The call goes
// to a C function that returns at once.
func BenchmarkOverhead16(b *testing.B) {
	m := openModel(b, tinygguf.Options{})
	a := newArena(b, m, ArenaOptions{Pages: 16 * 16})
	batch := a.NewBatch()
	fill := decoding(b, a, 16)
	object, err := openObject(builtLibrary(b, "int nothing(void) { return 0; }"))
	require.NoError(b, err)
	instrumented := *a.library
	instrumented.fn.stepRun, err = lookup(object, "nothing")
	require.NoError(b, err)
	a.library = &instrumented
	defer func() { a.library = library(b) }()

	b.ReportAllocs()
	for b.Loop() {
		fill(batch)
		if err := a.Step(batch); err != nil {
			b.Fatal(err)
		}
		for i := range 16 {
			sink += batch.Answer(i).Entropy
		}
	}
}

// What a native call costs that does nothing.
func BenchmarkCall(b *testing.B) {
	l := library(b)
	b.ReportAllocs()
	for b.Loop() {
		runtime.KeepAlive(l.abiVersion())
	}
}

// A whole step of a tiny model.
func BenchmarkStep16(b *testing.B) {
	m := openModel(b, tinygguf.Options{})
	a := newArena(b, m, ArenaOptions{Pages: 16 * 16})
	batch := a.NewBatch()
	fill := decoding(b, a, 16)
	b.ReportAllocs()
	for b.Loop() {
		fill(batch)
		if err := a.Step(batch); err != nil {
			b.Fatal(err)
		}
		read(batch, 16)
	}
}
