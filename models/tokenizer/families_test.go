package tokenizer_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tokenrouter/tokenrouter/models/gguf"
	"github.com/tokenrouter/tokenrouter/models/tokenizer"
)

// family opens a tiny vocabulary of tools/reference/tiny_vocabularies.py.
func family(t testing.TB, name string) *tokenizer.Tokenizer {
	t.Helper()
	f, err := gguf.Open("testdata/families/" + name + ".gguf")
	require.NoError(t, err)
	require.Empty(t, f.Tensors, "vocabulary only")
	tok, err := tokenizer.New(f)
	require.NoError(t, err)
	return tok
}

type familyCase struct {
	Text    string
	IDs     []int32
	Special []int32 // ids with special tokens read; nil where the reference has no such thing
}

func families(t testing.TB) map[string][]familyCase {
	raw, err := os.ReadFile("testdata/families/cases.json")
	require.NoError(t, err)
	var all map[string][]familyCase
	require.NoError(t, json.Unmarshal(raw, &all))
	require.Len(t, all, 8)
	return all
}

// The ids are those of Hugging Face's tokenizers and of SentencePiece.
func TestFamilies(t *testing.T) {
	for name, cases := range families(t) {
		t.Run(name, func(t *testing.T) {
			tok := family(t, name)
			require.GreaterOrEqual(t, len(cases), 50)
			for _, c := range cases {
				require.Equal(t, c.IDs, tok.Encode(c.Text, tokenizer.Options{}), "%q", c.Text)
				if c.Special != nil {
					require.Equal(t, c.Special, tok.Encode(c.Text, tokenizer.Options{ParseSpecial: true}), "%q", c.Text)
				}
				back, err := tok.Decode(c.IDs, tokenizer.DecodeOptions{Whole: true})
				require.NoError(t, err)
				require.Equal(t, c.Text, back)
			}
		})
	}
}

// Any bytes come back, and no text gives a control token unless it is asked for.
func TestFamiliesRoundTrip(t *testing.T) {
	for name, cases := range families(t) {
		t.Run(name, func(t *testing.T) {
			tok := family(t, name)
			var control []string
			for id := range int32(tok.VocabSize()) {
				if text, typ, _ := tok.Token(id); typ == tokenizer.Control || typ == tokenizer.Unknown {
					control = append(control, text)
				}
			}
			require.NotEmpty(t, control)
			piece := rapid.OneOf(rapid.SampledFrom(control), rapid.String(), rapid.StringMatching(`[ \n\t]{1,12}`),
				rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
				rapid.Map(rapid.SampledFrom(cases), func(c familyCase) string { return c.Text }))
			rapid.Check(t, func(t *rapid.T) {
				text := strings.Join(rapid.SliceOfN(piece, 0, 5).Draw(t, "text"), "")
				if tok.Model() == "llama" {
					text = strings.ReplaceAll(text, "\u2581", " ") // the same to this type
				}
				special := rapid.Bool().Draw(t, "special")
				ids := tok.Encode(text, tokenizer.Options{ParseSpecial: special})
				back, err := tok.DecodeBytes(ids, tokenizer.DecodeOptions{Whole: true})
				require.NoError(t, err)
				require.Equal(t, text, string(back))
				for _, id := range ids {
					if _, typ, _ := tok.Token(id); !special {
						require.NotContains(t, []tokenizer.Type{tokenizer.Control, tokenizer.Unknown}, typ)
					}
				}
			})
		})
	}
}

// Where a file does not say whether a text begins with the begin-of-sequence token, its family does.
func TestFamiliesBegin(t *testing.T) {
	for name, want := range map[string]bool{
		"llama-bpe": true, "llama": true, "gemma": true, "qwen2": false, "deepseek-r1-qwen": false, "smollm": false, "gpt-2": false, "default": false,
	} {
		require.Equal(t, want, family(t, name).Special().AddBOS, name)
	}
}

// The merges of this vocabulary do not make the word, but it is in it: the family takes it whole.
func TestLlama3TakesWordsWhole(t *testing.T) {
	tok := family(t, "llama-bpe")
	require.Equal(t, []int32{id(t, tok, "Ġisn")}, tok.Encode(" isn", tokenizer.Options{}))
}
