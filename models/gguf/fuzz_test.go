package gguf

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/internal/ggufcorpus"
)

// Whatever the bytes are: a file whose parts lie within it, or an *Error within it.
func FuzzRead(f *testing.F) {
	f.Add(sample(f))
	for _, c := range corpus(f) {
		b, err := os.ReadFile(filepath.Join(ggufcorpus.Dir, c.Path))
		require.NoError(f, err)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		g, err := read(b)
		if err != nil {
			var e *Error
			require.ErrorAs(t, err, &e)
			require.GreaterOrEqual(t, e.Offset, int64(0))
			require.LessOrEqual(t, e.Offset, int64(len(b)))
			return
		}
		for _, k := range g.Keys() {
			v, ok := g.Get(k)
			require.True(t, ok)
			require.NotNil(t, v.Any())
		}
		for _, x := range g.Tensors {
			require.GreaterOrEqual(t, x.Offset, g.DataOffset)
			require.LessOrEqual(t, x.Offset+x.Size, int64(len(b)))
			require.Positive(t, x.Rows())
		}
	})
}
