package gguf_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/models/gguf"
)

// A tensor that is written when its turn comes gives the file that its bytes would.
func TestStream(t *testing.T) {
	data := bytes.Repeat([]byte{1, 2, 3, 4}, 10)
	shape := []uint64{10}
	write := func(w *gguf.Writer) []byte {
		var out bytes.Buffer
		n, err := w.Set("general.name", "x").Tensor("after", gguf.TensorF32, shape, data).WriteTo(&out)
		require.NoError(t, err)
		require.EqualValues(t, out.Len(), n)
		return out.Bytes()
	}
	whole := write(gguf.NewWriter().Tensor("t", gguf.TensorF32, shape, data))
	pieces := write(gguf.NewWriter().Stream("t", gguf.TensorF32, shape, 40, func(out io.Writer) error {
		for piece := range bytes.SplitSeq(data, []byte{4}) {
			if len(piece) > 0 {
				if _, err := out.Write(append(bytes.Clone(piece), 4)); err != nil {
					return err
				}
			}
		}
		return nil
	}))
	require.Equal(t, whole, pieces)
}

func TestStreamErrors(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		name  string
		write func(io.Writer) error
		want  string
	}{
		{"too few", func(out io.Writer) error { _, err := out.Write(make([]byte, 39)); return err }, `tensor "t": 39 bytes were written, expected 40`},
		{"too many", func(out io.Writer) error { _, err := out.Write(make([]byte, 41)); return err }, `tensor "t": 41 bytes were written, expected 40`},
		{"failed", func(io.Writer) error { return broken }, `tensor "t": broken`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := gguf.NewWriter().Stream("t", gguf.TensorF32, []uint64{10}, 40, c.write).WriteTo(io.Discard)
			require.ErrorContains(t, err, c.want)
		})
	}
	_, err := gguf.NewWriter().Stream("t", gguf.TensorF32, []uint64{1}, 4, func(io.Writer) error { return broken }).WriteTo(io.Discard)
	require.ErrorIs(t, err, broken)
}
