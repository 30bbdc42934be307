package tokenizer

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tokenrouter/tokenrouter/models/modelstest"
)

func tiny(t testing.TB) *Tokenizer {
	t.Helper()
	tok, err := New(modelstest.File(t, modelstest.Vocabulary()))
	require.NoError(t, err)
	return tok
}

// naive is BPE as it is defined: join all pairs of the lowest rank, over and over.
func naive(word string, rank map[string]int) []string {
	var parts []string
	for i := range len(word) {
		parts = append(parts, modelstest.Spell(word[i:i+1]))
	}
	for {
		best, pair := len(rank), ""
		for i := 1; i < len(parts); i++ {
			if r, ok := rank[parts[i-1]+" "+parts[i]]; ok && r < best {
				best, pair = r, parts[i-1]+" "+parts[i]
			}
		}
		if pair == "" {
			return parts
		}
		var out []string
		for i := 0; i < len(parts); i++ {
			if i+1 < len(parts) && parts[i]+" "+parts[i+1] == pair {
				out = append(out, parts[i]+parts[i+1])
				i++
				continue
			}
			out = append(out, parts[i])
		}
		parts = out
	}
}

func TestMergesAsDefined(t *testing.T) {
	tok := tiny(t)
	rank := map[string]int{}
	for i, m := range modelstest.Merges() {
		rank[m] = i
	}
	all := modelstest.Tokens()
	letters := "  aeehlnorstwd\n0éÐ¸"
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.StringOfN(rapid.RuneFrom([]rune(letters)), 1, 40, -1), rapid.String()).Draw(t, "text")
		var want []string
		for _, w := range cutAll(splitQwen2, text) {
			want = append(want, naive(w, rank)...)
		}
		var got []string
		for _, id := range tok.Encode(text, Options{}) {
			got = append(got, all[id])
		}
		require.Equal(t, want, got)
	})
}

// Equal pairs that overlap are joined from the left: "aaaaa" is "aa" "aa" "a".
func TestOverlappingPairsJoinFromTheLeft(t *testing.T) {
	tok := tiny(t)
	e := tok.encoder.(*bpe)
	a, ok := tok.ID("a")
	require.True(t, ok)
	e2 := *e
	e2.pairs = map[uint64]merge{pairOf(a, a): {0, 300}}
	require.Equal(t, []int32{300, 300, a}, e2.word(nil, "aaaaa", new(scratch)))
}

func TestWholeWordsAreTakenWhole(t *testing.T) {
	tok := tiny(t)
	e := *tok.encoder.(*bpe)
	model, ok := tok.ID("Ġmodel")
	require.True(t, ok)
	e.pairs = map[uint64]merge{}
	require.Len(t, e.encode(nil, " model", true), 6)
	e.whole = true
	require.Equal(t, []int32{model}, e.encode(nil, " model", true))
}

func BenchmarkEncode(b *testing.B) {
	tok := tiny(b)
	text := strings.Repeat("The large model reads what was written, and it's quick. ", 1<<14/56)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		tok.Encode(text, Options{})
	}
}

func TestByteLevelAlphabet(t *testing.T) {
	require.Equal(t, 'Ġ', byteToRune[' '])
	require.Equal(t, 'Ċ', byteToRune['\n'])
	require.Equal(t, 'Ń', byteToRune[0xAD])
	require.EqualValues(t, 0xAD, runeToByte['Ń'], "the last one")
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	spelled := modelstest.Spell(string(all))
	require.Equal(t, string(all), fromByteLevel(spelled))
	require.Equal(t, spelled, string(appendByteLevel(nil, string(all))))
	require.Equal(t, "日 a", fromByteLevel("日Ġa"), "a character that stands for no byte stands for itself")
	require.False(t, slices.Contains(byteToRune[:], ' '))
}
