package quantize

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/models/gguf"
)

func TestTypeOf(t *testing.T) {
	for _, c := range []struct {
		name  string
		shape []uint64
		typ   gguf.TensorType
		to    gguf.TensorType
		want  gguf.TensorType
	}{
		{"blk.0.attn_q.weight", []uint64{256, 64}, gguf.TensorF16, gguf.TensorQ4K, gguf.TensorQ4K},
		{"blk.0.ffn_gate_exps.weight", []uint64{256, 64, 8}, gguf.TensorF16, gguf.TensorQ4K, gguf.TensorQ4K}, // experts
		{"blk.0.attn_q.weight", []uint64{576, 64}, gguf.TensorF16, gguf.TensorQ4K, gguf.TensorQ50},
		{"blk.0.attn_q.weight", []uint64{576, 64}, gguf.TensorF16, gguf.TensorQ5K, gguf.TensorQ51},
		{"blk.0.attn_q.weight", []uint64{576, 64}, gguf.TensorF16, gguf.TensorQ6K, gguf.TensorQ80},
		{"blk.0.attn_q.weight", []uint64{40, 64}, gguf.TensorF32, gguf.TensorQ6K, gguf.TensorF16},
		{"blk.0.attn_q.weight", []uint64{40, 64}, gguf.TensorF32, gguf.TensorQ80, gguf.TensorF16},
		{"blk.0.attn_norm.weight", []uint64{256}, gguf.TensorF32, gguf.TensorQ80, gguf.TensorF32},
		{"blk.0.attn_q.bias", []uint64{256}, gguf.TensorF32, gguf.TensorF16, gguf.TensorF32},
		{"blk.0.ffn_gate_inp.weight", []uint64{256, 8}, gguf.TensorF32, gguf.TensorQ80, gguf.TensorF32}, // picks experts
	} {
		tensor := gguf.Tensor{Name: c.name, Type: c.typ, Shape: c.shape, Elements: 1}
		for _, n := range c.shape {
			tensor.Elements *= n
		}
		require.Equal(t, c.want, typeOf(tensor, c.to), "%s %v to %s", c.name, c.shape, c.to)
	}
}

func TestParseType(t *testing.T) {
	for _, name := range Types() {
		typ, err := ParseType(name)
		require.NoError(t, err)
		require.Equal(t, name, typ.String())
	}
	_, err := ParseType("Q9")
	require.EqualError(t, err, `type "Q9" cannot be written, expected one of BF16, F16, F32, Q4_0, Q4_1, Q4_K, Q5_0, Q5_1, Q5_K, Q6_K, Q8_0`)
	_, err = ParseType("I32")
	require.ErrorContains(t, err, `type "I32" cannot be written`)
}
