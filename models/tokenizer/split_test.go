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

// published are the patterns of the pre-tokenizers, each of which cuts within the pieces that the ones before it left.
var published = map[string][]string{
	"deepseek-r1-qwen": {qwen2Pattern},
	"default":          defaultPatterns,
	"gpt-2":            {gpt2Pattern},
	"llama-bpe":        {llama3Pattern},
	"qwen2":            {qwen2Pattern},
	"smollm":           smollmPatterns,
}

// oracle cuts by the patterns themselves.
type oracle []*regexp2.Regexp

func oracleOf(name string) oracle {
	var o oracle
	for _, p := range published[name] {
		o = append(o, regexp2.MustCompile(p, regexp2.None))
	}
	return o
}

func (o oracle) cut(t require.TestingT, text string) []string {
	words := []string{text}
	for _, re := range o {
		var next []string
		for _, w := range words {
			next = append(next, isolate(t, re, w)...)
		}
		words = next
	}
	require.Equal(t, text, strings.Join(words, ""), "nothing is left out")
	return words
}

// isolate gives the matches in text and what lies between them.
func isolate(t require.TestingT, re *regexp2.Regexp, text string) []string {
	var words []string
	runes, at := []rune(text), 0
	m, err := re.FindStringMatch(text)
	for ; m != nil; m, err = re.FindNextMatch(m) {
		if m.RuneIndex > at {
			words = append(words, string(runes[at:m.RuneIndex]))
		}
		words = append(words, m.String())
		at = m.RuneIndex + m.RuneLength
	}
	require.NoError(t, err)
	if at < len(runes) {
		words = append(words, string(runes[at:]))
	}
	return words
}

// pieces are what the pattern tells apart, and characters on which implementations of \s, \p{L} and \p{N} differ.
var pieces = []string{
	" ", " ", "  ", "\t", "\n", "\r", "\r\n", "\n\n", "\v", "\f", "\u0085", "\u00a0", "\u2003", "\u2028", "\u3000", "\u200b", "\ufeff", "\u180e",
	"a", "Z", "hello", "Größe", "é", "e\u0301", "\u0301", "ß", "日本", "語", "한", "ก็", "हि", "ſ", "\u212a", "ª", "ʰ", "ǅ",
	"0", "7", "42", "²", "½", "Ⅷ", "٣", "〇", "①",
	"'", "'s", "'S", "'t", "'RE", "'ve", "'LL", "'l", "'d", "'m", "''", "’s", "'ſ",
	".", "...", "!", "(", "{}", "<|im_end|>", "_", "-", "€", "🙂", "👩‍👩‍👧", "\u200d", "\ue000", "\U0010fffd", "\x00", "\x7f", "\ufffd",
}

func TestSplittersAreTheirPatterns(t *testing.T) {
	require.Len(t, published, len(preTokenizers))
	random := rapid.OneOf(rapid.SampledFrom(pieces), rapid.String(), rapid.StringN(1, 3, 12))
	for name, pre := range preTokenizers {
		t.Run(name, func(t *testing.T) {
			o := oracleOf(name)
			rapid.Check(t, func(t *rapid.T) {
				text := strings.Join(rapid.SliceOfN(random, 0, 100).Draw(t, "text"), "")
				require.Equal(t, o.cut(t, text), cutAll(pre.split, text))
			})
		})
	}
}

// All runs of three kinds, so that no combination is left to chance.
func TestSplittersOnAllCombinations(t *testing.T) {
	kinds := []string{" ", "\n", "\r", "\t", "a", "s", "1", ".", "'", "é", "\u00a0", "語", "🙂", "'ll", "²", "$", "  "}
	for name, pre := range preTokenizers {
		t.Run(name, func(t *testing.T) {
			o := oracleOf(name)
			for i := range len(kinds) * len(kinds) * len(kinds) {
				var text string
				for n := i; len(text) == 0 || n > 0; n /= len(kinds) {
					text += kinds[n%len(kinds)]
				}
				require.Equal(t, o.cut(t, text), cutAll(pre.split, text), "%q", text)
			}
		})
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
		"a'ſs":                     {"a", "'ſ", "s"},
		"don't'd'S'SS":             {"don", "'t", "'d", "'S", "'S", "S"},
		"\U0002ebf0'd_\U0002ee5dx": {"\U0002ebf0", "'d", "_\U0002ee5dx"}, // letters of Unicode 15.1
		"_private __init_":         {"_private", " __", "init", "_"},
	} {
		require.Equal(t, want, cutAll(splitQwen2, text), "%q", text)
	}
}

func TestWords(t *testing.T) {
	const text = "It's  2024,\n\n$12345 x³ (\"ok\")"
	for name, want := range map[string][]string{
		"llama-bpe": {"It", "'s", " ", " ", "202", "4", ",\n\n", "$", "123", "45", " x", "³", " (\"", "ok", "\")"},
		"gpt-2":     {"It", "'s", " ", " 2024", ",", "\n", "\n", "$", "12345", " x", "³", " (\"", "ok", "\")"},
		"smollm":    {"It", "'s", "  ", "2", "0", "2", "4", ",", "\n", "\n", "$", "1", "2", "3", "4", "5", " x", "³", " (\"", "ok", "\")"},
		"default":   {"It", "'", "s", " ", " ", "202", "4", ",", "\n\n", "$", "123", "45", " x", "³", " ", "(\"", "ok", "\")"},
	} {
		require.Equal(t, want, cutAll(preTokenizers[name].split, text), name)
	}
	require.Equal(t, []string{"\xff", "12²", "345", "6"}, cutAll(splitDefault, "\xff12²3456"))
}
