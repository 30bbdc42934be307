package sched_test

import (
	"math"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/bindings"
	"github.com/tokenrouter/tokenrouter/internal/tinygguf"
	"github.com/tokenrouter/tokenrouter/router"
	"github.com/tokenrouter/tokenrouter/sched"
)

// nativeModel loads a tiny model on two threads.
func nativeModel(t testing.TB, o tinygguf.Options) *sched.NativeModel {
	t.Helper()
	d, err := sched.OpenNativeDevice(sched.NativeOptions{Threads: 2})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	m, err := d.LoadModel(tinygguf.Temp(t, o), nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, m.Close()) })
	return m
}

func nativeRunner(t testing.TB, m *sched.NativeModel, limits sched.NativeLimits) *sched.NativeRunner {
	t.Helper()
	r, err := m.NewRunner(limits)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return r
}

// numbers are ids of a byte-level vocabulary, different for each seed.
func numbers(seed, n int) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = int32((seed*131 + i*i*7 + i*29) % 256)
	}
	return out
}

// step asks for one row at the end of a fresh sequence on page 0.
func step(t testing.TB, r *sched.NativeRunner, ids []int32, row sched.Row) router.Row {
	t.Helper()
	row.Offset = len(ids) - 1
	b := sched.Batch{Segments: []sched.Segment{{Tokens: ids, Pages: []int32{0}}}, Rows: []sched.Row{row}}
	require.NoError(t, r.Step(&b))
	out := b.Rows[0].Out
	out.TopIDs, out.TopLogits, out.Hidden = slices.Clone(out.TopIDs), slices.Clone(out.TopLogits), slices.Clone(out.Hidden)
	return out
}

func TestNativeDevice(t *testing.T) {
	d, err := sched.OpenNativeDevice(sched.NativeOptions{Threads: 2})
	require.NoError(t, err)
	defer d.Close()
	require.Equal(t, 2, d.Threads())
	require.NotEmpty(t, d.ISA())
	require.Contains(t, d.Library(), bindings.FileName)

	var progress atomic.Int32
	m, err := d.LoadModel(tinygguf.Temp(t, tinygguf.Options{}), &progress)
	require.NoError(t, err)
	defer m.Close()
	require.Equal(t, int32(1000), progress.Load())
	require.Equal(t, 300, m.Info().Vocab)
	require.ErrorIs(t, d.Close(), bindings.ErrInUse)

	missing := filepath.Join(t.TempDir(), "missing.gguf")
	_, err = d.LoadModel(missing, nil)
	require.ErrorIs(t, err, bindings.ErrIO)
	require.ErrorContains(t, err, missing)
	_, err = sched.OpenNativeDevice(sched.NativeOptions{Library: missing})
	require.ErrorIs(t, err, bindings.ErrNotFound)
	_, err = sched.OpenNativeDevice(sched.NativeOptions{ISA: "z80"})
	require.ErrorContains(t, err, "z80")
}

func TestNativeRunnerInfo(t *testing.T) {
	m := nativeModel(t, tinygguf.Options{Context: 777})
	r := nativeRunner(t, m, sched.NativeLimits{Pages: 5, MaxTokens: 100, MaxRows: 9})
	require.Equal(t, sched.Info{Vocab: 300, PageTokens: 32, Pages: 5, MaxContext: 777, MaxTokens: 100, MaxRows: 9}, r.Info())
	require.ErrorIs(t, m.Close(), bindings.ErrInUse)
	require.NoError(t, r.Close())
	require.NoError(t, r.Close())
	require.ErrorIs(t, r.Step(&sched.Batch{Segments: []sched.Segment{{Tokens: []int32{1}, Pages: []int32{0}}}}), bindings.ErrClosed)

	_, err := m.NewRunner(sched.NativeLimits{})
	require.ErrorIs(t, err, bindings.ErrArgument)
}

// A cache in Q8_0 takes 34 bytes where F16 takes 64, and answers nearly the same.
func TestNativeRunnerKV(t *testing.T) {
	m := nativeModel(t, tinygguf.Options{Heads: 2, HeadsKV: 1}) // heads of 32
	ids := numbers(1, 30)
	want := sched.Row{Needs: router.Needs{Top: 5}, Vocab: 300}
	half, block := nativeRunner(t, m, sched.NativeLimits{Pages: 2}), nativeRunner(t, m, sched.NativeLimits{Pages: 2, KVType: sched.NativeKVQ80})
	require.EqualValues(t, 2*2*64, half.KVBytes()) // layers, K and V, a head of 32 half floats
	require.EqualValues(t, 2*2*34, block.KVBytes())
	bytes, err := sched.NativeKVBytes(m.Info(), sched.NativeKVQ80)
	require.NoError(t, err)
	require.Equal(t, block.KVBytes(), bytes)
	a, b := step(t, half, ids, want), step(t, block, ids, want)
	require.NotEqual(t, a.LogSumExp, b.LogSumExp)
	require.InDelta(t, a.LogSumExp, b.LogSumExp, 0.1)
	require.InDelta(t, a.TopLogits[0], b.TopLogits[0], 0.2)

	_, err = m.NewRunner(sched.NativeLimits{Pages: 2, KVType: "q4_0"})
	require.EqualError(t, err, `KV type "q4_0" is unknown, expected f16 or q8_0`)
	_, err = nativeModel(t, tinygguf.Options{}).NewRunner(sched.NativeLimits{Pages: 2, KVType: sched.NativeKVQ80})
	require.ErrorIs(t, err, bindings.ErrUnsupported)
	require.ErrorContains(t, err, "heads of a multiple of 32 dimensions; this model's have 16: use F16")
}

// Every field of a row reaches the library.
func TestNativeRunnerRows(t *testing.T) {
	m := nativeModel(t, tinygguf.Options{Weights: tinygguf.Q8_0})
	r := nativeRunner(t, m, sched.NativeLimits{Pages: 2})
	ids := numbers(1, 20)
	greedy := &sched.Sampling{}

	plain := step(t, r, ids, sched.Row{Needs: router.Needs{Top: 5, Hidden: true}, Vocab: 300, Sampling: greedy})
	require.Equal(t, plain.TopIDs[0], plain.Token)
	require.Len(t, plain.TopLogits, 5)
	require.Len(t, plain.Hidden, 64)
	require.InDelta(t, plain.TopLogits[0]-plain.LogSumExp, plain.LogProb, 1e-5)
	require.Positive(t, plain.Entropy)
	best, second := plain.TopIDs[0], plain.TopIDs[1]
	gap := plain.TopLogits[0] - plain.TopLogits[1]

	bare := step(t, r, ids, sched.Row{Vocab: 300, Sampling: greedy})
	require.Equal(t, router.Row{Token: best, LogProb: plain.LogProb, LogSumExp: plain.LogSumExp, Entropy: plain.Entropy}, bare)
	require.Equal(t, int32(-1), step(t, r, ids, sched.Row{Vocab: 300}).Token, "none asked for")

	narrow := step(t, r, ids, sched.Row{Needs: router.Needs{Top: 1}, Vocab: int(best), Sampling: greedy})
	require.Less(t, narrow.Token, best)
	require.Less(t, narrow.LogSumExp, plain.LogSumExp)

	history := &sched.History{}
	history.Add(best, best, best)
	for name, c := range map[string]struct {
		sampling sched.Sampling
		want     int32
	}{
		"bias":                {sched.Sampling{BiasIDs: []int32{123}, Bias: []float32{50}}, 123},
		"presence penalty":    {sched.Sampling{PresencePenalty: gap * 1.01}, second},
		"frequency penalty":   {sched.Sampling{FrequencyPenalty: gap * 1.01 / 3}, second},
		"repetition penalty":  {sched.Sampling{RepetitionPenalty: plain.TopLogits[0] / plain.TopLogits[1] * 1.01}, second},
		"repetition of 1":     {sched.Sampling{RepetitionPenalty: 1}, best},
		"penalties too small": {sched.Sampling{PresencePenalty: gap * 0.5, FrequencyPenalty: gap * 0.4 / 3}, best},
		"top-k":               {sched.Sampling{Temperature: 5, TopK: 1}, best},
		"top-p":               {sched.Sampling{Temperature: 5, TopP: 1e-6}, best},
		"min-p":               {sched.Sampling{Temperature: 5, MinP: 0.9999}, best},
	} {
		require.Equal(t, c.want, step(t, r, ids, sched.Row{Vocab: 300, Sampling: &c.sampling, History: history}).Token, name)
	}

	draw := func(s sched.Sampling, stream uint32) (drawn [40]int32) {
		for i := range drawn {
			s.Seed += uint64(i)
			drawn[i] = step(t, r, ids, sched.Row{Vocab: 300, Stream: stream, Sampling: &s}).Token
		}
		return drawn
	}
	hot := sched.Sampling{Temperature: 2}
	base := draw(hot, 0)
	require.Equal(t, base, draw(hot, 0))
	require.NotEqual(t, base, draw(hot, 1), "stream")
	require.NotEqual(t, base, draw(sched.Sampling{Temperature: 2, Choice: 1}, 0), "choice")
	require.NotEqual(t, base, draw(sched.Sampling{Temperature: 2, Seed: 1}, 0), "seed")
}

func TestNativeRunnerErrors(t *testing.T) {
	m := nativeModel(t, tinygguf.Options{})
	r := nativeRunner(t, m, sched.NativeLimits{Pages: 2, MaxTokens: 16})
	segment := sched.Segment{Tokens: numbers(1, 4), Pages: []int32{0}}
	for name, b := range map[string]sched.Batch{
		"empty":           {},
		"page":            {Segments: []sched.Segment{{Tokens: numbers(1, 4), Pages: []int32{2}}}},
		"tokens":          {Segments: []sched.Segment{{Tokens: numbers(1, 17), Pages: []int32{0}}}},
		"position":        {Segments: []sched.Segment{{Tokens: numbers(1, 4), Pages: []int32{0}, Position: math.MaxInt}}},
		"row":             {Segments: []sched.Segment{segment}, Rows: []sched.Row{{Segment: 1}}},
		"bias of two ids": {Segments: []sched.Segment{segment}, Rows: []sched.Row{{Sampling: &sched.Sampling{BiasIDs: []int32{1, 2}, Bias: []float32{1}}}}},
	} {
		require.ErrorIs(t, r.Step(&b), bindings.ErrArgument, name)
	}
	b := sched.Batch{Segments: []sched.Segment{segment}, Rows: []sched.Row{{Vocab: 300, Sampling: &sched.Sampling{PresencePenalty: 1}}}}
	require.ErrorContains(t, r.Step(&b), "history", "a penalty that would silently do nothing")
	b.Rows[0].History = &sched.History{}
	require.NoError(t, r.Step(&b), "an empty history is one")
}

func TestNativeRunnerCopyPage(t *testing.T) {
	m := nativeModel(t, tinygguf.Options{})
	r := nativeRunner(t, m, sched.NativeLimits{Pages: 2})
	ids := numbers(1, 20)
	want := step(t, r, ids, sched.Row{Vocab: 300, Sampling: &sched.Sampling{}})
	require.NoError(t, r.CopyPage(0, 1))
	step(t, r, numbers(2, 20), sched.Row{})
	b := sched.Batch{
		Segments: []sched.Segment{{Tokens: ids[19:], Position: 19, Pages: []int32{1}}},
		Rows:     []sched.Row{{Vocab: 300, Sampling: &sched.Sampling{}}},
	}
	require.NoError(t, r.Step(&b))
	require.Equal(t, want, b.Rows[0].Out)
	require.ErrorIs(t, r.CopyPage(0, 2), bindings.ErrArgument)
}

func TestNativePages(t *testing.T) {
	const small, large = 12288, 28672 // bytes per token of Qwen2.5 0.5B and 1.5B: 2 * 2 bytes * 2 heads * (64 * 24 | 128 * 28)
	for _, c := range []struct {
		name   string
		budget uint64
		models []uint64
		want   int
	}{
		{"one model", 1 << 30, []uint64{small}, 2730},        // 2^30 / (32 * 12288) = 2730.7
		{"two models", 1 << 30, []uint64{small, large}, 819}, // 2^30 / (32 * 40960) = 819.2
		{"exactly one page", 32 * 40960, []uint64{small, large}, 1},
		{"exactly two pages", 2 * 32 * 40960, []uint64{small, large}, 2},
		{"the same model twice", 32 * 2 * small, []uint64{small, small}, 1},
		{"more than can be counted", math.MaxUint64, []uint64{1}, math.MaxInt32},
	} {
		got, err := sched.NativePages(c.budget, c.models...)
		require.NoError(t, err, c.name)
		require.Equal(t, c.want, got, c.name)
		var bytes uint64
		for _, n := range c.models {
			bytes += n * 32 * uint64(got)
		}
		require.LessOrEqual(t, bytes, c.budget, c.name)
	}
	for name, c := range map[string]struct {
		budget uint64
		models []uint64
		says   string
	}{
		"one byte short": {32*40960 - 1, []uint64{small, large}, "1310720"},
		"no budget":      {0, []uint64{small}, "393216"},
		"no models":      {1 << 30, nil, "no model"},
		"no bytes":       {1 << 30, []uint64{small, 0}, "model 2 of 2"},
		"overflow":       {1 << 30, []uint64{math.MaxUint64}, "cannot be"},
		"sum overflow":   {1 << 30, []uint64{math.MaxUint64 / 64, math.MaxUint64 / 64, math.MaxUint64 / 64}, "cannot be"},
	} {
		_, err := sched.NativePages(c.budget, c.models...)
		require.ErrorContains(t, err, c.says, name)
	}
}

// decodeBatch is a batch of n requests that decode one token each, after prefilling them.
func decodeBatch(t testing.TB, r *sched.NativeRunner, n int) *sched.Batch {
	b := &sched.Batch{}
	sampling := &sched.Sampling{Temperature: 0.8, TopP: 0.95}
	for i := range n {
		table := make([]int32, 16)
		for j := range table {
			table[j] = int32(16*i + j)
		}
		prefill := sched.Batch{Segments: []sched.Segment{{Tokens: numbers(i, 500), Pages: table}}}
		require.NoError(t, r.Step(&prefill))
		b.Segments = append(b.Segments, sched.Segment{Tokens: numbers(i, 1), Position: 500, Pages: table})
		b.Rows = append(b.Rows, sched.Row{Segment: i, Needs: router.Needs{Top: 20, Hidden: true}, Vocab: 300, Sampling: sampling})
	}
	return b
}

func TestNativeRunnerAllocates(t *testing.T) {
	r := nativeRunner(t, nativeModel(t, tinygguf.Options{}), sched.NativeLimits{Pages: 16 * 16})
	b := decodeBatch(t, r, 16)
	require.LessOrEqual(t, testing.AllocsPerRun(50, func() {
		if err := r.Step(b); err != nil {
			panic(err)
		}
	}), 1.0, "the argument list of the native call")
}

// A whole step of a tiny model.
func BenchmarkNativeRunnerStep(b *testing.B) {
	r := nativeRunner(b, nativeModel(b, tinygguf.Options{}), sched.NativeLimits{Pages: 16 * 16})
	batch := decodeBatch(b, r, 16)
	b.ReportAllocs()
	for b.Loop() {
		if err := r.Step(batch); err != nil {
			b.Fatal(err)
		}
	}
}
