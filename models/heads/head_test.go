package heads

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/models/gguf"
	"github.com/tokenrouter/tokenrouter/models/modelstest"
)

// head is the file of a head with one F32 tensor of the shape.
func head(kind, tensor string, shape ...uint64) *gguf.Writer {
	n := uint64(4)
	for _, d := range shape {
		n *= d
	}
	return gguf.NewWriter().Set("general.architecture", "router-head").Set("router-head.kind", kind).
		Tensor(tensor, gguf.TensorF32, shape, make([]byte, n))
}

func TestOpen(t *testing.T) {
	threshold := 0.98 // and not what float32 makes of it
	for name, c := range map[string]struct {
		file *gguf.Writer
		want Head
	}{
		"linear": {head("linear", "out.weight", 24), Head{Kind: "linear", Embedding: 24}},
		"mlp":    {head("mlp", "hidden.weight", 24, 48), Head{Kind: "mlp", Embedding: 24}},
		"all it can say": {
			head("residual", "logits.weight", 100, 24).Set("general.name", "far").Set("router-head.algorithm", "r2r").
				Set("router-head.threshold", float32(0.98)),
			Head{Kind: "residual", Name: "far", Algorithm: "r2r", Threshold: &threshold, Embedding: 24, Top: 100},
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := modelstest.Path(t, "head.gguf", c.file)
			h, err := Open(path)
			require.NoError(t, err)
			require.Positive(t, h.Size)
			c.want.Path, c.want.Size = path, h.Size
			require.Equal(t, &c.want, h)
		})
	}
}

func TestOpenRefuses(t *testing.T) {
	for want, file := range map[string]*gguf.Writer{
		`the file is of architecture "qwen2", expected "router-head"`:                    modelstest.Vocabulary(),
		`router-head.kind is "bag", expected linear, mlp or residual`:                    head("bag", "out.weight", 24),
		`tensor "hidden.weight" is missing, which a head of kind mlp has`:                head("mlp", "out.weight", 24),
		`tensor "logits.weight" has the shape [100], which no head of kind residual has`: head("residual", "logits.weight", 100),
		`tensor "out.weight" has the shape [2097152], which no head of kind linear has`:  head("linear", "out.weight", 1<<21),
		`router-head.threshold is 1.5, expected 0 to 1`:                                  head("linear", "out.weight", 24).Set("router-head.threshold", float32(1.5)),
		`router-head.threshold is NaN, expected 0 to 1`:                                  head("linear", "out.weight", 24).Set("router-head.threshold", float32(math.NaN())),
		`key "router-head.algorithm"`:                                                    head("linear", "out.weight", 24).Set("router-head.algorithm", uint32(1)),
		`key "router-head.kind"`:                                                         gguf.NewWriter().Set("general.architecture", "router-head"),
	} {
		path := modelstest.Path(t, "head.gguf", file)
		_, err := Open(path)
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, path)
	}
	_, err := Open(filepath.Join(t.TempDir(), "none.gguf"))
	require.ErrorContains(t, err, "none.gguf")
}
