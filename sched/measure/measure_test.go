package measure

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/internal/tinygguf"
	"github.com/tokenrouter/tokenrouter/sched"
)

func open(t *testing.T) *sched.NativeModel {
	t.Helper()
	device, err := sched.OpenNativeDevice(sched.NativeOptions{Threads: 1})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, device.Close()) })
	model, err := device.LoadModel(tinygguf.Temp(t, tinygguf.Options{}), nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, model.Close()) })
	return model
}

func TestRun(t *testing.T) {
	model := open(t)
	head, err := model.LoadHead(tinygguf.TempResidualHead(t, tinygguf.ResidualHead{}))
	require.NoError(t, err)
	defer func() { require.NoError(t, head.Close()) }()
	_, err = Run(model, Case{Kind: Scored, Batch: 1, Tokens: 1}, Options{Chunk: 16, Steps: 1})
	require.EqualError(t, err, "scored: no router head was given")
	options := Options{Chunk: 16, Steps: 5, Runs: 2, Head: head}
	for _, c := range []Case{
		{Kind: Decode, Batch: 1, Tokens: 1, Context: 40},
		{Kind: Decode, Batch: 3, Tokens: 1},
		{Kind: Scored, Batch: 3, Tokens: 1, Context: 40},
		{Kind: Prefill, Batch: 1, Tokens: 50},
		{Kind: Extend, Batch: 1, Tokens: 4, Context: 33},
		{Kind: Extend, Batch: 5, Tokens: 4, Context: 33}, // more tokens than a chunk
	} {
		f, err := Run(model, c, options)
		require.NoError(t, err)
		steps := options.Steps
		if c.Kind == Prefill {
			steps = options.Runs
		}
		require.Equal(t, Figure{Kind: c.Kind, Batch: c.Batch, Tokens: c.Tokens, Context: c.Context, Steps: steps,
			StepMillis: f.StepMillis, TokensPerSecond: f.TokensPerSecond}, f)
		require.Positive(t, f.StepMillis)
		require.InEpsilon(t, float64(c.Batch*c.Tokens), f.TokensPerSecond*f.StepMillis/1e3, 1e-9) // tokens of a step
	}
}

// Where the time is taken, the steps do what they are named after: extends are taken back, decoding goes on.
func TestSequences(t *testing.T) {
	s, err := newSequences(open(t), 2, 60, 16, 0)
	require.NoError(t, err)
	defer func() { require.NoError(t, s.runner.Close()) }()
	require.NoError(t, s.fill(40, 16))
	require.Equal(t, 40, s.at)
	require.NoError(t, s.extend(4, false))
	require.Equal(t, 40, s.at)
	require.Len(t, s.batch.Segments[1].Tokens, 4)
	require.NoError(t, s.extend(1, true))
	require.Equal(t, 41, s.at)
	require.Equal(t, s.batch.Rows[1].Out.Token, s.tokens[1][0])
}

// Sequences that share their first pages go on in pages of their own, from the same state: the same token, the same answer.
func TestSharedPages(t *testing.T) {
	const n = 3 * sched.NativePageTokens
	model := open(t)
	s, err := newSequences(model, 3, n+20, 64, n)
	require.NoError(t, err)
	defer func() { require.NoError(t, s.runner.Close()) }()
	alone, err := newSequences(model, 1, n+20, 64, 0)
	require.NoError(t, err)
	defer func() { require.NoError(t, alone.runner.Close()) }()
	require.NoError(t, s.fill(n, 64))
	require.NoError(t, alone.fill(n, 64))
	require.Equal(t, s.pages[0][:3], s.pages[2][:3])
	require.NotEqual(t, s.pages[0][3], s.pages[2][3])
	for range 10 {
		require.NoError(t, s.extend(1, true))
		require.NoError(t, alone.extend(1, true))
		for i := range s.tokens {
			require.Equal(t, alone.tokens[0][0], s.tokens[i][0])
		}
	}
}

// A context that was copied is the one that was computed: sequences go on from the same state, also in a page that is half full, and
// each in pages of its own, the next token being another one in each.
func TestCopiedPages(t *testing.T) {
	const n = 2*sched.NativePageTokens + 5
	model := open(t)
	s, err := newSequences(model, 3, n+20, 64, 0)
	require.NoError(t, err)
	defer func() { require.NoError(t, s.runner.Close()) }()
	s.copied = true
	alone, err := newSequences(model, 1, n+20, 64, 0)
	require.NoError(t, err)
	defer func() { require.NoError(t, alone.runner.Close()) }()
	require.NoError(t, s.fill(n, 64))
	require.NoError(t, alone.fill(n, 64))
	for i := range s.tokens {
		require.Equal(t, alone.tokens[0][0], s.tokens[i][0])
		s.tokens[i][0] = int32(i + 1)
	}
	require.NoError(t, s.extend(1, true))
	for i := range s.tokens {
		alone.tokens[0][0] = int32(i + 1)
		require.NoError(t, alone.extend(1, false))
		require.Equal(t, alone.batch.Rows[0].Out.LogSumExp, s.batch.Rows[i].Out.LogSumExp)
	}
}

func TestRunRefuses(t *testing.T) {
	model := open(t)
	_, err := Run(model, Case{Kind: Decode, Batch: 1, Tokens: 1, Context: 1 << 20}, Options{Chunk: 16, Steps: 1, Runs: 1})
	require.ErrorContains(t, err, "the model's context is")
	_, err = Run(model, Case{Kind: "sleep", Batch: 1, Tokens: 1}, Options{Chunk: 16, Steps: 1, Runs: 1})
	require.ErrorContains(t, err, "no such kind")
}
