package tokenizer_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tokenrouter/tokenrouter/models/tokenizer"
)

// bytesOf gives ids of one byte each.
func bytesOf(t require.TestingT, tok *tokenizer.Tokenizer, raw string) []int32 {
	var ids []int32
	for i := range len(raw) {
		ids = append(ids, tok.Encode(raw[i:i+1], tokenizer.Options{})...)
	}
	require.Len(t, ids, len(raw))
	return ids
}

func TestStreamGivesWholeCharacters(t *testing.T) {
	tok := tiny(t)
	for _, c := range []struct {
		raw   string
		want  []string // per byte
		flush string
	}{
		{"aé", []string{"a", "", "é"}, ""},
		{"日", []string{"", "", "日"}, ""},
		{"🙂!", []string{"", "", "", "🙂", "!"}, ""},
		{"🙂"[:3], []string{"", "", ""}, "\ufffd"},                    // cut off: one character, not three
		{"é"[:1], []string{""}, "\ufffd"},                            // cut off
		{"\xffa", []string{"\ufffd", "a"}, ""},                       // never in UTF-8
		{"\x80", []string{"\ufffd"}, ""},                             // continues nothing
		{"\xe6a", []string{"", "\ufffda"}, ""},                       // broken by a letter
		{"\xe6\x97\xe6", []string{"", "", "\ufffd"}, "\ufffd"},       // broken by another character, itself cut off
		{"\xc0\xaf", []string{"\ufffd", "\ufffd"}, ""},               // overlong
		{"\xe0\x80", []string{"", "\ufffd\ufffd"}, ""},               // overlong
		{"\xed\xa0\x80", []string{"", "\ufffd\ufffd", "\ufffd"}, ""}, // surrogate
		{"\xf4\x90", []string{"", "\ufffd\ufffd"}, ""},               // above U+10FFFF
	} {
		d := tok.NewDetokenizer(tokenizer.DecodeOptions{})
		var got []string
		for _, id := range bytesOf(t, tok, c.raw) {
			s, err := d.Append(id)
			require.NoError(t, err)
			got = append(got, s)
		}
		require.Equal(t, c.want, got, "%q", c.raw)
		require.Equal(t, c.flush, d.Flush(), "%q", c.raw)
		require.Empty(t, d.Flush(), "nothing is given twice")
	}
}

func TestStreamIsDecode(t *testing.T) {
	tok := tiny(t)
	rapid.Check(t, func(t *rapid.T) {
		var ids []int32
		if rapid.Bool().Draw(t, "bytes") {
			raw := rapid.SliceOf(rapid.OneOf(rapid.Byte(), rapid.SampledFrom([]byte("a\x80\xbf\xc3\xa9\xe6\x97\xa5\xf0\x9f\x99\x82\xed\xa0\xf4\x90")))).Draw(t, "raw")
			ids = bytesOf(t, tok, string(raw))
		} else {
			ids = rapid.SliceOf(rapid.Int32Range(0, int32(tok.VocabSize())-1)).Draw(t, "ids")
		}
		o := tokenizer.DecodeOptions{SkipSpecial: rapid.Bool().Draw(t, "skip")}
		want, err := tok.Decode(ids, o)
		require.NoError(t, err)
		var got strings.Builder
		d := tok.NewDetokenizer(o)
		for _, id := range ids {
			s, err := d.Append(id)
			require.NoError(t, err)
			require.True(t, utf8.ValidString(s))
			got.WriteString(s)
		}
		got.WriteString(d.Flush())
		require.Equal(t, want, got.String())
	})
}

// Bad bytes are counted as the Unicode standard recommends, which is what Go's own replacement of runs is not: the
// examples are those of table 3-8 in the standard.
func TestReplacementOfMaximalSubparts(t *testing.T) {
	tok := tiny(t)
	for raw, want := range map[string]string{
		"\xc0\xaf\xe0\x80\xbf\xf0\x81\x82A":        strings.Repeat("\ufffd", 8) + "A",
		"\xed\xa0\x80\xed\xbf\xbf\xed\xafA":        strings.Repeat("\ufffd", 8) + "A",
		"\xf4\x91\x92\x93\xffA\x80\xbfB":           strings.Repeat("\ufffd", 5) + "A\ufffd\ufffdB",
		"\xe1\x80\xe2\xf0\x91\x92\xf1\xbfA":        strings.Repeat("\ufffd", 4) + "A",
		"\xf0\x9f\x99":                             "\ufffd",
		"a\xf1\x80\x80\xe1\x80\xc2b\x80c\x80\xbfd": "a\ufffd\ufffd\ufffdb\ufffdc\ufffd\ufffdd",
	} {
		got, err := tok.Decode(bytesOf(t, tok, raw), tokenizer.DecodeOptions{})
		require.NoError(t, err)
		require.Equal(t, want, got, "%q", raw)
	}
}

func TestStreamRefusesUnknownIDs(t *testing.T) {
	tok := tiny(t)
	d := tok.NewDetokenizer(tokenizer.DecodeOptions{})
	ids := bytesOf(t, tok, "é")
	_, err := d.Append(ids[0])
	require.NoError(t, err)
	_, err = d.Append(int32(tok.VocabSize()))
	require.ErrorContains(t, err, "is outside the vocabulary")
	s, err := d.Append(ids[1])
	require.NoError(t, err)
	require.Equal(t, "é", s, "the stream goes on")
}
