package openai

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// chat and completion make a minimal valid body with further members.
func chat(members string) string {
	return `{"model":"m","messages":[{"role":"user","content":"hi"}]` + more(members) + `}`
}

func completion(members string) string { return `{"model":"m","prompt":"hi"` + more(members) + `}` }

func more(members string) string {
	if members == "" {
		return ""
	}
	return "," + members
}

type refusal struct{ body, param, code, message string }

func requireRefused(t *testing.T, c refusal, err error) {
	t.Helper()
	body := c.body[:min(len(c.body), 200)]
	var e *Error
	require.ErrorAs(t, err, &e, body)
	require.Equal(t, http.StatusBadRequest, e.Status, body)
	require.Equal(t, TypeInvalidRequest, e.Type, body)
	require.Equal(t, c.param, e.Param, "%s: %s", body, e.Message)
	require.Equal(t, c.code, e.Code, "%s: %s", body, e.Message)
	require.Contains(t, e.Message, c.message, body)
	if c.code != CodeInvalidJSON && c.param != "" {
		require.True(t, strings.HasPrefix(e.Message, c.param+": "), e.Message)
	}
}

func TestChatRefused(t *testing.T) {
	for _, c := range []refusal{
		// not JSON, or not strict JSON
		{"", "", CodeInvalidJSON, "the request body is empty"},
		{" \n\t ", "", CodeInvalidJSON, "the request body is empty"},
		{"{", "", CodeInvalidJSON, "it ends too early (line 1, column 2)"},
		{`{"model":"m",` + "\n" + `"messages":[}`, "messages[0]", CodeInvalidJSON, "(line 2, column 13)"},
		{chat("") + "{}", "", CodeInvalidJSON, "not valid JSON"},
		{chat("") + "x", "", CodeInvalidJSON, "not valid JSON"},
		{"hello", "", CodeInvalidJSON, "not valid JSON"},
		{`{"model":"m","messages":[{"role":"user","content":"\ud800"}]}`, "messages[0].content", CodeInvalidJSON, "surrogate"},
		{`{"model":"m","messages":[{"role":"user","content":"\udc00\ud800"}]}`, "messages[0].content", CodeInvalidJSON, "surrogate"},
		{"{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"\xff\"}]}", "messages[0].content", CodeInvalidJSON, "UTF-8"},
		{"{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"a\nb\"}]}", "messages[0].content", CodeInvalidJSON, "not valid JSON"},
		{`{"model":"m","model":"n"}`, "model", CodeInvalidJSON, "given more than once"},
		{chat(`"metadata":{"a":"1","a":"2"}`), "metadata.a", CodeInvalidJSON, "given more than once"},
		{chat(`"temperature":NaN`), "temperature", CodeInvalidJSON, "not valid JSON"},
		{strings.Repeat("[", 20000), "", CodeInvalidType, "must be a JSON object"},
		{`{"metadata":` + strings.Repeat("[", 20000), "metadata" + strings.Repeat("[0]", 7) + "...", CodeInvalidJSON, "exceeded max depth"},
		// not an object
		{`[]`, "", CodeInvalidType, "the request body must be a JSON object, found an array"},
		{`"x"`, "", CodeInvalidType, "the request body must be a JSON object, found a string"},
		{`null`, "", CodeInvalidType, "must be a JSON object, found null"},
		{" null\n", "", CodeInvalidType, "must be a JSON object, found null"},
		// wrong types
		{chat(`"temperature":"hot"`), "temperature", CodeInvalidType, "expected a number, found a string"},
		{chat(`"temperature":[1]`), "temperature", CodeInvalidType, "expected a number, found an array"},
		{chat(`"temperature":1e999`), "temperature", CodeInvalidValue, "the number is out of range"},
		{chat(`"max_tokens":1.5`), "max_tokens", CodeInvalidType, "expected a whole number, found 1.5"},
		{chat(`"max_tokens":"5"`), "max_tokens", CodeInvalidType, "expected a whole number, found a string"},
		{chat(`"max_tokens":1e30`), "max_tokens", CodeInvalidValue, "the number is out of range"},
		{chat(`"stream":"yes"`), "stream", CodeInvalidType, "expected true or false, found a string"},
		{chat(`"stream":1`), "stream", CodeInvalidType, "expected true or false, found a number"},
		{chat(`"stop":5`), "stop", CodeInvalidType, "expected a string or an array of strings, found a number"},
		{chat(`"stop":[null]`), "stop[0]", CodeInvalidType, "expected a string, found null"},
		{chat(`"stop":["a",5]`), "stop[1]", CodeInvalidType, "expected a string, found a number"},
		{chat(`"stop":{}`), "stop", CodeInvalidType, "expected a string or an array of strings, found an object"},
		{chat(`"logit_bias":[]`), "logit_bias", CodeInvalidType, "expected an object from token id to bias, found an array"},
		{chat(`"logit_bias":{"a":1}`), "logit_bias.a", CodeInvalidValue, "the key must be a token id"},
		{chat(`"logit_bias":{"-1":1}`), "logit_bias.-1", CodeInvalidValue, "the key must be a token id"},
		{chat(`"logit_bias":{"5":"x"}`), "logit_bias[5]", CodeInvalidType, "expected a number, found a string"},
		{chat(`"logit_bias":{"5":101}`), "logit_bias[5]", CodeInvalidValue, "101 is outside -100 to 100"},
		{chat(`"logit_bias":{"7":1,"07":1}`), "logit_bias", CodeInvalidValue, "token 7 is given more than once"},
		{chat(`"stream_options":true,"stream":true`), "stream_options", CodeInvalidType, "expected an object, found true"},
		{chat(`"stream_options":{"include_usage":1},"stream":true`), "stream_options.include_usage", CodeInvalidType, "expected true or false, found a number"},
		{chat(`"routing":"fast"`), "routing", CodeInvalidType, "expected an object, found a string"},
		{chat(`"routing":{"threshold":"low"}`), "routing.threshold", CodeInvalidType, "expected a number, found a string"},
		{chat(`"routing":{"trace":1}`), "routing.trace", CodeInvalidType, "expected true or false, found a number"},
		{`{"model":5,"messages":[]}`, "model", CodeInvalidType, "expected a string, found a number"},
		{`{"model":"m","messages":"hi"}`, "messages", CodeInvalidType, "expected an array, found a string"},
		{`{"model":"m","messages":{}}`, "messages", CodeInvalidType, "expected an array, found an object"},
		{`{"model":"m","messages":["hi"]}`, "messages[0]", CodeInvalidType, "expected an object, found a string"},
		{`{"model":"m","messages":[{"role":1,"content":"a"}]}`, "messages[0].role", CodeInvalidType, "expected a string, found a number"},
		{`{"model":"m","messages":[{"role":"user","content":"a"},{"role":"user","content":5}]}`, "messages[1].content", CodeInvalidType, "expected a string or an array of content parts, found a number"},
		{`{"model":"m","messages":[{"role":"user","content":["a"]}]}`, "messages[0].content[0]", CodeInvalidType, "expected an object, found a string"},
		{`{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":5}]}]}`, "messages[0].content[0].text", CodeInvalidType, "expected a string, found a number"},
		// missing
		{`{"messages":[{"role":"user","content":"hi"}]}`, "model", CodeMissing, "is required"},
		{`{"model":null,"messages":[{"role":"user","content":"hi"}]}`, "model", CodeMissing, "is required"},
		{`{"model":"m"}`, "messages", CodeMissing, "at least one message"},
		{`{"model":"m","messages":[]}`, "messages", CodeMissing, "at least one message"},
		{`{"model":"m","messages":null}`, "messages", CodeMissing, "at least one message"},
		{`{"model":"m","messages":[{"content":"hi"}]}`, "messages[0].role", CodeMissing, "is required"},
		{`{"model":"m","messages":[null]}`, "messages[0].role", CodeMissing, "is required"},
		{`{"model":"m","messages":[{"role":"user"}]}`, "messages[0].content", CodeMissing, "is required"},
		{`{"model":"m","messages":[{"role":"user","content":null}]}`, "messages[0].content", CodeMissing, "is required"},
		{`{"model":"m","messages":[{"role":"user","content":[{"text":"a"}]}]}`, "messages[0].content[0].type", CodeMissing, "is required"},
		{`{"model":"m","messages":[{"role":"user","content":[{"type":"text"}]}]}`, "messages[0].content[0].text", CodeMissing, "is required"},
		// out of range
		{chat(`"temperature":2.1`), "temperature", CodeInvalidValue, "2.1 is outside 0 to 2"},
		{chat(`"temperature":-0.1`), "temperature", CodeInvalidValue, "-0.1 is outside 0 to 2"},
		{chat(`"top_p":1.1`), "top_p", CodeInvalidValue, "1.1 is outside 0 to 1"},
		{chat(`"top_k":1099511627776`), "top_k", CodeInvalidValue, "1099511627776 is more than 2147483647, the largest allowed"},
		{chat(`"max_tokens":9223372036854775807`), "max_tokens", CodeInvalidValue, "9223372036854775807 is more than 2147483647, the largest allowed"},
		{chat(`"max_completion_tokens":2147483648`), "max_completion_tokens", CodeInvalidValue, "2147483648 is more than 2147483647, the largest allowed"},
		{chat(`"top_k":-2`), "top_k", CodeInvalidValue, "-2 is not at least -1"},
		{chat(`"min_p":-1`), "min_p", CodeInvalidValue, "-1 is outside 0 to 1"},
		{chat(`"repetition_penalty":0`), "repetition_penalty", CodeInvalidValue, "0 is not above 0"},
		{chat(`"presence_penalty":3`), "presence_penalty", CodeInvalidValue, "3 is outside -2 to 2"},
		{chat(`"frequency_penalty":-3`), "frequency_penalty", CodeInvalidValue, "-3 is outside -2 to 2"},
		{chat(`"max_tokens":0`), "max_tokens", CodeInvalidValue, "0 is not at least 1"},
		{chat(`"max_completion_tokens":-1`), "max_completion_tokens", CodeInvalidValue, "-1 is not at least 1"},
		{chat(`"max_tokens":5,"max_completion_tokens":6`), "max_tokens", CodeInvalidValue, "differs from max_completion_tokens"},
		{chat(`"logprobs":true,"top_logprobs":21`), "top_logprobs", CodeInvalidValue, "21 is outside 0 to 20"},
		{chat(`"top_logprobs":2`), "top_logprobs", CodeInvalidValue, "only allowed with logprobs: true"},
		{chat(`"stop":""`), "stop[0]", CodeInvalidValue, "is empty"},
		{chat(`"stop":["a",""]`), "stop[1]", CodeInvalidValue, "is empty"},
		{chat(`"stop":[` + strings.Repeat(`"a",`, 16) + `"b"]`), "stop", CodeInvalidValue, "17 strings; at most 16 are allowed"},
		{chat(`"stop":"` + strings.Repeat("a", 513) + `"`), "stop[0]", CodeInvalidValue, "513 bytes"},
		{chat(`"n":0`), "n", CodeInvalidValue, "0 is outside 1 to 128"},
		{chat(`"n":"1"`), "n", CodeInvalidType, "expected a whole number, found a string"},
		{chat(`"n":129`), "n", CodeInvalidValue, "129 is outside 1 to 128"},
		{chat(`"routing":{"alternatives":1}`), "routing.alternatives", CodeInvalidValue, "only allowed with trace: true"},
		{chat(`"routing":{"trace":true,"alternatives":21}`), "routing.alternatives", CodeInvalidValue, "21 is outside 0 to 20"},
		{chat(`"stream_options":{"include_usage":true}`), "stream_options", CodeInvalidValue, "only allowed with stream: true"},
		{`{"model":"m","messages":[{"role":"robot","content":"hi"}]}`, "messages[0].role", CodeInvalidValue, "must be system, developer, user, assistant or tool"},
		{`{"model":"m","messages":[{"role":"user","content":[{"type":"video","text":"a"}]}]}`, "messages[0].content[0].type", CodeInvalidValue, "only text is supported"},
		// not supported
		{chat(`"best_of":2`), "best_of", CodeUnknownParameter, "unknown field"},
		{chat(`"tools":{}`), "tools", CodeInvalidType, "expected an array"},
		{chat(`"tools":[1]`), "tools[0]", CodeInvalidType, "expected an object"},
		{chat(`"tools":[{"type":"web_search"}]`), "tools[0].type", CodeUnsupportedValue, "only tools of type function"},
		{chat(`"tools":[{"type":"function","function":{}}]`), "tools[0].function.name", CodeMissing, "is required"},
		{chat(`"tools":[{"type":"function","function":{"name":"a b"}}]`), "tools[0].function.name", CodeInvalidValue, "1 to 64 letters"},
		{chat(`"tools":[{"type":"function","function":{"name":1}}]`), "tools[0].function.name", CodeInvalidType, "expected a string"},
		{chat(`"tools":[{"type":"function","function":{"name":"f","parameters":[]}}]`), "tools[0].function.parameters", CodeInvalidType, "expected an object, found an array"},
		{chat(`"tools":[{"type":"function","function":{"name":"f"}},{"type":"function","function":{"name":"f"}}]`), "tools[1].function.name", CodeInvalidValue, "another tool"},
		{chat(`"tools":[{"type":"function","function":{"name":"f","x":1}}]`), "tools[0].function.x", CodeUnknownParameter, "unknown field"},
		{chat(`"tool_choice":"required"`), "tool_choice", CodeInvalidValue, "there are no tools"},
		{chat(`"tool_choice":"always"`), "tool_choice", CodeInvalidValue, "must be none, auto, required"},
		{chat(`"tool_choice":7`), "tool_choice", CodeInvalidType, "expected a string or an object"},
		{chat(`"tool_choice":{"type":"allowed_tools"}`), "tool_choice.type", CodeUnsupportedValue, "only the type function"},
		{chat(`"tool_choice":{"type":"function","function":{"name":"g"}},"tools":[{"type":"function","function":{"name":"f"}}]`), "tool_choice.function.name", CodeInvalidValue, "no tool of this name"},
		{chat(`"response_format":{}`), "response_format.type", CodeMissing, "is required"},
		{chat(`"response_format":{"type":"xml"}`), "response_format.type", CodeInvalidValue, "must be text, json_object or json_schema"},
		{chat(`"response_format":{"type":"json_schema"}`), "response_format.json_schema", CodeMissing, "is required"},
		{chat(`"response_format":{"type":"json_schema","json_schema":{"name":"x"}}`), "response_format.json_schema.schema", CodeMissing, "is required"},
		{chat(`"response_format":{"type":"text","json_schema":{"name":"x"}}`), "response_format.json_schema", CodeInvalidValue, "is only allowed"},
		{`{"model":"m","messages":[{"role":"tool","content":"a"}]}`, "messages[0].tool_call_id", CodeMissing, "is required"},
		{`{"model":"m","messages":[{"role":"user","content":"a","tool_call_id":"x"}]}`, "messages[0].tool_call_id", CodeInvalidValue, "is for messages of a tool"},
		{`{"model":"m","messages":[{"role":"user","content":"a","tool_calls":[{"id":"x","function":{"name":"f","arguments":"{}"}}]}]}`, "messages[0].tool_calls", CodeInvalidValue, "of the assistant"},
		{`{"model":"m","messages":[{"role":"assistant","tool_calls":[{"id":"x","type":"custom"}]}]}`, "messages[0].tool_calls[0].type", CodeUnsupportedValue, "only calls of type function"},
		{`{"model":"m","messages":[{"role":"assistant","tool_calls":[{"id":"x","function":{"arguments":"{}"}}]}]}`, "messages[0].tool_calls[0].function.name", CodeMissing, "is required"},
		{chat(`"functions":[{}]`), "functions", CodeUnsupported, "use tools"},
		{chat(`"function_call":{"name":"f"}`), "function_call", CodeUnsupported, "use tool_choice"},
		{chat(`"modalities":["text","audio"]`), "modalities", CodeUnsupported, "only"},
		{chat(`"audio":{"voice":"a"}`), "audio", CodeUnsupported, "audio is not supported"},
		{chat(`"prediction":{"type":"content","content":"a"}`), "prediction", CodeUnsupported, "not supported"},
		{chat(`"reasoning_effort":"low"`), "reasoning_effort", CodeUnsupported, "is not supported"},
		{chat(`"verbosity":"low"`), "verbosity", CodeUnsupported, "is not supported"},
		{chat(`"web_search_options":{}`), "web_search_options", CodeUnsupported, "not supported"},
		{chat(`"store":true`), "store", CodeUnsupported, "answers are not stored"},
		{chat(`"service_tier":"flex"`), "service_tier", CodeUnsupported, "there is one tier"},
		{chat(`"metadata":{"a":1}`), "metadata", CodeInvalidType, "expected an object of strings"},
		{chat(`"user":5`), "user", CodeInvalidType, "expected a string, found a number"},
		{chat(`"stream":true,"stream_options":{"include_obfuscation":true}`), "stream_options.include_obfuscation", CodeUnsupportedValue, "not supported"},
		{`{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"x"}}]}]}`, "messages[0].content[1].type", CodeUnsupportedValue, "content of type image_url is not supported"},
		// unknown
		{chat(`"temprature":1`), "temprature", CodeUnknownParameter, "unknown field; did you mean temperature?"},
		{chat(`"max_token":1`), "max_token", CodeUnknownParameter, "unknown field; did you mean max_tokens?"},
		{chat(`"prompt":"x"`), "prompt", CodeUnknownParameter, "unknown field"},
		{chat(`"Temperature":1`), "Temperature", CodeUnknownParameter, "did you mean temperature?"},
		{chat(`"` + strings.Repeat("a", 1000) + `":1`), strings.Repeat("a", 200) + "...", CodeUnknownParameter, "unknown field"},
		{chat(`"routing":{"treshold":1}`), "routing.treshold", CodeUnknownParameter, "unknown field; did you mean threshold?"},
		{chat(`"stream":true,"stream_options":{"usage":true}`), "stream_options.usage", CodeUnknownParameter, "unknown field"},
		{`{"model":"m","messages":[{"role":"user","content":"a","contnet":"b"}]}`, "messages[0].contnet", CodeUnknownParameter, "unknown field; did you mean content?"},
		{`{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"a","cache_control":{}}]}]}`, "messages[0].content[0].cache_control", CodeUnknownParameter, "unknown field"},
	} {
		_, err := DecodeChat([]byte(c.body), MaxChoices)
		requireRefused(t, c, err)
	}
}

func TestCompletionRefused(t *testing.T) {
	for _, c := range []refusal{
		{`{"model":"m"}`, "prompt", CodeMissing, "is required"},
		{`{"model":"m","prompt":null}`, "prompt", CodeMissing, "is required"},
		{`{"prompt":"a"}`, "model", CodeMissing, "is required"},
		{`{"model":"m","prompt":[]}`, "prompt", CodeInvalidValue, "is empty"},
		{`{"model":"m","prompt":[[]]}`, "prompt[0]", CodeInvalidValue, "is empty"},
		{`{"model":"m","prompt":5}`, "prompt", CodeInvalidType, "expected a string, an array of strings, an array of token ids"},
		{`{"model":"m","prompt":{}}`, "prompt", CodeInvalidType, "found an object"},
		{`{"model":"m","prompt":[null]}`, "prompt[0]", CodeInvalidType, "found null"},
		{`{"model":"m","prompt":[1,"a"]}`, "prompt[1]", CodeInvalidType, "not a mix of them"},
		{`{"model":"m","prompt":["a",[1]]}`, "prompt[1]", CodeInvalidType, "not a mix of them"},
		{`{"model":"m","prompt":[1.5]}`, "prompt[0]", CodeInvalidType, "expected a whole number, found 1.5"},
		{`{"model":"m","prompt":[1,-1]}`, "prompt[1]", CodeInvalidValue, "-1 is not a token id"},
		{`{"model":"m","prompt":[4294967296]}`, "prompt[0]", CodeInvalidValue, "4294967296 is not a token id"},
		{`{"model":"m","prompt":[[1],[2,"a"]]}`, "prompt[1][1]", CodeInvalidType, "expected a whole number, found a string"},
		{`{"model":"m","prompt":["a","\ud800"]}`, "prompt[1]", CodeInvalidJSON, "surrogate"},
		{`{"model":"m","prompt":[1,`, "prompt", CodeInvalidJSON, "it ends too early"},
		{`{"model":"m","prompt":[` + strings.Repeat(`"a",`, 128) + `"b"]}`, "prompt", CodeInvalidValue, "129 prompts; this server takes at most 128"},
		{completion(`"echo":true`), "echo", CodeUnsupported, "is not supported"},
		{completion(`"suffix":"x"`), "suffix", CodeUnsupported, "is not supported"},
		{completion(`"best_of":2`), "best_of", CodeUnsupportedValue, "is not supported"},
		{completion(`"n":2,"best_of":3`), "best_of", CodeUnsupportedValue, "is not supported"},
		{`{"model":"m","n":64,"prompt":["a","b","c"]}`, "n", CodeInvalidValue, "64 answers to 3 prompts each; this server takes at most 128 answers"},
		{completion(`"logprobs":true`), "logprobs", CodeInvalidType, "expected a whole number, found true"},
		{completion(`"logprobs":21`), "logprobs", CodeInvalidValue, "21 is outside 0 to 20"},
		{completion(`"logprobs":-1`), "logprobs", CodeInvalidValue, "-1 is outside 0 to 20"},
		{completion(`"messages":[]`), "messages", CodeUnknownParameter, "unknown field"},
		{completion(`"max_completion_tokens":5`), "max_completion_tokens", CodeUnknownParameter, "unknown field"},
		{completion(`"temperature":9`), "temperature", CodeInvalidValue, "9 is outside 0 to 2"},
	} {
		_, err := DecodeCompletion([]byte(c.body), MaxPrompts)
		requireRefused(t, c, err)
	}
}

func TestChatAccepted(t *testing.T) {
	r, err := DecodeChat([]byte(`{
		"model": "pair", "messages": [
			{"role": "developer", "content": "be brief"},
			{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "\ud83d\ude00"}], "name": "ann"},
			{"role": "assistant", "content": "b", "refusal": null, "annotations": [], "tool_calls": null, "audio": null, "reasoning_content": "hm"},
			{"role": "user", "content": ""}],
		"temperature": 0.5, "top_p": 0.9, "top_k": 40, "min_p": 0.05, "repetition_penalty": 1.1, "presence_penalty": -2,
		"frequency_penalty": 2, "logit_bias": {"50": -100, "7": 1.5}, "seed": -7, "stop": ["x", "y"], "max_tokens": 5.0,
		"max_completion_tokens": 5, "logprobs": true, "top_logprobs": 3, "stream": true,
		"stream_options": {"include_usage": true, "include_obfuscation": false},
		"routing": {"algorithm": "r-stitch", "threshold": 0.1, "trace": true, "large_share": null},
		"ignore_eos": true, "skip_special_tokens": false, "chat_template_kwargs": {"enable_thinking": false},
		"user": "u", "metadata": {"a": "b"}, "store": false, "service_tier": "auto", "n": 1,
		"response_format": {"type": "text"}, "tools": [], "tool_choice": "auto", "parallel_tool_calls": true,
		"functions": null, "modalities": ["text"], "prompt_cache_key": "k", "safety_identifier": "s"}`), MaxChoices)
	require.NoError(t, err)
	require.Equal(t, "pair", r.Model)
	require.Len(t, r.Messages, 4)
	require.Equal(t, []string{"a", "😀"}, r.Messages[1].Content.Parts)
	require.Equal(t, "ann", r.Messages[1].Name)
	require.Equal(t, "hm", r.Messages[2].ReasoningContent)
	require.Equal(t, Content{Given: true, Parts: []string{""}}, r.Messages[3].Content)
	require.Equal(t, &LogitBias{IDs: []int32{7, 50}, Values: []float32{1.5, -100}}, r.LogitBias)
	require.Equal(t, Int(-7), *r.Seed)
	require.Equal(t, Strings{"x", "y"}, r.Stop)
	require.Equal(t, 5, r.Limit())
	require.Equal(t, Int(3), *r.TopLogprobs)
	require.True(t, r.Stream && r.StreamOptions.IncludeUsage && r.IgnoreEOS && !*r.SkipSpecialTokens)
	require.Equal(t, "r-stitch", r.Routing.Algorithm)
	require.Equal(t, 0.1, *r.Routing.Threshold)
	require.True(t, r.Routing.Trace)
	require.Equal(t, map[string]any{"enable_thinking": false}, r.ChatTemplateKwargs)
}

// null counts as left out, for every field there is.
func TestNullIsLeftOut(t *testing.T) {
	plain, err := DecodeChat([]byte(chat("")), MaxChoices)
	require.NoError(t, err)
	all := append(names(typeOf(ChatRequest{})), keys(inertChat)...)
	var members []string
	for _, name := range all {
		if name != "model" && name != "messages" {
			members = append(members, `"`+name+`":null`)
		}
	}
	require.Greater(t, len(members), 40)
	got, err := DecodeChat([]byte(chat(strings.Join(members, ","))), MaxChoices)
	require.NoError(t, err)
	got.Extra = nil
	require.Equal(t, plain, got)
}

func TestStops(t *testing.T) {
	for body, want := range map[string]Strings{
		`"stop":"a"`: {"a"}, `"stop":["a","b"]`: {"a", "b"}, `"stop":null`: nil, `"stop":[]`: {},
	} {
		r, err := DecodeChat([]byte(chat(body)), MaxChoices)
		require.NoError(t, err)
		require.Equal(t, want, r.Stop, body)
	}
}

func TestPrompts(t *testing.T) {
	for body, want := range map[string]Prompt{
		`"a"`:       {Given: true, Texts: []string{"a"}},
		`""`:        {Given: true, Texts: []string{""}},
		`["a"]`:     {Given: true, Several: true, Texts: []string{"a"}},
		`["a","b"]`: {Given: true, Several: true, Texts: []string{"a", "b"}},
		`[1,2,3.0]`: {Given: true, Tokens: [][]int32{{1, 2, 3}}},
		`[[1],[2]]`: {Given: true, Several: true, Tokens: [][]int32{{1}, {2}}},
	} {
		r, err := DecodeCompletion([]byte(`{"model":"m","prompt":`+body+`}`), MaxPrompts)
		require.NoError(t, err, body)
		require.Equal(t, want, r.Prompt, body)
	}
	r, err := DecodeCompletion([]byte(completion("")), MaxPrompts)
	require.NoError(t, err)
	require.Equal(t, 16, r.Limit())
	require.Equal(t, "prompt", r.Prompt.Name(0))
}

// A body that the decoder takes is within the limits that the rest of the server relies on; one that it refuses gets a
// 400 with a text.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		"", chat(""), completion(""), chat(`"logit_bias":{"1":2}`), chat(`"stop":["a"]`), `{"model":"m","prompt":[[1],[2]]}`,
		`{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"a"}]}],"routing":{"threshold":1}}`,
		`{"prompt":[1,`, `{"messages":[{"content":[`, `{"logit_bias":{"1"`, `{"stop":[nul`, "{\"a\":\"\xff\"}", `{"seed":1e99}`,
	} {
		f.Add([]byte(s))
	}
	check := func(t *testing.T, err error) {
		var e *Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, http.StatusBadRequest, e.Status)
		require.NotEmpty(t, e.Message)
		_, err = Marshal(e.Body())
		require.NoError(t, err)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if r, err := DecodeChat(body, MaxChoices); err != nil {
			check(t, err)
		} else {
			require.NotEmpty(t, r.Messages)
			for _, m := range r.Messages {
				require.True(t, m.Content.Given || len(m.ToolCalls) > 0)
			}
			require.LessOrEqual(t, len(r.Stop), MaxStops)
		}
		if r, err := DecodeCompletion(body, MaxPrompts); err != nil {
			check(t, err)
		} else {
			require.Positive(t, r.Prompt.Len())
			require.True(t, len(r.Prompt.Texts) == 0 || len(r.Prompt.Tokens) == 0)
		}
	})
}

// Errors are shown and may be logged: what stands behind a mistake is not theirs to tell.
func TestSurrogateErrorTellsNothing(t *testing.T) {
	for _, text := range []string{`\ud800SECRET`, `\ud800 SECRET`, `\udc00SECRET`, `\ud800\u0041SECRET`, `\ud800\nSECRET`} {
		_, err := DecodeChat([]byte(`{"model":"m","messages":[{"role":"user","content":"`+text+`"}],"user":"SECRET"}`), MaxChoices)
		require.ErrorContains(t, err, "invalid surrogate pair in a string")
		require.NotContains(t, err.Error(), "SE")
	}
}
