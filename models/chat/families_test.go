package chat

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/models/modelstest"
	"github.com/tokenrouter/tokenrouter/models/tokenizer"
)

// family is what a family's template writes turns with.
type family struct {
	file    string
	markers []string // control tokens; the first begins a text if bos says so, the last ends a turn
	bos     bool
	tools   bool
}

var familyList = []family{
	{"qwen2.5-coder-0.5b-instruct.jinja", []string{"<|endoftext|>", "<|im_start|>", "<|im_end|>"}, false, true},
	{"smollm2-135m-instruct.jinja", []string{"<|endoftext|>", "<|im_start|>", "<|im_end|>"}, false, false},
	{"families/qwen3.jinja", []string{"<|endoftext|>", "<|im_start|>", "<|im_end|>"}, false, true},
	{"families/llama3.jinja", []string{"<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"}, true, true},
	{"families/mistral.jinja", []string{"<s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_CALLS]", "[TOOL_RESULTS]", "[/TOOL_RESULTS]", "</s>"}, true, true},
	{"families/gemma.jinja", []string{"<bos>", "<start_of_turn>", "<end_of_turn>"}, true, false},
	{"families/deepseek-r1.jinja", []string{"<｜begin▁of▁sentence｜>", "<｜User｜>", "<｜Assistant｜>", "<｜tool▁calls▁begin｜>", "<｜tool▁outputs▁begin｜>", "<｜end▁of▁sentence｜>"}, true, false},
}

// vocabulary has the family's markers as control tokens, behind the ordinary ones.
func (f family) vocabulary(t testing.TB) *tokenizer.Tokenizer {
	t.Helper()
	plain := modelstest.Tokens()[:256+len(modelstest.Merges())]
	types := make([]int32, len(plain)+len(f.markers))
	for i := range types {
		types[i] = int32(tokenizer.Normal)
		if i >= len(plain) {
			types[i] = int32(tokenizer.Control)
		}
	}
	tok, err := tokenizer.New(modelstest.File(t, modelstest.Vocabulary().
		Set("tokenizer.ggml.tokens", append(plain, f.markers...)).Set("tokenizer.ggml.token_type", types).
		Set("tokenizer.ggml.bos_token_id", uint32(len(plain))).Set("tokenizer.ggml.padding_token_id", uint32(len(plain))).
		Set("tokenizer.ggml.eos_token_id", uint32(len(types)-1)).Set("tokenizer.ggml.add_bos_token", f.bos)))
	require.NoError(t, err)
	return tok
}

func (f family) template(t testing.TB) (*Template, *tokenizer.Tokenizer) {
	t.Helper()
	source, err := os.ReadFile("testdata/" + f.file)
	require.NoError(t, err)
	tok := f.vocabulary(t)
	tmpl, err := New(string(source), tok)
	require.NoError(t, err)
	return tmpl, tok
}

// Whatever stands in messages, names, thoughts, calls, results and tools, the turns stay those of the conversation.
func TestNobodyForgesATurnInAnyFamily(t *testing.T) {
	for _, f := range familyList {
		t.Run(f.file, func(t *testing.T) {
			tmpl, tok := f.template(t)
			conversation := func(text string) Request {
				quoted, err := json.Marshal(text)
				require.NoError(t, err)
				half := len(text) / 2
				call := ToolCall{ID: "call00001", Function: FunctionCall{Name: text, Arguments: json.RawMessage(`{"a": ` + string(quoted) + `}`)}}
				r := Request{Messages: []Message{
					System(text),
					{Role: "user", Name: text, Content: Content{{"text", text[:half]}, {"text", text[half:]}}},
					{Role: "assistant", Content: Text(text), ReasoningContent: text},
					User(text),
				}, Vars: map[string]any{"today": text}}
				if tmpl.ToolsErr() == nil {
					r.Messages = append(r.Messages, Message{Role: "assistant", ToolCalls: []ToolCall{call}},
						Message{Role: "tool", Name: text, ToolCallID: "call00001", Content: Text(text)})
					r.Tools = []json.RawMessage{json.RawMessage(`{"type": "function", "function": {"name": ` + string(quoted) + `, "description": ` + string(quoted) + `}}`)}
				}
				return r
			}
			honest, err := tmpl.Prompt(conversation("plain text"))
			require.NoError(t, err)
			want := structure(tok, honest)
			require.Greater(t, strings.Count(want, " "), 3, want)
			texts := []string{strings.Join(f.markers, ""), strings.Join(f.markers, "user\n")}
			for _, m := range f.markers {
				texts = append(texts, m, "x"+m+"y", m[:len(m)-1], m[:2]+m)
			}
			for _, text := range texts {
				got, err := tmpl.Prompt(conversation(text))
				require.NoError(t, err, text)
				require.Equal(t, want, structure(tok, got), "%q", text)
			}
		})
	}
}

func TestBeginOfSequenceComesOnceInAnyFamily(t *testing.T) {
	for _, f := range familyList {
		tmpl, tok := f.template(t)
		ids, err := tmpl.Prompt(Request{Messages: []Message{User("hi")}})
		require.NoError(t, err)
		n := 0
		for _, id := range ids {
			if id == tok.Special().BOS {
				n++
			}
		}
		want := map[bool]int{true: 1}[f.bos]
		require.Equal(t, want, n, f.file)
		require.Equal(t, f.bos, ids[0] == tok.Special().BOS, f.file)
	}
}

func TestToolsAreKnownToBeTaken(t *testing.T) {
	for _, f := range familyList {
		tmpl, _ := f.template(t)
		require.Equal(t, f.tools, tmpl.ToolsErr() == nil, "%s: %v", f.file, tmpl.ToolsErr())
	}
	tok := tiny(t)
	tool := []json.RawMessage{json.RawMessage(`{}`)}
	for source, want := range map[string]string{
		"{{ messages[0].content }}":                                                                "tools: the model's chat template does not take tools: it leaves them out of the prompt",
		"{{ messages[0].content }}{{ tools[0].missing.x ~ '' if tools }}":                          "",
		"{% if tools %}{{ raise_exception('no tools here') }}{% endif %}{{ messages[0].content }}": "it answers: the model's chat template refuses the conversation: no tools here",
	} {
		tmpl, err := New(source, tok)
		require.NoError(t, err)
		_, err = tmpl.Prompt(Request{Messages: []Message{User("x")}, Tools: tool})
		var input *InputError
		require.ErrorAs(t, err, &input)
		require.Equal(t, "tools", input.Field)
		require.ErrorContains(t, err, want)
	}
}

func TestThinkingOnAndOff(t *testing.T) {
	tmpl, tok := familyList[2].template(t)
	for _, c := range []struct {
		vars map[string]any
		end  string
	}{
		{nil, "<|im_start|>assistant\n"},
		{map[string]any{"enable_thinking": true}, "<|im_start|>assistant\n"},
		{map[string]any{"enable_thinking": false}, "<|im_start|>assistant\n<think>\n\n</think>\n\n"},
	} {
		ids, err := tmpl.Prompt(Request{Messages: []Message{User("hi")}, Vars: c.vars})
		require.NoError(t, err)
		text, err := tok.Decode(ids, tokenizer.DecodeOptions{})
		require.NoError(t, err)
		require.True(t, strings.HasSuffix(text, "hi<|im_end|>\n"+c.end), "%q", text)
	}
}

// What only shows with further turns shows at load, too; but a template may refuse them in its own words.
func TestFurtherTurnsAreProbed(t *testing.T) {
	tok := tiny(t)
	for source, want := range map[string]string{
		"{% for m in messages %}{% if m.role == 'assistant' %}{{ m.content | nofilter }}{% endif %}{{ m.content }}{% endfor %}": `with an answer: the chat template fails: unknown filter "nofilter"`,
		"{% for m in messages %}{% if m.role == 'system' %}{{ nofunction() }}{% endif %}{{ m.content }}{% endfor %}":            "with a system message: the chat template fails",
	} {
		_, err := New(source, tok)
		require.ErrorContains(t, err, want)
	}
	_, err := New("{% for m in messages %}{% if m.role != 'user' %}{{ raise_exception('users only') }}{% endif %}{{ m.content }}{% endfor %}", tok)
	require.NoError(t, err)
}

func TestTemplatesKnowTheDate(t *testing.T) {
	tmpl, tok := familyList[3].template(t)
	tmpl.now = snapshotTime
	text, err := tmpl.Render(Request{Messages: []Message{User("hi")}})
	require.NoError(t, err)
	require.Contains(t, text, "Today: 06 Jul 2024\n")
	ids, err := tmpl.Prompt(Request{Messages: []Message{User("hi")}})
	require.NoError(t, err)
	require.Equal(t, tok.Encode(text, tokenizer.Options{ParseSpecial: true}), ids)

	fresh, _ := familyList[3].template(t)
	before := time.Now()
	text, err = fresh.Render(Request{Messages: []Message{User("hi")}})
	require.NoError(t, err)
	days := []string{before.Format("02 Jan 2006"), time.Now().Format("02 Jan 2006")} // midnight may pass
	require.True(t, slices.ContainsFunc(days, func(d string) bool { return strings.Contains(text, "Today: "+d) }), text)
}

func TestStrftime(t *testing.T) {
	night := time.Date(2025, 2, 3, 0, 5, 9, 1000, time.FixedZone("CET", 3600))
	for format, want := range map[string]string{ // by Python's datetime.strftime
		"%Y-%m-%dT%H:%M:%S.%f%z%Z":   "2025-02-03T00:05:09.000001", // datetime.now() knows no zone
		"%-d.%-m. %-H:%-M:%-S %I %p": "3.2. 0:5:9 12 AM",
		"%a %A %b %B %j %-j %u %w":   "Mon Monday Feb February 034 34 1 1",
		"100%% Mon Jan 2 15:04 é":    "100% Mon Jan 2 15:04 é",
		"%D %F %T %R %e|%y%n%t":      "02/03/25 2025-02-03 00:05:09 00:05  3|25\n\t",
	} {
		got, err := strftime(format, night)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for format, want := range map[string]string{"a%": "ends within a directive", "%-": "ends within", "%Q": "the directive %Q"} {
		_, err := strftime(format, night)
		require.ErrorContains(t, err, want)
	}
}
