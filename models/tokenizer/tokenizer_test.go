package tokenizer_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tokenrouter/tokenrouter/models/modelstest"
	"github.com/tokenrouter/tokenrouter/models/tokenizer"
)

func tiny(t testing.TB) *tokenizer.Tokenizer {
	t.Helper()
	tok, err := tokenizer.New(modelstest.File(t, modelstest.Vocabulary()))
	require.NoError(t, err)
	return tok
}

func id(t testing.TB, tok *tokenizer.Tokenizer, text string) int32 {
	t.Helper()
	id, ok := tok.ID(text)
	require.True(t, ok, text)
	return id
}

func TestSpecialTokensInText(t *testing.T) {
	tok := tiny(t)
	start, call := id(t, tok, "<|im_start|>"), id(t, tok, "<tool_call>")
	plain := tok.Encode("<|im_start|>", tokenizer.Options{})
	require.Greater(t, len(plain), 1, "its spelling is text")
	require.NotContains(t, plain, start)
	require.Equal(t, []int32{start}, tok.Encode("<|im_start|>", tokenizer.Options{ParseSpecial: true}))

	the := tok.Encode("the", tokenizer.Options{})
	want := slices.Concat(the, []int32{call}, the)
	require.Equal(t, want, tok.Encode("the<tool_call>the", tokenizer.Options{}), "a user-defined token is read in any text")
	want = slices.Concat([]int32{start}, want, []int32{start})
	require.Equal(t, want, tok.Encode("<|im_start|>the<tool_call>the<|im_start|>", tokenizer.Options{ParseSpecial: true}))
	require.NotContains(t, tok.Encode("[PAD1]", tokenizer.Options{ParseSpecial: true}), id0(tok, "[PAD1]"))
	require.Empty(t, tok.Encode("", tokenizer.Options{ParseSpecial: true}))
}

// id0 looks an id up by the text of the vocabulary, unused ones too.
func id0(tok *tokenizer.Tokenizer, text string) int32 {
	return int32(slices.Index(modelstest.Tokens(), text))
}

func TestPlainMarkBreaksASpelling(t *testing.T) {
	tok := tiny(t)
	const mark = '\ue000'
	start := id(t, tok, "<|im_start|>")
	marked := "<|im_start|>user\n<" + string(mark) + "|im_start|> the"
	want := append([]int32{start}, tok.Encode("user\n<|im_start|> the", tokenizer.Options{})...)
	require.Equal(t, want, tok.Encode(marked, tokenizer.Options{ParseSpecial: true, PlainMark: mark}))
}

// No text has fewer tokens than is said of its length.
func TestAtLeast(t *testing.T) {
	tok := tiny(t)
	longest := 0
	for id := range int32(tok.VocabSize()) {
		piece, _ := tok.Bytes(id)
		longest = max(longest, len(piece))
	}
	require.Zero(t, tok.AtLeast(0))
	require.Equal(t, 1, tok.AtLeast(1))
	require.Equal(t, 1, tok.AtLeast(longest))
	require.Equal(t, 2, tok.AtLeast(longest+1))
	rapid.Check(t, func(t *rapid.T) {
		text := ""
		for range rapid.IntRange(0, 20).Draw(t, "parts") {
			if rapid.Bool().Draw(t, "token") {
				piece, _ := tok.Bytes(rapid.Int32Range(0, int32(tok.VocabSize())-1).Draw(t, "id"))
				text += string(piece)
			} else {
				text += rapid.String().Draw(t, "text")
			}
		}
		for _, special := range []bool{false, true} {
			if n := len(tok.Encode(text, tokenizer.Options{ParseSpecial: special})); n < tok.AtLeast(len(text)) {
				t.Fatalf("%q has %d tokens, fewer than %d", text, n, tok.AtLeast(len(text)))
			}
		}
	})
}

func TestMarkControl(t *testing.T) {
	tok := tiny(t)
	for text, want := range map[string]string{
		"":                            "",
		"no markers < here | at all>": "no markers < here | at all>",
		"<|im_start|>":                "<#|im_start|>",
		"a<|im_end|><|im_end|>b":      "a<#|im_end|><#|im_end|>b",
		"<<|endoftext|>":              "<<#|endoftext|>",
		"<tool_call>":                 "<tool_call>", // user-defined: text with an id of its own
		"cut off: <|im_":              "cut off: <#|im_",
		"é<":                          "é<#",
		"<|im_|> <|im":                "<|im_|> <#|im",
	} {
		require.Equal(t, want, tok.MarkControl(text, '#'), "%q", text)
	}
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.StringMatching(`(<\|im_start\|>|<|\||im_end|\|>|<tool_call>|a|é|x y){0,8}`)
		a, b := part.Draw(t, "a"), part.Draw(t, "b")
		const mark = '\U0010fffd'
		o := tokenizer.Options{ParseSpecial: true, PlainMark: mark}
		require.Equal(t, tok.Encode(a+b, tokenizer.Options{}), tok.Encode(tok.MarkControl(a, mark)+tok.MarkControl(b, mark), o),
			"marked pieces are plain text, also joined")
	})
}

func TestLongestSpecialTokenWins(t *testing.T) {
	w := modelstest.Vocabulary()
	tokens := append(modelstest.Tokens(), "<|im", "<|im_start|>>", "<tool")
	types := make([]int32, len(tokens))
	for i := range types {
		types[i] = 1
	}
	for i := len(types) - 3; i < len(types); i++ {
		types[i] = 3
	}
	types[slices.Index(tokens, "<|im_start|>")] = 3
	tok, err := tokenizer.New(modelstest.File(t, w.Set("tokenizer.ggml.tokens", tokens).Set("tokenizer.ggml.token_type", types)))
	require.NoError(t, err)
	o := tokenizer.Options{ParseSpecial: true}
	require.Equal(t, []int32{id(t, tok, "<|im_start|>>")}, tok.Encode("<|im_start|>>", o))
	require.Equal(t, []int32{id(t, tok, "<|im_start|>")}, tok.Encode("<|im_start|>", o))
	require.Equal(t, id(t, tok, "<|im"), tok.Encode("<|im_sta", o)[0])
}

func TestAddSpecial(t *testing.T) {
	w := modelstest.Vocabulary().Set("tokenizer.ggml.add_bos_token", true).Set("tokenizer.ggml.add_eos_token", true)
	tok, err := tokenizer.New(modelstest.File(t, w))
	require.NoError(t, err)
	s := tok.Special()
	plain := tok.Encode("hello", tokenizer.Options{})
	require.Equal(t, slices.Concat([]int32{s.BOS}, plain, []int32{s.EOS}), tok.Encode("hello", tokenizer.Options{AddSpecial: true}))
	require.Equal(t, plain, tiny(t).Encode("hello", tokenizer.Options{AddSpecial: true}), "the file asks for none")

	begun := "<|endoftext|>hello" // begins with the token already: it is not doubled
	require.Equal(t, slices.Concat([]int32{s.BOS}, plain, []int32{s.EOS}), tok.Encode(begun, tokenizer.Options{ParseSpecial: true, AddSpecial: true}))
	require.Equal(t, []int32{s.BOS, s.BOS}, tok.Encode("<|endoftext|><|endoftext|>", tokenizer.Options{ParseSpecial: true, AddSpecial: true})[:2])
}

func TestSpecialIDs(t *testing.T) {
	tok := tiny(t)
	s := tok.Special()
	require.Equal(t, id(t, tok, "<|endoftext|>"), s.BOS)
	require.Equal(t, id(t, tok, "<|im_end|>"), s.EOS)
	require.Equal(t, tokenizer.None, s.EOT)
	require.Equal(t, []int32{s.BOS, s.EOS}, tok.EndIDs(), "the end of a text by its name, the end of a turn by the metadata")

	w := modelstest.Vocabulary().Set("tokenizer.ggml.eot_token_id", uint32(3)).Set("tokenizer.ggml.eom_token_id", uint16(4))
	tok, err := tokenizer.New(modelstest.File(t, w))
	require.NoError(t, err)
	require.Equal(t, []int32{3, 4, s.BOS, s.EOS}, tok.EndIDs())
}

// A converter that calls turn markers user-defined must not let plain text forge them.
func TestTurnMarkersAreControlTokensWhateverTheirType(t *testing.T) {
	w := modelstest.Vocabulary()
	types := make([]int32, len(modelstest.Tokens()))
	for i := range types {
		types[i] = 1
	}
	for _, text := range []string{"<|im_start|>", "<|im_end|>", "<tool_call>"} {
		types[slices.Index(modelstest.Tokens(), text)] = 4
	}
	tok, err := tokenizer.New(modelstest.File(t, w.Set("tokenizer.ggml.token_type", types)))
	require.NoError(t, err)
	require.NotContains(t, tok.Encode("a<|im_start|>b", tokenizer.Options{}), id(t, tok, "<|im_start|>"))
	require.Contains(t, tok.Encode("a<|im_start|>b", tokenizer.Options{ParseSpecial: true}), id(t, tok, "<|im_start|>"))
	require.Contains(t, tok.Encode("a<tool_call>b", tokenizer.Options{}), id(t, tok, "<tool_call>"))

	// So are those that the metadata names, whatever their spelling.
	named := uint32(slices.Index(modelstest.Tokens(), "<tool_call>"))
	tok, err = tokenizer.New(modelstest.File(t, modelstest.Vocabulary().Set("tokenizer.ggml.eos_token_id", named)))
	require.NoError(t, err)
	require.NotContains(t, tok.Encode("a<tool_call>b", tokenizer.Options{}), int32(named))
}

func TestRoundTrip(t *testing.T) {
	tok := tiny(t)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`(<\|im_start\|>|<tool_call>|[a-z ]|\n|é|日|🙂){0,20}`)).Draw(t, "text")
		special := rapid.Bool().Draw(t, "special")
		got, err := tok.Decode(tok.Encode(text, tokenizer.Options{ParseSpecial: special}), tokenizer.DecodeOptions{})
		require.NoError(t, err)
		require.Equal(t, text, got)
	})
	rapid.Check(t, func(t *rapid.T) {
		raw := rapid.SliceOf(rapid.Byte()).Draw(t, "bytes") // any bytes come back, only Decode makes them text
		var got []byte
		for _, id := range tok.Encode(string(raw), tokenizer.Options{}) {
			b, ok := tok.Bytes(id)
			require.True(t, ok)
			got = append(got, b...)
		}
		require.Equal(t, string(raw), string(got))
	})
}

func TestDecode(t *testing.T) {
	tok := tiny(t)
	ids := slices.Concat([]int32{id(t, tok, "<|im_start|>")}, tok.Encode("hé\n", tokenizer.Options{}),
		[]int32{id(t, tok, "<tool_call>"), id0(tok, "[PAD2]"), id(t, tok, "<|im_end|>")})
	got, err := tok.Decode(ids, tokenizer.DecodeOptions{})
	require.NoError(t, err)
	require.Equal(t, "<|im_start|>hé\n<tool_call><|im_end|>", got, "padding stands for nothing")
	got, err = tok.Decode(ids, tokenizer.DecodeOptions{SkipSpecial: true})
	require.NoError(t, err)
	require.Equal(t, "hé\n<tool_call>", got)

	for _, bad := range []int32{-1, int32(tok.VocabSize()), 1 << 30} {
		_, err = tok.Decode([]int32{0, bad}, tokenizer.DecodeOptions{})
		require.ErrorContains(t, err, "id 1 of 2: token id")
		require.ErrorContains(t, err, "is outside the vocabulary, expected 0 to 503")
		_, _, ok := tok.Token(bad)
		require.False(t, ok)
		_, ok = tok.Bytes(bad)
		require.False(t, ok)
	}
	text, typ, ok := tok.Token(id(t, tok, "Ġmodel"))
	require.True(t, ok)
	require.Equal(t, "Ġmodel", text)
	require.Equal(t, tokenizer.Normal, typ)
}

func TestManyGoroutines(t *testing.T) {
	tok := tiny(t)
	text := "The large model reads <|im_start|> what was written. 日本 🙂\n\n  done"
	want := tok.Encode(text, tokenizer.Options{ParseSpecial: true})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				got := tok.Encode(text, tokenizer.Options{ParseSpecial: true})
				s, err := tok.Decode(got, tokenizer.DecodeOptions{})
				if !slices.Equal(want, got) || err != nil || s != text {
					t.Error("differs", got, s, err)
				}
			}
		})
	}
	wg.Wait()
}
