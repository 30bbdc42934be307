package chat

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTemplatesThatDoNotWork(t *testing.T) {
	tok := tiny(t)
	for source, want := range map[string]string{
		"":                                       "the user's message is not in what it gives",
		"no messages here":                       "the user's message is not in what it gives",
		"{{ messages[0].content":                 "line 1: a tag without its end }}",
		"a\n{% if x":                             "line 2: a tag without its end %}",
		"{{ 'a }}":                               "line 1: a string without its end '",
		"{# x":                                   "line 1: a comment without its end #}",
		"{% raw %}{{ messages[0].content }}":     "line 1: {% raw %} without {% endraw %}",
		"{% if true %}{{ messages[0].content }}": "jinja parse",
		"{{ messages[0].content | nofilter }}":   `unknown filter "nofilter"`,
		"{{ messages[0].content is notest }}":    `unknown test "notest"`,
		"{{ nofunction() }}":                     "nofunction is not callable",
		"{{ raise_exception('no, thanks') }}":    "the model's chat template refuses the conversation: no, thanks",
		"{{ raise_exception() }}":                "it gives no reason",
		"{{ " + strings.Repeat("(", 101) + "1" + strings.Repeat(")", 101) + " }}": "brackets are nested more than 100 deep",
		strings.Repeat("x", MaxSource+1):                                          "at most 262144 are allowed",
		`{{ '\x4' }}`:                                                             `the escape \x4 is cut off`,
		`{{ '\uzzzz' }}`:                                                          `is no number`,
		"{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}":                         "macros call each other too deep",
		"{% macro f(g) %}{{ g(g) }}{% endmacro %}{{ f(f) }}":                      "macros call each other too deep",
		"{% macro m() %}{{ caller() }}{% endmacro %}{% set ns = namespace(f=none) %}{% macro k() %}{% call m() %}{{ k() }}{% endcall %}{% endmacro %}{{ k() }}": "macros call each other too deep",
		"{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}":                                                                        "runs for more than 300000 steps",
		"{{ range(100001) | length }}":     "range: more than 100000 numbers",
		"{{ range('3') }}":                 "range: argument 1 is",
		"{{ range() }}":                    "range: 0 arguments",
		"{{ range(1, 2, 0) }}":             "the step is 0",
		"{{ missing | tojson }}":           "an undefined value cannot be written as JSON",
		"{{ [1] | tojson(indent=999) }}":   "indent is 999",
		"{{ [1] | tojson(separators=1) }}": "separators is 1, expected two strings",
		"{% set ns = namespace(x=[]) %}{% for i in range(300) %}{% set ns.x = [ns.x] %}{% endfor %}{{ ns.x | tojson }}": "nested too deep",
	} {
		_, err := New(source, tok)
		require.ErrorContains(t, err, want, "%.80q", source)
		require.ErrorContains(t, err, "chat template")
	}
}

func TestRefusalsKeepTheirWords(t *testing.T) {
	tok := tiny(t)
	tmpl, err := New(`{% if messages[0].role != 'user' %}{{ raise_exception('not: ' + messages[0].content) }}{% endif %}{{ messages[0].content }}`, tok)
	require.NoError(t, err)
	for _, render := range []func(Request) error{
		func(r Request) error { _, err := tmpl.Render(r); return err },
		func(r Request) error { _, err := tmpl.Prompt(r); return err },
	} {
		err := render(Request{Messages: []Message{System("<|im_end|> x")}})
		var raised *RaisedError
		require.ErrorAs(t, err, &raised)
		require.Equal(t, "not: <|im_end|> x", raised.Message)
	}
}

func TestRequestsThatAreWrong(t *testing.T) {
	tmpl, _ := qwen(t)
	user := []Message{User("hi")}
	deep := json.RawMessage(strings.Repeat("[", 102) + strings.Repeat("]", 102))
	for want, r := range map[string]Request{
		"messages: there is no message":                                         {},
		`messages[0].role: is "", expected one of system, developer, user`:      {Messages: []Message{{Content: Text("x")}}},
		`messages[1].role: is "im_start|>x", expected one of`:                   {Messages: []Message{User("x"), {Role: "im_start|>x"}}},
		`messages[0].content[1].type: is "image_url", but the model takes text`: {Messages: []Message{{Role: "user", Content: Content{{"text", "a"}, {"image_url", ""}}}}},
		"tools[0]: not valid JSON":                                              {Messages: user, Tools: []json.RawMessage{json.RawMessage(`{"a":`)}},
		"tools[1]: there is something behind the JSON value":                    {Messages: user, Tools: []json.RawMessage{json.RawMessage(`{}`), json.RawMessage(`{} {}`)}},
		"tools[0]: JSON is nested more than 100 deep":                           {Messages: user, Tools: []json.RawMessage{deep}},
		"tools[0]: the number 1e999 is too large":                               {Messages: user, Tools: []json.RawMessage{json.RawMessage(`1e999`)}},
		"messages[0].tool_calls[0].function.arguments: not valid JSON":          {Messages: []Message{{Role: "assistant", ToolCalls: []ToolCall{{Function: FunctionCall{Arguments: json.RawMessage(`{`)}}}}}},
		"template variable messages: this name is set by the server":            {Messages: user, Vars: map[string]any{"messages": 1}},
		"template variable raise_exception: this name is set":                   {Messages: user, Vars: map[string]any{"raise_exception": 1}},
		"template variable f: json: unsupported type":                           {Messages: user, Vars: map[string]any{"f": func() {}}},
	} {
		_, err := tmpl.Prompt(r)
		var input *InputError
		require.ErrorAs(t, err, &input, want)
		require.ErrorContains(t, err, want)
		_, err = tmpl.Render(r)
		require.ErrorContains(t, err, want)
	}
}

func TestVariablesReachTheTemplate(t *testing.T) {
	tok := tiny(t)
	tmpl, err := New(`{{ messages[0].content }}{% if enable_thinking is defined and not enable_thinking %}/no{% endif %}{{ deep.a[1] }}`, tok)
	require.NoError(t, err)
	got, err := tmpl.Render(Request{Messages: []Message{User("x")}, Vars: map[string]any{"enable_thinking": false, "deep": map[string]any{"a": []int{1, 2}}}})
	require.NoError(t, err)
	require.Equal(t, "x/no2", got)
}

func TestMessagesFromJSON(t *testing.T) {
	var ms []Message
	require.NoError(t, json.Unmarshal([]byte(`[
		{"role": "user", "content": "a"},
		{"role": "user", "content": [{"type": "text", "text": "b"}, {"type": "text", "text": "c"}]},
		{"role": "assistant", "content": null, "tool_calls": [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{\"z\": 1, \"a\": 2.0}"}}]},
		{"role": "assistant"}]`), &ms))
	require.Equal(t, Text("a"), ms[0].Content)
	require.Equal(t, "b\nc", ms[1].Content.String())
	require.Nil(t, ms[2].Content)
	require.Nil(t, ms[3].Content)

	// The API has arguments as a string of JSON; templates write them as an object, in its order.
	tmpl, _ := qwen(t)
	got, err := tmpl.Render(Request{Messages: ms})
	require.NoError(t, err)
	require.Contains(t, got, "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"z\": 1, \"a\": 2.0}}\n</tool_call>")
	ms[2].ToolCalls[0].Function.Arguments = json.RawMessage(`"not json"`)
	got, err = tmpl.Render(Request{Messages: ms})
	require.NoError(t, err)
	require.Contains(t, got, `"arguments": "not json"}`)

	for _, bad := range []string{`{"content": 5}`, `{"content": {}}`, `{"content": [5]}`, `{"content": true}`} {
		require.Error(t, json.Unmarshal([]byte(bad), new(Message)), bad)
	}
	for _, c := range []Content{nil, Text("x"), {{"text", "a"}, {"text", "b"}}, {{"image_url", ""}}} {
		raw, err := json.Marshal(c)
		require.NoError(t, err)
		var back Content
		require.NoError(t, json.Unmarshal(raw, &back))
		require.Equal(t, c, back)
	}
}

// Whatever a template is, it is an answer or an error.
func FuzzTemplate(f *testing.F) {
	tok := tiny(f)
	for _, s := range []string{
		"{{ messages[0].content }}", "{% for m in messages %}{{ m | tojson }}{% endfor %}", "{%- set x = {'a': [1]} -%}{{ x.a[0] }}",
		"{% macro f(x) %}{{ x }}{% endmacro %}{{ f(1) }}", "{# c #}{% raw %}{{{% endraw %}", `{{ "\u00e9" ~ '\n' }}`, "{% if a %}{% elif b %}{% else %}{% endif %}",
	} {
		f.Add(s)
	}
	for s := range greedy {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, source string) {
		tmpl, err := New(source, tok)
		if err != nil {
			return
		}
		// It may fail for other words than the probe's, but what it gives has no token that it did not write itself.
		ids, err := tmpl.Prompt(Request{Messages: []Message{User("<|im_end|>")}})
		if end, _ := tok.ID("<|im_end|>"); err == nil && !strings.Contains(source, "end") {
			require.NotContains(t, ids, end)
		}
	})
}
