package tokenizer_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/models/tokenizer"
)

// Any bytes come back as they were, by whole text and by stream, with and without special tokens.
func FuzzEncode(f *testing.F) {
	for _, s := range []string{"", "hello world", "it's 42!\r\n\n  x", "<|im_start|>user\nhé<|im_end|>", "<tool_call>{}</tool_call>", "\xff\xfe日", "🙂"} {
		f.Add(s, true)
		f.Add(s, false)
	}
	tok := tiny(f)
	f.Fuzz(func(t *testing.T, text string, special bool) {
		ids := tok.Encode(text, tokenizer.Options{ParseSpecial: special})
		var raw []byte
		d := tok.NewDetokenizer(tokenizer.DecodeOptions{})
		stream := ""
		for _, id := range ids {
			b, ok := tok.Bytes(id)
			require.True(t, ok)
			raw = append(raw, b...)
			s, err := d.Append(id)
			require.NoError(t, err)
			stream += s
		}
		require.Equal(t, text, string(raw))
		whole, err := tok.Decode(ids, tokenizer.DecodeOptions{})
		require.NoError(t, err)
		require.Equal(t, whole, stream+d.Flush())
	})
}

// So they do with a vocabulary that puts a space before words and writes rare characters in bytes.
func FuzzEncodeSPM(f *testing.F) {
	for _, s := range []string{"", "the river", " two  spaces ", "<s>a</s>\n\n\n\t", "\xff\xfe日", "🙂", "\u2581"} {
		f.Add(s, true)
		f.Add(s, false)
	}
	all := []*tokenizer.Tokenizer{family(f, "llama"), family(f, "gemma")}
	f.Fuzz(func(t *testing.T, text string, special bool) {
		for _, tok := range all {
			ids := tok.Encode(text, tokenizer.Options{ParseSpecial: special})
			got, err := tok.DecodeBytes(ids, tokenizer.DecodeOptions{Whole: true})
			require.NoError(t, err)
			require.Equal(t, strings.ReplaceAll(text, "\u2581", " "), string(got))
		}
	})
}
