package bindings

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/internal/tinygguf"
)

// What is wrong with a batch is an error, whoever finds it, and the arena goes on working.
func TestStepErrors(t *testing.T) {
	m := openModel(t, tinygguf.Options{})
	a := newArena(t, m, ArenaOptions{Pages: 4, MaxTokens: 16, MaxRows: 2})
	want := ask(t, a, 0, 0, tokens(1, 10), everything)

	mask := make([]uint32, 300/32) // one word short
	for _, c := range []struct {
		name string
		fill func(b *Batch)
	}{
		{"empty", func(*Batch) {}},
		{"segment without tokens", func(b *Batch) { b.AddSegment(nil, 0, pages(0, 1)) }},
		{"segment without pages", func(b *Batch) { b.AddSegment(tokens(1, 4), 0, nil) }},
		{"page table too short", func(b *Batch) { b.AddSegment(tokens(1, 4), 30, pages(0, 1)) }},
		{"page out of range", func(b *Batch) { b.AddSegment(tokens(1, 4), 0, pages(4, 1)) }},
		{"page below zero", func(b *Batch) { b.AddSegment(tokens(1, 4), 0, pages(-1, 1)) }},
		{"position below zero", func(b *Batch) { b.AddSegment(tokens(1, 4), -1, pages(0, 1)) }},
		{"position of 64 bits", func(b *Batch) { b.AddSegment(tokens(1, 4), 1<<32, pages(0, 1)) }},
		{"position at the end of int32", func(b *Batch) { b.AddSegment(tokens(1, 4), math.MaxInt32, pages(0, 1)) }},
		{"token out of range", func(b *Batch) { b.AddSegment([]int32{1, 300}, 0, pages(0, 1)) }},
		{"token below zero", func(b *Batch) { b.AddSegment([]int32{-1}, 0, pages(0, 1)) }},
		{"too many tokens", func(b *Batch) { b.AddSegment(tokens(1, 9), 0, pages(0, 1)); b.AddSegment(tokens(1, 8), 0, pages(1, 1)) }},
		{"two segments on one page", func(b *Batch) { b.AddSegment(tokens(1, 4), 0, pages(1, 1)); b.AddSegment(tokens(1, 4), 0, pages(1, 1)) }},
		{"too many rows", row4(func(b *Batch) { b.AddRow(&Row{}); b.AddRow(&Row{}); b.AddRow(&Row{}) })},
		{"row of no segment", row4(func(b *Batch) { b.AddRow(&Row{Segment: 1}) })},
		{"row of a segment below zero", row4(func(b *Batch) { b.AddRow(&Row{Segment: -1}) })},
		{"row beyond its segment", row4(func(b *Batch) { b.AddRow(&Row{Offset: 4}) })},
		{"row before its segment", row4(func(b *Batch) { b.AddRow(&Row{Offset: -1}) })},
		{"top too large", row4(func(b *Batch) { b.AddRow(&Row{Top: MaxTop + 1}) })},
		{"top below zero", row4(func(b *Batch) { b.AddRow(&Row{Top: -1}) })},
		{"vocab too large", row4(func(b *Batch) { b.AddRow(&Row{Vocab: 301}) })},
		{"valid mask too short", row4(func(b *Batch) { b.AddRow(&Row{Valid: mask}) })},
		{"allowed mask too short", row4(func(b *Batch) { b.AddRow(&Row{Sampling: &Sampling{Allowed: mask}}) })},
		{"temperature below zero", row4(func(b *Batch) { b.AddRow(&Row{Sampling: &Sampling{Temperature: -1}}) })},
		{"temperature not a number", row4(func(b *Batch) { b.AddRow(&Row{Sampling: &Sampling{Temperature: float32(math.NaN())}}) })},
		{"bias out of range", row4(func(b *Batch) {
			b.AddRow(&Row{Sampling: &Sampling{BiasIDs: []int32{300}, Bias: []float32{1}}})
		})},
		{"bias lengths", row4(func(b *Batch) { b.AddRow(&Row{Sampling: &Sampling{BiasIDs: []int32{1}}}) })},
		{"seen lengths", row4(func(b *Batch) { b.AddRow(&Row{Sampling: &Sampling{SeenIDs: []int32{1}}}) })},
		{"seen out of range", row4(func(b *Batch) {
			b.AddRow(&Row{Sampling: &Sampling{SeenIDs: []int32{-1}, SeenCounts: []int32{1}, PresencePenalty: 1}})
		})},
		{"segment of another size", row4(func(b *Batch) { b.segments[0].size = 24 })},
		{"row of another size", row4(func(b *Batch) { b.AddRow(&Row{}); b.rows[0].size++ })},
		{"sampling of another size", row4(func(b *Batch) { b.AddRow(&Row{Sampling: &Sampling{}}); b.samplings[0].size = 0 })},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := a.NewBatch()
			c.fill(b)
			err := a.Step(b)
			require.ErrorIs(t, err, ErrArgument)
			t.Log(err)
			for i := range b.rows {
				require.Equal(t, Answer{Token: -1}, b.Answer(i))
			}
			// Refused batches have written nothing: position 9 again, on what the first ten left in the cache.
			require.Equal(t, want, ask(t, a, 0, 9, tokens(1, 10)[9:], everything))
		})
	}

	other := newArena(t, m, ArenaOptions{Pages: 1})
	b := other.NewBatch()
	b.AddSegment(tokens(1, 4), 0, pages(0, 1))
	require.ErrorIs(t, a.Step(b), ErrArgument)
	require.NoError(t, other.Step(b))
}

// row4 is a batch of one good segment of four tokens on page 1 and what fill adds.
func row4(fill func(b *Batch)) func(b *Batch) {
	return func(b *Batch) {
		b.AddSegment(tokens(1, 4), 0, pages(1, 1))
		fill(b)
	}
}

// tr_batch.size is set by seal; a library of another layout would see another one.
func TestBatchOfAnotherSize(t *testing.T) {
	m := openModel(t, tinygguf.Options{})
	a := newArena(t, m, ArenaOptions{Pages: 1})
	b := a.NewBatch()
	b.AddSegment(tokens(1, 4), 0, pages(0, 1))
	b.seal()
	b.c.size = batchSize + 8
	err := a.step(&b.c, &b.text)
	require.ErrorIs(t, err, ErrArgument)
	require.ErrorContains(t, err, "size")
}

// A batch that failed can be emptied and used again.
func TestBatchAfterAnError(t *testing.T) {
	m := openModel(t, tinygguf.Options{})
	a := newArena(t, m, ArenaOptions{Pages: 1})
	b := a.NewBatch()
	b.AddSegment(tokens(1, 4), 1<<40, pages(0, 1))
	require.ErrorIs(t, a.Step(b), ErrArgument)
	require.ErrorIs(t, a.Step(b), ErrArgument)
	b.Reset()
	b.AddSegment(tokens(1, 4), 0, pages(0, 1))
	require.NoError(t, a.Step(b))
}
