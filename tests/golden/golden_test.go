// Package golden checks the engine's answers on the real pair of models.
package golden

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/bench/teacher"
	"github.com/tokenrouter/tokenrouter/bindings"
	"github.com/tokenrouter/tokenrouter/tests/internal/realpair"
)

const goldenFile = "../testdata/golden-qwen2.5-coder.json"

func open(t *testing.T, path string, exactFloat bool) *teacher.Engine {
	t.Helper()
	library, err := bindings.Load("")
	require.NoError(t, err)
	engine, err := teacher.Open(library, path, exactFloat)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, engine.Close()) })
	return engine
}

// llama.cpp quantizes activations to 8 bits, as the engine does but in other blocks, so distributions differ a little.
// Where one id leads by a quarter of a nat, it must be the engine's best one, too.
func TestAgreesWithLlamaCpp(t *testing.T) {
	golden, err := teacher.Load(goldenFile)
	require.NoError(t, err)
	for name, path := range map[string]func(testing.TB) string{
		realpair.SmallName: realpair.Small,
		realpair.LargeName: realpair.Large,
	} {
		t.Run(name, func(t *testing.T) {
			require.NotEmpty(t, golden.Models[name])
			got, err := teacher.Agree(open(t, path(t), false), golden.Models[name])
			require.NoError(t, err)
			t.Logf("%+v, %.2f%% of the clear steps agree", got, 100*got.Share())
			require.Greater(t, got.Clear, 250)
			require.GreaterOrEqual(t, got.Share(), 0.98)
			require.LessOrEqual(t, got.MeanLogProbDiff, 0.05)
		})
	}
}

// What integer activations cost, against float32 arithmetic on the dequantized weights.
func TestIntegerPathIsCloseToExactFloat(t *testing.T) {
	golden, err := teacher.Load(goldenFile)
	require.NoError(t, err)
	path := realpair.Small(t)
	got, err := teacher.Diverge(open(t, path, true), open(t, path, false), golden.Models[realpair.SmallName])
	require.NoError(t, err)
	t.Logf("%+v", got)
	require.Greater(t, got.Mean, 0.0, "the two paths give the same bits: one of them is not what it should be")
	require.Less(t, got.Mean, 0.01)
}
