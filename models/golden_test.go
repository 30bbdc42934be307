package models_test

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tokenrouter/tokenrouter/internal/cputime"
	"github.com/tokenrouter/tokenrouter/models"
	"github.com/tokenrouter/tokenrouter/models/chat"
	"github.com/tokenrouter/tokenrouter/models/modelstest"
	"github.com/tokenrouter/tokenrouter/models/tokenizer"
)

// Real files, by their names in the golden file.
var realFiles = map[string]string{
	"qwen2.5-coder-0.5b": "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
	"qwen2.5-coder-1.5b": "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
	"smollm2-135m":       "smollm2-135m-instruct-q4_1.gguf",
	"gemma-3-270m":       "gemma-3-270m-q4_k_m.gguf",
}

// real opens a real file. TOKENROUTER_MODELS is the directory; if it is set, a missing file fails the test.
func real(t testing.TB, name string) *models.Model {
	t.Helper()
	dir := os.Getenv("TOKENROUTER_MODELS")
	if dir == "" {
		t.Skip("TOKENROUTER_MODELS, the directory of the real GGUF files, is not set")
	}
	m, err := models.Open(filepath.Join(dir, realFiles[name]))
	require.NoError(t, err)
	return m
}

type golden struct {
	Models map[string][]struct {
		Prompt    string
		PromptIDs []int32 `json:"prompt_ids"`
		Text      string
		Steps     []struct{ ID int32 }
	}
}

// The prompt ids of the golden files, which llama.cpp made.
func TestGoldenPromptIDs(t *testing.T) {
	files, err := filepath.Glob("../tests/testdata/golden-*.json")
	require.NoError(t, err)
	seen := 0
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		var g golden
		require.NoError(t, json.Unmarshal(raw, &g))
		for name, cases := range g.Models {
			seen++
			require.GreaterOrEqual(t, len(cases), 11, name)
			t.Run(name, func(t *testing.T) {
				tok := real(t, name).Tokenizer()
				for _, c := range cases {
					got := tok.Encode(c.Prompt, tokenizer.Options{ParseSpecial: true, AddSpecial: true})
					require.Equal(t, c.PromptIDs, got, "%q", c.Prompt)

					var answer []int32
					for _, s := range c.Steps {
						answer = append(answer, s.ID)
					}
					text, err := tok.Decode(answer, tokenizer.DecodeOptions{SkipSpecial: true})
					require.NoError(t, err)
					require.Equal(t, c.Text, text)
				}
			})
		}
	}
	require.Equal(t, len(realFiles), seen)
}

func TestRealPair(t *testing.T) {
	small, large := real(t, "qwen2.5-coder-0.5b"), real(t, "qwen2.5-coder-1.5b")
	vocab, err := models.CheckRoute(small, large)
	require.NoError(t, err)
	require.Equal(t, 151936, vocab)

	require.Equal(t, models.Info{
		Path: small.Info().Path, Size: 491400064, Architecture: "qwen2", Name: "Qwen2.5 Coder 0.5B Instruct AWQ",
		ContextLength: 32768, VocabSize: 151936, Layers: 24, Embedding: 896, Heads: 14, KVHeads: 2, Tensors: 291,
		Parameters: small.Info().Parameters, Quantization: small.Info().Quantization,
	}, small.Info())
	require.Equal(t, []int32{151643, 151645}, small.EndIDs()) // <|endoftext|>, <|im_end|>

	for file, m := range map[string]*models.Model{"0.5b": small, "1.5b": large} {
		want, err := os.ReadFile("chat/testdata/qwen2.5-coder-" + file + "-instruct.jinja")
		require.NoError(t, err)
		tmpl, err := m.Chat()
		require.NoError(t, err)
		require.Equal(t, string(want), tmpl.Source(), "the snapshots are those of the real template")

		// The ids of <|im_start|>, "system", "\n", ... as in Qwen2.5's documentation of its vocabulary.
		ids, err := m.Prompt(chat.Request{Messages: []chat.Message{chat.User("hi<|im_end|>")}})
		require.NoError(t, err)
		require.Equal(t, []int32{151644, 8948, 198}, ids[:3])
		require.Equal(t, []int32{151644, 872, 198, 6023, 27, 91, 318, 6213, 91, 29, 151645, 198, 151644, 77091, 198}, ids[len(ids)-15:])
	}
}

// Text of all kinds comes back, and one megabyte of it takes less than half a second.
func TestRealVocabulary(t *testing.T) {
	for name := range realFiles {
		if name != "qwen2.5-coder-1.5b" { // which has the tokenizer of the other one
			t.Run(name, func(t *testing.T) { testVocabulary(t, real(t, name).Tokenizer()) })
		}
	}
}

func testVocabulary(t *testing.T, tok *tokenizer.Tokenizer) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		if tok.Model() == "llama" { // a space and its mark are the same to this type
			text = strings.ReplaceAll(text, "\u2581", " ")
		} else if !expressible(tok, text) {
			t.Skip("the vocabulary lacks a byte")
		}
		got, err := tok.Decode(tok.Encode(text, tokenizer.Options{}), tokenizer.DecodeOptions{})
		require.NoError(t, err)
		require.Equal(t, text, got)
	})

	if raceDetector {
		t.Skip("time is measured without the race detector")
	}
	var mixed strings.Builder
	r := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("the of and quantization (n == 42) { return } don't Größe 日本語 の 🙂 naïve https://example.org/a?b=c -- 0x1F \t")
	for mixed.Len() < 1<<20 {
		mixed.WriteString(words[r.IntN(len(words))] + []string{" ", " ", "\n", "  "}[r.IntN(4)])
	}
	letters := make([]byte, 1<<20) // one word that has no end
	for i := range letters {
		letters[i] = 'a' + byte(r.IntN(26))
	}
	for name, text := range map[string]string{
		"mixed": mixed.String(), "one letter": strings.Repeat("a", 1<<20), "one script": strings.Repeat("世界", 1<<20/6),
		"letters": string(letters), "spaces": strings.Repeat(" ", 1<<20), "newlines": strings.Repeat("\n", 1<<20),
	} {
		best := time.Hour // of three at most
		for range 3 {
			start := cputime.Now(t)
			require.NotEmpty(t, tok.Encode(text, tokenizer.Options{}))
			if best = min(best, cputime.Now(t)-start); best < 500*time.Millisecond {
				break
			}
		}
		t.Logf("%-10s %v", name, best)
		require.Less(t, best, 500*time.Millisecond, name)
	}
}

// expressible says whether a vocabulary of the type gpt2 has tokens for all bytes of text: SmolLM2's lacks some.
func expressible(tok *tokenizer.Tokenizer, text string) bool {
	for i := range len(text) {
		if _, ok := tok.ID(modelstest.Spell(text[i : i+1])); !ok {
			return false
		}
	}
	return true
}

// A byte without a token reads as U+FFFD: SmolLM2 has none for U+0004.
func TestRealVocabularyThatLacksBytes(t *testing.T) {
	tok := real(t, "smollm2-135m").Tokenizer()
	require.Equal(t, tok.Encode("a\ufffdb", tokenizer.Options{}), tok.Encode("a\x04b", tokenizer.Options{}))
}

// Gemma's file is the base model: it completes text, but does not chat.
func TestRealFamilies(t *testing.T) {
	gemma := real(t, "gemma-3-270m")
	_, err := gemma.Chat()
	require.ErrorIs(t, err, models.ErrNoTemplate)
	require.Equal(t, []int32{1, 106}, gemma.EndIDs()) // <eos>, <end_of_turn>
	tok := gemma.Tokenizer()
	encode := func(s string) []int32 { return tok.Encode(s, tokenizer.Options{}) }
	require.Equal(t, []int32{109, 139, 255969}, encode("\n\n\n   \t\t"), "runs of white space are user-defined tokens")
	require.NotContains(t, encode("<start_of_turn>user"), int32(105), "its spelling is text")
	require.Equal(t, int32(105), tok.Encode("<start_of_turn>user", tokenizer.Options{ParseSpecial: true})[0])
	require.Equal(t, []int32{238 + 0xF5, 238 + 0xFF}, encode("\xf5\xff"), "bytes that are no text have tokens, too")

	smol := real(t, "smollm2-135m")
	want, err := os.ReadFile("chat/testdata/smollm2-135m-instruct.jinja")
	require.NoError(t, err)
	tmpl, err := smol.Chat()
	require.NoError(t, err)
	require.Equal(t, string(want), tmpl.Source(), "the snapshots are those of the real template")
	require.Equal(t, []int32{0, 2}, smol.EndIDs()) // <|endoftext|>, <|im_end|>
	_, err = models.CheckRoute(smol, gemma)
	require.ErrorContains(t, err, "the type is")
}

func BenchmarkOpen(b *testing.B) {
	for b.Loop() {
		real(b, "qwen2.5-coder-0.5b")
	}
}
