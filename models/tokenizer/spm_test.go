package tokenizer

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tokenrouter/tokenrouter/models/gguf"
	"github.com/tokenrouter/tokenrouter/models/modelstest"
)

// pieced is a vocabulary of the type "llama": an unknown token, begin and end, the bytes, then ordinary tokens with scores.
func pieced(tokens []string, scores []float32) *gguf.Writer {
	texts := []string{"<unk>", "<s>", "</s>"}
	types := []int32{2, 3, 3}
	all := []float32{0, 0, 0}
	for b := range 256 {
		texts, types, all = append(texts, fmt.Sprintf("<0x%02X>", b)), append(types, 6), append(all, 0)
	}
	for i, text := range tokens {
		texts, types, all = append(texts, text), append(types, 1), append(all, scores[i])
	}
	return gguf.NewWriter().
		Set("general.architecture", "llama").
		Set("tokenizer.ggml.model", "llama").
		Set("tokenizer.ggml.tokens", texts).
		Set("tokenizer.ggml.token_type", types).
		Set("tokenizer.ggml.scores", all).
		Set("tokenizer.ggml.bos_token_id", uint32(1)).
		Set("tokenizer.ggml.eos_token_id", uint32(2)).
		Set("tokenizer.ggml.unknown_token_id", uint32(0)).
		Set("tokenizer.ggml.add_space_prefix", false)
}

func piecedTokenizer(t testing.TB, w *gguf.Writer) *Tokenizer {
	t.Helper()
	tok, err := New(modelstest.File(t, w))
	require.NoError(t, err)
	return tok
}

// naiveSPM is the encoding as it is defined: join the adjacent pair whose text is the token of the highest score, of
// equal ones the leftmost, over and over; then characters that are no tokens become bytes.
func naiveSPM(text string, score map[string]float32) []string {
	var parts []string
	for text = strings.ReplaceAll(text, " ", "\u2581"); text != ""; {
		_, n := utf8.DecodeRuneInString(text)
		parts, text = append(parts, text[:n]), text[n:]
	}
	for {
		best := -1
		for i := 1; i < len(parts); i++ {
			if x, ok := score[parts[i-1]+parts[i]]; ok && (best < 0 || x > score[parts[best-1]+parts[best]]) {
				best = i
			}
		}
		if best < 0 {
			break
		}
		parts[best-1] += parts[best]
		parts = slices.Delete(parts, best, best+1)
	}
	var out []string
	for _, p := range parts {
		if _, ok := score[p]; ok {
			out = append(out, p)
			continue
		}
		for i := range len(p) {
			out = append(out, fmt.Sprintf("<0x%02X>", p[i]))
		}
	}
	return out
}

// Any vocabulary, also with equal scores, characters that only occur within tokens, and spaces anywhere in them.
func TestSPMAsDefined(tb *testing.T) {
	letters := rapid.StringOfN(rapid.RuneFrom([]rune("\u2581ab日é")), 1, 5, -1)
	rapid.Check(tb, func(t *rapid.T) {
		tokens := rapid.SliceOfNDistinct(letters, 0, 30, rapid.ID[string]).Draw(t, "tokens")
		if !slices.Contains(tokens, "\u2581") {
			tokens = append(tokens, "\u2581")
		}
		scores := rapid.SliceOfN(rapid.Float32Range(-4, 0), len(tokens), len(tokens)).Draw(t, "scores")
		score := map[string]float32{}
		for i, text := range tokens {
			if rapid.Bool().Draw(t, "whole") {
				scores[i] = float32(int(scores[i])) // equal ones
			}
			score[text] = scores[i]
		}
		tok := piecedTokenizer(tb, pieced(tokens, scores))
		text := rapid.StringOfN(rapid.RuneFrom([]rune("  aabb日éx🙂")), 0, 30, -1).Draw(t, "text")
		var got []string
		for _, id := range tok.Encode(text, Options{}) {
			s, _, _ := tok.Token(id)
			got = append(got, s)
		}
		require.Equal(t, naiveSPM(text, score), got)
		back, err := tok.Decode(tok.Encode(text, Options{}), DecodeOptions{})
		require.NoError(t, err)
		require.Equal(t, text, back)
	})
}

func TestSPMTakesNoSpecialTokenFromText(t *testing.T) {
	// Were the control token an ordinary one, "<s" and ">" would make it.
	tokens := []string{"\u2581", "<", "s", ">", "<s", "</", "</s", "a", "0", "x", "A", "<0", "<0x", "<0x0", "<0x0A"}
	w := pieced(tokens, make([]float32, len(tokens)))
	tok := piecedTokenizer(t, w)
	for _, text := range []string{"<s>", "a</s>a", "<unk>", "<0x0A>"} {
		ids := tok.Encode(text, Options{})
		for _, id := range ids {
			_, typ, _ := tok.Token(id)
			require.NotContains(t, []Type{Control, Unknown}, typ, text)
		}
		require.NotContains(t, ids, int32(3+0x0A), text)
	}
	require.Equal(t, []int32{1, 2, 0}, tok.Encode("<s></s><unk>", Options{ParseSpecial: true}))
	text, err := tok.Decode([]int32{1, 2, 0}, DecodeOptions{SkipSpecial: true})
	require.NoError(t, err)
	require.Empty(t, text)
}

func TestSPMSpacePrefix(t *testing.T) {
	tokens := []string{"\u2581", "a", "\u2581a", "b"}
	w := pieced(tokens, []float32{-1, -2, 0, -3}).Set("tokenizer.ggml.add_space_prefix", true)
	tok := piecedTokenizer(t, w)
	space, a, spaceA, b := int32(259), int32(260), int32(261), int32(262)
	require.Equal(t, []int32{spaceA}, tok.Encode("a", Options{}))
	require.Equal(t, []int32{space, spaceA}, tok.Encode(" a", Options{}))
	require.Empty(t, tok.Encode("", Options{}))
	require.Equal(t, []int32{1, spaceA, 2, space, b, a}, tok.Encode("<s>a</s>ba", Options{ParseSpecial: true}), "behind a special token, too")
	require.Equal(t, []int32{1, spaceA}, tok.Encode("a", Options{AddSpecial: true}), "a text begins with the token that the metadata names")

	for _, c := range []struct {
		ids  []int32
		want [2]string // as the text goes on, and as a whole
	}{
		{[]int32{spaceA}, [2]string{" a", "a"}},
		{[]int32{space, spaceA}, [2]string{"  a", " a"}},
		{[]int32{a, spaceA}, [2]string{"a a", "a a"}},
		{[]int32{1, spaceA, 2, space, b, a}, [2]string{"<s> a</s> ba", "<s>a</s>ba"}},
		{[]int32{3 + ' ', a}, [2]string{" a", "a"}},
	} {
		for i, whole := range []bool{false, true} {
			o := DecodeOptions{Whole: whole}
			got, err := tok.Decode(c.ids, o)
			require.NoError(t, err)
			require.Equal(t, c.want[i], got, "%v", c.ids)
			d := tok.NewDetokenizer(o)
			for range 2 { // a second stream is like the first
				stream := ""
				for _, id := range c.ids {
					s, err := d.Append(id)
					require.NoError(t, err)
					stream += s
				}
				require.Equal(t, c.want[i], stream+d.Flush(), "%v", c.ids)
			}
		}
	}

	w = pieced(tokens, []float32{-1, -2, 0, -3})
	require.Equal(t, []int32{a}, piecedTokenizer(t, w).Encode("a", Options{}))
}

// A character is complete when its last byte is there, whether it comes in bytes or in a token.
func TestSPMStreamsBytes(t *testing.T) {
	tok := piecedTokenizer(t, pieced([]string{"\u2581", "a"}, []float32{0, 0}))
	d := tok.NewDetokenizer(DecodeOptions{})
	var got []string
	for _, id := range append(tok.Encode("🙂 a\n", Options{}), 3+0xE6, 260, 3+0xFF) {
		s, err := d.Append(id)
		require.NoError(t, err)
		got = append(got, s)
	}
	require.Equal(t, []string{"", "", "", "🙂", " ", "a", "\n", "", "\ufffda", "\ufffd"}, got)
	require.Equal(t, []int32{3 + 0xF0, 3 + 0x9F, 260, 3 + 0xFF}, tok.Encode("\xf0\x9fa\xff", Options{}), "bytes that are no text are kept")
}

func TestSPMWithoutBytesHasUnknown(t *testing.T) {
	w := gguf.NewWriter().Set("tokenizer.ggml.model", "llama").Set("tokenizer.ggml.tokens", []string{"<unk>", "\u2581", "a"}).
		Set("tokenizer.ggml.token_type", []int32{2, 1, 1}).Set("tokenizer.ggml.scores", []float32{0, 0, 0}).
		Set("tokenizer.ggml.add_space_prefix", false)
	_, err := New(modelstest.File(t, w))
	require.ErrorContains(t, err, `neither a token for the byte 0x00 ("<0x00>" of the type byte) nor an unknown token (tokenizer.ggml.unknown_token_id)`)
	tok := piecedTokenizer(t, w.Set("tokenizer.ggml.unknown_token_id", uint32(0)))
	require.Equal(t, []int32{2, 0, 1, 2, 0}, tok.Encode("a日 a\xff", Options{}))
	require.False(t, tok.Special().AddBOS, "the file names no token to begin with")
}

func TestSPMVocabulariesThatContradictThemselves(t *testing.T) {
	for want, w := range map[string]*gguf.Writer{
		"tokenizer.ggml.scores has 2 entries, but tokenizer.ggml.tokens has 260":                   pieced([]string{"\u2581"}, []float32{0}).Set("tokenizer.ggml.scores", []float32{0, 1}),
		`tokenizer.ggml.scores: the score of token 260 ("a") is NaN`:                               pieced([]string{"\u2581", "a"}, []float32{0, float32(math.NaN())}),
		"the vocabulary has no token for a space":                                                  pieced([]string{"a", "\u2581a"}, []float32{0, 0}),
		`token 260 ("aaaaaaaaaaaaaaaaaaaa"...) has 257 bytes, expected at most 256`:                pieced([]string{"\u2581", strings.Repeat("a", 257)}, []float32{0, 0}),
		"tokenizer.ggml.add_space_prefix\": at byte":                                               pieced([]string{"\u2581"}, []float32{0}).Set("tokenizer.ggml.add_space_prefix", "no"),
		"is of type string, expected array of floating-point numbers":                              pieced([]string{"\u2581"}, []float32{0}).Set("tokenizer.ggml.scores", "none"),
		"tokenizer.ggml.token_type is missing, and without it the tokens of bytes and the special": gguf.NewWriter().Set("tokenizer.ggml.model", "llama").Set("tokenizer.ggml.tokens", []string{"a"}),
	} {
		_, err := New(modelstest.File(t, w))
		require.ErrorContains(t, err, want)
	}
}

// All pieces of a text without repetition can be made in as many ways as they are long. That is no trained vocabulary, and
// would take many times the memory of the file.
func TestSPMWaysAreBounded(t *testing.T) {
	var text []rune
	for r := rune(0x4e00); len(text) < 150; r++ {
		text = append(text, r)
	}
	tokens := []string{"\u2581"}
	for i := range text {
		for n := 1; n <= 80 && i+n <= len(text); n++ {
			tokens = append(tokens, string(text[i:i+n]))
		}
	}
	_, err := New(modelstest.File(t, pieced(tokens, make([]float32, len(tokens)))))
	require.ErrorContains(t, err, "ways to make one of two others, which no trained one has")
}

func TestSPMShared(t *testing.T) {
	tokens := []string{"\u2581", "a"}
	a := piecedTokenizer(t, pieced(tokens, []float32{0, -1}).Set("tokenizer.ggml.pre", "default"))
	require.Empty(t, a.Pre())
	n, err := a.Shared(piecedTokenizer(t, pieced(append(tokens, "b"), []float32{0, -1, -2})))
	require.NoError(t, err, "a name of a pre-tokenizer means nothing to this type")
	require.Equal(t, 261, n)
	for want, w := range map[string]*gguf.Writer{
		"the score of token 260 is -1 in one and -2 in the other":               pieced(tokens, []float32{0, -2}),
		"tokenizer.ggml.add_space_prefix is false in one and true in the other": pieced(tokens, []float32{0, -1}).Set("tokenizer.ggml.add_space_prefix", true),
		`the type is "llama" in one and "gpt2" in the other`:                    modelstest.Vocabulary(),
		`token 260 is "a" (normal) in one and "c" (normal) in the other`:        pieced([]string{"\u2581", "c"}, []float32{0, -1}),
	} {
		_, err := a.Shared(piecedTokenizer(t, w))
		require.ErrorContains(t, err, want)
	}
}
