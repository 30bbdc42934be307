package main

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/internal/tinygguf"
	"github.com/tokenrouter/tokenrouter/models/gguf"
	"github.com/tokenrouter/tokenrouter/models/modelstest"
	"github.com/tokenrouter/tokenrouter/sched"
)

// wholeFile is a model of one layer that the engine runs, with values that are hard to show.
func wholeFile() *gguf.Writer {
	w := modelstest.Vocabulary().
		Set("qwen2.context_length", uint32(128)).Set("qwen2.block_count", uint32(1)).
		Set("qwen2.embedding_length", uint32(32)).Set("qwen2.attention.head_count", uint32(2)).
		Set("qwen2.feed_forward_length", uint32(32)).Set("qwen2.attention.layer_norm_rms_epsilon", float32(1e-6)).
		Set("x.long", make([]uint8, 20)).Set("x.nan", math.NaN()).Set("x.evil\x1b[31m", "\x1b]0;title\a").
		Tensor("token_embd.weight", 8, []uint64{32, 504}, make([]byte, 504*34))
	for _, name := range []string{"attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"} {
		w.Tensor("blk.0."+name+".weight", 8, []uint64{32, 32}, make([]byte, 32*34))
	}
	for _, name := range []string{"attn_q.bias", "attn_k.bias", "attn_v.bias", "attn_norm.weight", "ffn_norm.weight"} {
		w.Tensor("blk.0."+name, gguf.TensorF32, []uint64{32}, make([]byte, 128))
	}
	return w.Tensor("output_norm.weight", gguf.TensorF32, []uint64{32}, make([]byte, 128))
}

func TestInspectText(t *testing.T) {
	path := modelstest.Path(t, "whole.gguf", wholeFile())
	got, err := call(newInspectCommand(), "", path)
	require.NoError(t, err)
	for _, want := range []string{
		path, "GGUF version 3, alignment 32", "qwen2", "tiny vocabulary", "parameters        23488 in 14 tensors", "Q8_0 97%, F32 3%",
		"gpt2, pre-tokenizer qwen2, 504 tokens (3 control, 496 normal, 3 unused, 2 user-defined)",
		`eos 498 "<|im_end|>"`, `end of an answer  496 "<|endoftext|>", 498 "<|im_end|>"`,
		"metadata (21)", "array of string", `504: ["!", "\"", "#", "$", "%", "&", "'", "(", ...]`,
		"bytes, takes tools\n", "tensors (14), by type", "problems\n  none\n", `x.evil\x1b[31m`, `"\x1b]0;title\a"`,
	} {
		require.Contains(t, got, want)
	}
	require.NotContains(t, got, "\x1b", "what a file holds is not sent to the terminal as it is")
	require.NotContains(t, got, "output_norm.weight")

	got, err = call(newInspectCommand(), "", path, "--all")
	require.NoError(t, err)
	require.Regexp(t, `output_norm\.weight +F32 +32 +\d+ +128\n`, got)
	require.Regexp(t, `token_embd\.weight +Q8_0 +32 x 504 +\d+ +17136\n`, got)
}

func TestInspectVocabulary(t *testing.T) {
	got, err := call(newInspectCommand(), "", tinyVocab)
	require.NoError(t, err)
	require.Contains(t, got, "none: the file is a vocabulary only")
	require.NotContains(t, got, "layers")
}

func TestInspectTokenizerOfLlama2(t *testing.T) {
	got, err := call(newInspectCommand(), "", "../../models/tokenizer/testdata/families/llama.gguf")
	require.NoError(t, err)
	require.Contains(t, got, "llama, 900 tokens (256 byte, 2 control, 641 normal, 1 unknown)")
	require.Regexp(t, `added to text +bos before it, a space before its first word\n`, got)
}

func TestInspectJSON(t *testing.T) {
	path := modelstest.Path(t, "whole.gguf", wholeFile())
	decode := func(args ...string) (m map[string]any) {
		got, err := call(newInspectCommand(), "", append([]string{path, "--json"}, args...)...)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal([]byte(got), &m))
		return m
	}
	m := decode()
	require.Equal(t, "qwen2", m["architecture"])
	require.EqualValues(t, 504, m["vocab_size"])
	require.EqualValues(t, 3, m["gguf_version"])
	require.Equal(t, modelstest.Template, m["chat_template"])
	require.Equal(t, true, m["chats"])
	require.Equal(t, true, m["takes_tools"])
	require.Empty(t, m["problems"])
	require.Len(t, m["tensor_list"], 14)
	first := m["tensor_list"].([]any)[0].(map[string]any)
	require.Equal(t, "Q8_0", first["type"])
	require.Equal(t, []any{32.0, 504.0}, first["shape"])
	tok := m["tokenizer"].(map[string]any)
	require.Equal(t, []any{496.0, 498.0}, tok["end_ids"])
	require.Equal(t, map[string]any{"bos": 496.0, "eos": 498.0, "padding": 496.0}, tok["special_ids"])

	find := func(m map[string]any, key string) map[string]any {
		for _, e := range m["metadata"].([]any) {
			if e := e.(map[string]any); e["key"] == key {
				return e
			}
		}
		t.Fatal(key)
		return nil
	}
	require.Len(t, find(m, "x.long")["value"], 8)
	require.EqualValues(t, 20, find(m, "x.long")["length"])
	require.Equal(t, "NaN", find(m, "x.nan")["value"])
	require.Len(t, find(decode("--all"), "tokenizer.ggml.tokens")["value"], 504)
}

func TestInspectParts(t *testing.T) {
	const dir = "../../tests/testdata/gguf/"
	path := dir + "whole-model-in-parts/m-00001-of-00003.gguf"
	got, err := call(newInspectCommand(), "", path, "--all")
	require.NoError(t, err)
	require.Regexp(t, `parts +3\n`, got)
	require.Regexp(t, `part 2 +m-00002-of-00003\.gguf, [^,]+, 5 tensors\n`, got)
	require.Contains(t, got, "in 14 tensors")
	require.Regexp(t, `token_embd\.weight +F16 +16 x 258 +\d+ +8256 +1\n`, got)
	require.Regexp(t, `blk\.0\.ffn_down\.weight +F16 +16 x 16 +\d+ +512 +3\n`, got)

	got, err = call(newInspectCommand(), "", path, "--json")
	require.NoError(t, err)
	var m map[string]any
	require.NoError(t, json.Unmarshal([]byte(got), &m))
	require.Len(t, m["parts"], 3)
	require.EqualValues(t, 0, m["tensor_list"].([]any)[0].(map[string]any)["part"])
	require.EqualValues(t, 2, m["tensor_list"].([]any)[13].(map[string]any)["part"])

	_, err = call(newInspectCommand(), "", dir+"whole-model-in-parts/m-00002-of-00003.gguf")
	require.ErrorContains(t, err, `name the first part, "m-00001-of-00003.gguf"`)
	_, err = call(newInspectCommand(), "", dir+"parts-third-missing/m-00001-of-00003.gguf")
	require.ErrorContains(t, err, "m-00003-of-00003.gguf")
}

func TestInspectShowsProblems(t *testing.T) {
	path := modelstest.Path(t, "odd.gguf", wholeFile().Set("tokenizer.ggml.pre", "viking").Set("qwen2.block_count", uint32(0)))
	got, err := call(newInspectCommand(), "", path)
	require.ErrorContains(t, err, "odd.gguf cannot be served: qwen2.block_count is 0", "but the file can be looked at all the same")
	require.Contains(t, got, "none that works, see problems")
	require.Contains(t, got, "qwen2.block_count is 0, expected 1 to 4096")
	require.Contains(t, got, `pre-tokenizer "viking" (tokenizer.ggml.pre) is not supported`)

	got, err = call(newInspectCommand(), "", path, "--json")
	require.ErrorContains(t, err, "cannot be served")
	var m map[string]any
	require.NoError(t, json.Unmarshal([]byte(got), &m))
	require.Len(t, m["problems"], 2)
	require.Nil(t, m["tokenizer"])
}

// What only the engine can say, it is asked.
func TestInspectAsksTheEngine(t *testing.T) {
	whole, err := os.ReadFile(tinygguf.Temp(t, tinygguf.Options{}))
	require.NoError(t, err)
	for _, c := range []struct{ old, new, want string }{
		{"blk.1.attn_q.bias", "blk.1.attn_q.bios", `tensor "blk.1.attn_q.bias" is missing`},
		{"qwen2.rope.freq_base", "qwen2.rope.freq_bass", ""}, // a key that means nothing
		// Of an architecture that is not known both sides say the same.
		{"\x05\x00\x00\x00\x00\x00\x00\x00qwen2", "\x05\x00\x00\x00\x00\x00\x00\x00mamba",
			`architecture "mamba" is not supported; this build runs: gemma3, llama, qwen2, qwen3, qwen3moe`},
	} {
		path := filepath.Join(t.TempDir(), "changed.gguf")
		require.NoError(t, os.WriteFile(path, bytes.Replace(whole, []byte(c.old), []byte(c.new), 1), 0o600))
		got, err := call(newInspectCommand(), "", path)
		device, openErr := sched.OpenNativeDevice(sched.NativeOptions{})
		require.NoError(t, openErr)
		native := device.CheckModel(path)
		require.NoError(t, device.Close())
		if c.want == "" {
			require.NoError(t, err)
			require.NoError(t, native)
			continue
		}
		require.ErrorContains(t, err, "changed.gguf cannot be served: ")
		require.ErrorContains(t, err, c.want)
		require.ErrorContains(t, native, c.want)
		require.Contains(t, got, c.want)
	}
}

// The exit status says whether the file can be served: scripts ask for it.
func TestInspectStatus(t *testing.T) {
	for _, c := range []struct {
		path   string
		status int
		shown  string
	}{
		{modelstest.Path(t, "whole.gguf", wholeFile()), 0, "problems\n  none\n"},
		{modelstest.Path(t, "template.gguf", wholeFile().Set("tokenizer.chat_template", "{% if %}")), 0, "8 bytes, does not work, see problems"},
		{modelstest.Path(t, "plain.gguf", wholeFile().Set("tokenizer.chat_template", "{{ messages[0].content }}")), 0, "takes no tools"},
		{tinyVocab, 0, "a vocabulary only"},
		{modelstest.Path(t, "odd.gguf", wholeFile().Set("qwen2.block_count", uint32(0))), 1, "expected 1 to 4096"},
		{"none.gguf", 1, ""},
	} {
		status, out, aside := shell(t, "", "inspect", c.path)
		require.Equal(t, c.status, status, c.path)
		require.Contains(t, out, c.shown)
		require.Equal(t, c.status == 0, aside == "", aside)
	}
	_, help, _ := shell(t, "", "inspect", "--help")
	require.Contains(t, help, "exit status is 1")
}

func TestInspectErrors(t *testing.T) {
	var b bytes.Buffer
	_, err := wholeFile().WriteTo(&b)
	require.NoError(t, err)
	cut := filepath.Join(t.TempDir(), "cut.gguf")
	require.NoError(t, os.WriteFile(cut, b.Bytes()[:b.Len()-1], 0o600))
	_, err = call(newInspectCommand(), "", cut)
	require.ErrorContains(t, err, `tensor "output_norm.weight"`)
	require.ErrorContains(t, err, "the file is truncated (download it again) or the offset is wrong")
	_, err = call(newInspectCommand(), "", "none.gguf")
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = call(newInspectCommand(), "")
	require.ErrorContains(t, err, "inspect: expected a GGUF file; none is given")
}

func TestByteSize(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 bytes", 999: "999 bytes", 1000: "1.0 kB", 491400064: "491.4 MB", 999_960: "1.0 MB", 1117320768: "1.1 GB", 3_000_000_000_000_000: "3000.0 TB",
	} {
		require.Equal(t, want, byteSize(n))
	}
}
