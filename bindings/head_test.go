package bindings

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/internal/tinygguf"
)

func TestHead(t *testing.T) {
	m := openModel(t, tinygguf.Options{})
	weight := make([]float32, m.Info().Embd)
	for i := range weight {
		weight[i] = float32(i%7) - 3
	}
	h, err := m.LoadHead(tinygguf.TempHead(t, tinygguf.Head{Weight: weight, Bias: 0.5, Threshold: 0.25}))
	require.NoError(t, err)
	require.Equal(t, HeadInfo{Kind: "linear", Name: "tiny head", Threshold: 0.25, Params: uint64(len(weight)) + 1,
		WeightBytes: 4 * (uint64(len(weight)) + 1)}, h.Info())

	a := newArena(t, m, ArenaOptions{Pages: 4})
	answer := ask(t, a, 0, 0, tokens(1, 9), Row{Hidden: true, Head: h})
	want := 0.5
	for i, v := range answer.Hidden {
		want += float64(weight[i]) * float64(v)
	}
	require.InDelta(t, want, answer.HeadLogit, 1e-4)
	require.NotZero(t, answer.HeadLogit)
	require.Zero(t, ask(t, a, 0, 0, tokens(1, 9), Row{}).HeadLogit) // no head

	require.ErrorIs(t, m.Close(), ErrInUse)
	require.NoError(t, h.Close())
	b := a.NewBatch()
	b.AddSegment(tokens(1, 3), 0, pages(0, 1))
	b.AddRow(&Row{Head: h})
	require.ErrorIs(t, a.Step(b), ErrClosed)
}

func TestLoadHeadRefuses(t *testing.T) {
	m := openModel(t, tinygguf.Options{})
	_, err := m.LoadHead(tinygguf.TempHead(t, tinygguf.Head{Weight: make([]float32, 10)}))
	require.ErrorIs(t, err, ErrArgument)
	require.ErrorContains(t, err, "made for another model")
	_, err = m.LoadHead(tinygguf.Temp(t, tinygguf.Options{}))
	require.ErrorIs(t, err, ErrUnsupported)
	require.ErrorContains(t, err, "not a router head")
	_, err = m.LoadHead("no such file")
	require.ErrorIs(t, err, ErrIO)
	_, err = m.LoadHead("")
	require.ErrorIs(t, err, ErrArgument)

	other := openModel(t, tinygguf.Options{})
	h, err := other.LoadHead(tinygguf.TempHead(t, tinygguf.Head{Weight: make([]float32, other.Info().Embd)}))
	require.NoError(t, err)
	defer func() { require.NoError(t, h.Close()) }()
	b := newArena(t, m, ArenaOptions{Pages: 1}).NewBatch()
	b.AddSegment(tokens(1, 3), 0, pages(0, 1))
	b.AddRow(&Row{Head: h})
	require.ErrorContains(t, b.arena.Step(b), "loaded for another model")
}
