package modelstest

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// The file that tests of other languages read is what this package makes. UPDATE_TESTDATA=1 writes it anew.
func TestCommittedVocabularyIsCurrent(t *testing.T) {
	const path = "../testdata/tiny-vocab.gguf"
	var b bytes.Buffer
	_, err := Vocabulary().WriteTo(&b)
	require.NoError(t, err)
	if os.Getenv("UPDATE_TESTDATA") != "" {
		require.NoError(t, os.WriteFile(path, b.Bytes(), 0o644))
	}
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, bytes.Equal(b.Bytes(), got), "run UPDATE_TESTDATA=1 go test ./models/modelstest")
}

func TestVocabulary(t *testing.T) {
	require.Len(t, Merges(), merges)
	require.Len(t, Tokens(), 256+merges+len(added))
	require.Equal(t, "!", Tokens()[0]) // GPT-2's order: printable bytes first
	require.Equal(t, "Ā", Tokens()[188])
	require.Contains(t, Tokens(), "Ġmodel")
	require.Equal(t, "ĠaĊ", Spell(" a\n"))
}
