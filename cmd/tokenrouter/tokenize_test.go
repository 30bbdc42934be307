package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tokenrouter/tokenrouter/models/modelstest"
)

// tinyVocab is a vocabulary-only file.
const tinyVocab = "../../models/testdata/tiny-vocab.gguf"

// call runs a command as a user would, and gives what it wrote.
func call(cmd *cobra.Command, stdin string, args ...string) (string, error) {
	var out bytes.Buffer
	cmd.SetIn(strings.NewReader(stdin))
	cmd.SetOut(&out)
	cmd.SetErr(&bytes.Buffer{})
	cmd.SetArgs(args)
	cmd.SilenceUsage = true
	err := cmd.Execute()
	return out.String(), err
}

func TestTokenize(t *testing.T) {
	for _, c := range []struct {
		stdin string
		args  []string
		want  string
	}{
		// Ids of bytes are GPT-2's: "!" is 0, so "A" is 32 and "B" 33. The tokens behind 256 bytes and 240 merges are special.
		{"AB", nil, "[32,33]\n"},
		{"", nil, "[]\n"},
		{"\n", nil, "[198]\n"},
		{"<|im_end|>", []string{"--special"}, "[498]\n"},
		{"A<tool_call>", nil, "[32,499]\n"},
		{"A", []string{"--add-special"}, "[32]\n"}, // this file asks for none
		{"[32, 498, 33]", []string{"--decode"}, "A<|im_end|>B"},
		{" [ ] ", []string{"--decode"}, ""},
	} {
		got, err := call(newTokenizeCommand(), c.stdin, append([]string{tinyVocab}, c.args...)...)
		require.NoError(t, err)
		require.Equal(t, c.want, got, "%q %v", c.stdin, c.args)
	}
	got, err := call(newTokenizeCommand(), "<|im_end|>", tinyVocab)
	require.NoError(t, err)
	require.NotContains(t, got, "498", "its spelling is text")
}

// What comes out of tokenize and goes into tokenize --decode is the same bytes, text or not.
func TestTokenizeThereAndBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOf(rapid.Byte()).Draw(t, "text"))
		args := []string{tinyVocab}
		if rapid.Bool().Draw(t, "special") {
			text += "<|im_start|>"
			args = append(args, "--special")
		}
		ids, err := call(newTokenizeCommand(), text, args...)
		require.NoError(t, err)
		back, err := call(newTokenizeCommand(), ids, tinyVocab, "--decode")
		require.NoError(t, err)
		require.Equal(t, text, back)
	})
}

func TestTokenizeAddsWhatTheFileAsksFor(t *testing.T) {
	path := modelstest.Path(t, "bos.gguf", modelstest.Vocabulary().Set("tokenizer.ggml.add_bos_token", true))
	got, err := call(newTokenizeCommand(), "A", path, "--add-special")
	require.NoError(t, err)
	require.Equal(t, "[496,32]\n", got)
}

// The space that Llama 2's vocabulary puts before the first word is not the text's.
func TestTokenizeLeavesOutTheSpaceThatItAdded(t *testing.T) {
	const llama = "../../models/tokenizer/testdata/families/llama.gguf"
	for _, text := range []string{"the river", " the river", "<s>the <s> river</s>"} {
		ids, err := call(newTokenizeCommand(), text, llama, "--special")
		require.NoError(t, err)
		back, err := call(newTokenizeCommand(), ids, llama, "--decode")
		require.NoError(t, err)
		require.Equal(t, text, back)
	}
}

func TestTokenizeErrors(t *testing.T) {
	notGGUF := filepath.Join(t.TempDir(), "page.gguf")
	require.NoError(t, os.WriteFile(notGGUF, []byte("<html>"), 0o600))
	viking := modelstest.Path(t, "viking.gguf", modelstest.Vocabulary().Set("tokenizer.ggml.pre", "viking"))
	for _, c := range []struct {
		stdin string
		args  []string
		want  string
	}{
		{"", nil, "tokenize: expected a GGUF file; none is given"},
		{"", []string{"none.gguf"}, "open none.gguf: no such file or directory"},
		{"", []string{notGGUF}, `begins with the bytes "<htm", expected "GGUF"`},
		{"", []string{viking}, `viking.gguf: tokenizer: pre-tokenizer "viking" (tokenizer.ggml.pre) is not supported, expected one of deepseek-r1-qwen, default`},
		{"hello", []string{tinyVocab, "--decode"}, "standard input is no JSON array of token ids such as [1, 2, 3]"},
		{"", []string{tinyVocab, "--decode"}, "unexpected end of JSON input"},
		{"null", []string{tinyVocab, "--decode"}, "it is null"},
		{"[1.5]", []string{tinyVocab, "--decode"}, "standard input is no JSON array"},
		{"[0, 504]", []string{tinyVocab, "--decode"}, "id 504, at place 1 of the array, is outside the vocabulary, expected 0 to 503"},
		{"[-1]", []string{tinyVocab, "--decode"}, "id -1, at place 0"},
		{"[4294967296]", []string{tinyVocab, "--decode"}, "id 4294967296, at place 0"},
		{"[]", []string{tinyVocab, "--decode", "--special"}, "none of the others can be"},
	} {
		_, err := call(newTokenizeCommand(), c.stdin, c.args...)
		require.ErrorContains(t, err, c.want)
	}

	cmd := newTokenizeCommand()
	cmd.SetArgs([]string{tinyVocab})
	cmd.SetIn(brokenReader{})
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	require.ErrorContains(t, cmd.Execute(), "read text from standard input: gone")
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errors.New("gone") }
