package collect

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLastNumber(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{"3 + 4 = 7.\nAnswer: 90": 90, "#### 1,234": 1234, "It costs $2.50.": 2.5, "x = -3": -3} {
		n, ok := lastNumber(text)
		require.True(t, ok, text)
		require.Equal(t, want, n, text)
	}
	_, ok := lastNumber("none")
	require.False(t, ok)
}

func TestParsePrompt(t *testing.T) {
	t.Parallel()
	p, err := ParsePrompt([]byte(`{"prompt": "How much?", "answer": "#### 7"}`))
	require.NoError(t, err)
	require.Len(t, p.Messages, 1)
	require.Equal(t, "user", p.Messages[0].Role)
	require.Equal(t, "#### 7", p.Answer)
	for _, bad := range []string{`{}`, `[]`, `{"prompt": "a", "messages": [{"role": "user", "content": "b"}]}`} {
		_, err := ParsePrompt([]byte(bad))
		require.Error(t, err, bad)
	}
}

// The layout by the format's description: 8 bytes of length, JSON, then the arrays without gaps.
func TestSafetensors(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.safetensors")
	require.NoError(t, writeSafetensors(path, map[string]string{"a": "b"}, []tensor{{"i", []int{2}, []int32{1, -1}}, {"f", []int{1, 1}, []float32{1}}}))
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	n := binary.LittleEndian.Uint64(raw)
	require.Zero(t, n%8)
	require.JSONEq(t, `{"__metadata__": {"a": "b"}, "i": {"dtype": "I32", "shape": [2], "data_offsets": [0, 8]},
		"f": {"dtype": "F32", "shape": [1, 1], "data_offsets": [8, 12]}}`, string(raw[8:8+n]))
	require.Equal(t, []byte{1, 0, 0, 0, 255, 255, 255, 255, 0, 0, 128, 63}, raw[8+n:])
}
