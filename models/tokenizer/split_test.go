package tokenizer

import (
	"strings"
	"testing"

	"github.com/dlclark/regexp2/v2"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func cutAll(split splitter, text string) []string {
	var words []string
	for len(text) > 0 {
		n := split(text)
		words = append(words, text[:n])
		text = text[n:]
	}
	return words
}

// oracle cuts by the pattern itself.
func oracle(t require.TestingT, re *regexp2.Regexp, text string) []string {
	var words []string
	m, err := re.FindStringMatch(text)
	for ; m != nil; m, err = re.FindNextMatch(m) {
		words = append(words, m.String())
	}
	require.NoError(t, err)
	require.Equal(t, text, strings.Join(words, ""), "the pattern leaves nothing out")
	return words
}

// pieces are what the pattern tells apart, and characters on which implementations of \s, \p{L} and \p{N} differ.
var pieces = []string{
	" ", " ", "  ", "\t", "\n", "\r", "\r\n", "\n\n", "\v", "\f", "\u0085", "\u00a0", "\u2003", "\u2028", "\u3000", "\u200b", "\ufeff", "\u180e",
	"a", "Z", "hello", "Größe", "é", "e\u0301", "\u0301", "ß", "日本", "語", "한", "ก็", "हि", "ſ", "\u212a", "ª", "ʰ", "ǅ",
	"0", "7", "42", "²", "½", "Ⅷ", "٣", "〇", "①",
	"'", "'s", "'S", "'t", "'RE", "'ve", "'LL", "'l", "'d", "'m", "''", "’s",
	".", "...", "!", "(", "{}", "<|im_end|>", "_", "-", "€", "🙂", "👩‍👩‍👧", "\u200d", "\ue000", "\U0010fffd", "\x00", "\x7f", "\ufffd",
}

func TestQwen2SplitsAsItsPattern(t *testing.T) {
	re := regexp2.MustCompile(qwen2Pattern, regexp2.None)
	random := rapid.OneOf(rapid.SampledFrom(pieces), rapid.String(), rapid.StringN(1, 3, 12))
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(random, 0, 300).Draw(t, "text"), "")
		want := oracle(t, re, text)
		require.Equal(t, want, cutAll(splitQwen2, text))
	})
}

// All pairs and triples of kinds, so that no combination is left to chance.
func TestQwen2SplitsAllTriples(t *testing.T) {
	re := regexp2.MustCompile(qwen2Pattern, regexp2.None)
	kinds := []string{" ", "\n", "\r", "\t", "a", "s", "1", ".", "'", "é", "\u00a0", "語", "🙂", "ll"}
	for _, a := range kinds {
		for _, b := range kinds {
			for _, c := range kinds {
				for _, d := range kinds {
					text := a + b + c + d
					require.Equal(t, oracle(t, re, text), cutAll(splitQwen2, text), "%q", text)
				}
			}
		}
	}
}

func TestQwen2Words(t *testing.T) {
	for text, want := range map[string][]string{
		"Hello world":              {"Hello", " world"},
		"it's WE'LL 'x":            {"it", "'s", " WE", "'LL", " '", "x"},
		"a  b   c":                 {"a", " ", " b", "  ", " c"},
		"2024-10":                  {"2", "0", "2", "4", "-", "1", "0"},
		"x \n\n  y":                {"x", " \n\n", " ", " y"},
		"end.\n\nNext":             {"end", ".\n\n", "Next"},
		"  ":                       {"  "},
		"\tif (x)":                 {"\tif", " (", "x", ")"},
		"a\xffb\xe6\x97":           {"a", "\xffb", "\xe6\x97"},
		"foo(bar)\r\n":             {"foo", "(bar", ")\r\n"},
		"日本語テキスト、です。":              {"日本語テキスト", "、です", "。"},
		"e\u0301t\u0301":           {"e", "\u0301t", "\u0301"},
		"100% $5 \u00a0x":          {"1", "0", "0", "%", " $", "5", " ", "\u00a0x"},
		"don't'd'S'SS":             {"don", "'t", "'d", "'S", "'S", "S"},
		"\U0002ebf0'd_\U0002ee5dx": {"\U0002ebf0", "'d", "_\U0002ee5dx"}, // letters of Unicode 15.1
		"_private __init_":         {"_private", " __", "init", "_"},
	} {
		require.Equal(t, want, cutAll(splitQwen2, text), "%q", text)
	}
}
