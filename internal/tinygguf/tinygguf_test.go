package tinygguf

import (
	"crypto/sha256"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Half floats against values of IEEE 754-2019, binary16: 1 sign, 5 exponent, 10 fraction bits.
func TestHalf(t *testing.T) {
	for _, c := range []struct {
		in   float32
		want uint16
	}{
		{0, 0}, {1, 0x3c00}, {-2, 0xc000}, {0.5, 0x3800}, {65504, 0x7bff}, {1.0 / 16384, 0x0400},
		{1 + 1.0/2048, 0x3c00}, // half way: to even
		{1 + 3.0/2048, 0x3c02}, // half way: to even
		{2 - 1.0/4096, 0x4000}, // rounds up into the next exponent
	} {
		require.Equal(t, c.want, half(c.in), "%g", c.in)
	}
	require.Panics(t, func() { half(1e6) })
}

func TestQuantizeQ8(t *testing.T) {
	values := make([]float32, 64)
	values[0], values[1], values[2] = 127, -127, 63.5
	got := quantizeQ8(values)
	require.Len(t, got, 2*34)
	require.Equal(t, uint16(0x3c00), binary.LittleEndian.Uint16(got), "scale 127/127 = 1")
	require.Equal(t, []byte{127, 0x81, 64, 0}, got[2:6], "63.5 to even is 64")
	require.Equal(t, make([]byte, 34), got[34:], "a block of zeros")
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	read := func(name string, o Options) string {
		path := filepath.Join(dir, name)
		require.NoError(t, Write(path, o))
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		return string(content)
	}
	a := read("a", Options{})
	require.True(t, strings.HasPrefix(a, "GGUF\x03\x00\x00\x00"))
	digest := func(s string) [32]byte { return sha256.Sum256([]byte(s)) } // failures stay short
	require.Equal(t, digest(a), digest(read("b", Options{})), "the same options give the same bytes")
	require.NotEqual(t, digest(a), digest(read("c", Options{Seed: 1})))
	output := "\r\x00\x00\x00\x00\x00\x00\x00output.weight" // the name as a string of 13 bytes
	require.Equal(t, 1, strings.Count(a, output))
	require.Zero(t, strings.Count(read("d", Options{Tied: true}), output))
	require.Less(t, len(read("e", Options{Weights: Q8_0})), len(a)/2)

	for name, o := range map[string]Options{
		"embedding":  {Embd: 65, Heads: 1, HeadsKV: 1},
		"heads":      {Heads: 3},
		"vocabulary": {Vocab: 200},
		"type":       {Weights: 12},
	} {
		require.Error(t, Write(filepath.Join(dir, "bad"), o), name)
	}
}

// The byte alphabet of byte-level BPE is a bijection; a few values that are well known from its vocabularies.
func TestByteAlphabet(t *testing.T) {
	a := byteAlphabet()
	seen := map[rune]bool{}
	for _, r := range a {
		seen[r] = true
	}
	require.Len(t, seen, 256)
	require.Equal(t, "ĠĊA!", string([]rune{a[' '], a['\n'], a['A'], a['!']}))
}
