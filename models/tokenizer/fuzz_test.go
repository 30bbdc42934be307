package tokenizer_test

import (
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
