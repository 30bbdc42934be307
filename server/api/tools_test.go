package api

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/models/chat"
	"github.com/tokenrouter/tokenrouter/models/output"
	"github.com/tokenrouter/tokenrouter/sched"
)

// writing is an engine whose answer is this text, in pieces of three bytes.
func writing(text string) *script {
	s := &script{summary: sched.Summary{Prompt: 1, Completion: 3, Tokens: map[string]int{"small": 3}}}
	for len(text) > 3 {
		s.events = append(s.events, sched.Event{Text: text[:3], Tokens: []sched.Token{token(16, text[:3], 0, -1)}})
		text = text[3:]
	}
	s.events = append(s.events, sched.Event{Text: text, Tokens: []sched.Token{token(16, text, 0, -1)}, Finish: sched.FinishStop})
	return s
}

// styled is a site whose models write in a style.
func styled(t *testing.T, s *script, style output.Style) *site {
	site := newSite(t, s, nil)
	all := targets()
	for i := range all {
		all[i].Text = bytesText{Text: theText.Text, style: style}
	}
	site.api.Ready(all, s)
	return site
}

const weather = `"tools":[{"type":"function","function":{"name":"weather","parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"],"additionalProperties":false}}},` +
	`{"type":"function","function":{"name":"now"}}]`

var hermes = output.Style{Calls: output.Hermes, Reasoning: true}

const callsText = "<think>\nhm\n</think>\n\nOne moment.\n<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Bonn\"}}\n</tool_call>\n<tool_call>\n{\"name\": \"now\", \"arguments\": {}}\n</tool_call>"

type toolAnswer struct {
	Choices []struct {
		Message, Delta struct {
			Content   *string
			Reasoning string `json:"reasoning_content"`
			Calls     []struct {
				Index    int
				ID, Type string
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		}
		Finish *string `json:"finish_reason"`
	}
}

func TestToolCalls(t *testing.T) {
	_, body := styled(t, writing(callsText), hermes).post(t, "/v1/chat/completions", chatBody("pair", weather))
	var a toolAnswer
	unmarshal(t, body, &a)
	m := a.Choices[0].Message
	require.Equal(t, "One moment.", *m.Content)
	require.Equal(t, "hm", m.Reasoning)
	require.Equal(t, "tool_calls", *a.Choices[0].Finish)
	require.Len(t, m.Calls, 2)
	require.Equal(t, "weather", m.Calls[0].Function.Name)
	require.JSONEq(t, `{"city":"Bonn"}`, m.Calls[0].Function.Arguments)
	require.Equal(t, "now", m.Calls[1].Function.Name)
	require.Equal(t, "{}", m.Calls[1].Function.Arguments)
	require.NotEqual(t, m.Calls[0].ID, m.Calls[1].ID)
	require.Equal(t, "function", m.Calls[0].Type)

	// Nothing but a call: the content is null.
	_, body = styled(t, writing("<tool_call>{\"name\": \"now\"}</tool_call>"), hermes).post(t, "/v1/chat/completions", chatBody("pair", weather))
	require.Contains(t, body, `"content":null`)
	// Without tools, or where they are not to be called, a call is text.
	for _, members := range []string{"", weather + `,"tool_choice":"none"`} {
		_, body = styled(t, writing("<tool_call>x"), hermes).post(t, "/v1/chat/completions", chatBody("pair", members))
		require.Contains(t, body, `"content":"<tool_call>x"`)
	}
}

// In a stream the pieces add up to the same, the name comes first, and each piece has its tokens' trace and log-probabilities.
func TestToolCallsStream(t *testing.T) {
	_, body := styled(t, writing(callsText), hermes).post(t, "/v1/chat/completions", chatBody("pair", weather+`,"stream":true,"logprobs":true,"routing":{"trace":true}`))
	content, reasoning, finish := "", "", ""
	names, arguments := []string{}, []string{}
	for _, e := range events(t, body) {
		if e == "[DONE]" {
			break
		}
		var a toolAnswer
		unmarshal(t, e, &a)
		d := a.Choices[0].Delta
		if d.Content != nil {
			content += *d.Content
		}
		reasoning += d.Reasoning
		for _, c := range d.Calls {
			if c.Function.Name != "" {
				require.Len(t, names, c.Index)
				require.Regexp(t, "^call_", c.ID)
				names, arguments = append(names, c.Function.Name), append(arguments, "")
			} else {
				require.Empty(t, c.ID)
			}
			arguments[c.Index] += c.Function.Arguments
		}
		if f := a.Choices[0].Finish; f != nil {
			finish = *f
		}
	}
	require.Equal(t, []string{"One moment.", "hm", "tool_calls"}, []string{content, reasoning, finish})
	require.Equal(t, []string{"weather", "now"}, names)
	require.Equal(t, []string{`{"city": "Bonn"}`, "{}"}, arguments)
	tokens := (len(callsText) + 2) / 3
	require.Equal(t, tokens, strings.Count(body, `"logprob":-1,"bytes"`))
	require.Equal(t, tokens, strings.Count(body, `"entropy_normalized"`))
}

// What the engine is asked for: nothing where any text will do, and grammars that hold calls and content to their schemas.
func TestGrammarsReachTheEngine(t *testing.T) {
	schema := `"response_format":{"type":"json_schema","json_schema":{"name":"x","schema":{"type":"integer"}}}`
	strict := strings.Replace(weather, `"name":"weather"`, `"name":"weather","strict":true`, 1)
	for _, c := range []struct {
		style   output.Style
		members string
		want    []string // parts of the grammar; nil: none
	}{
		{output.Style{}, "", nil},
		{output.Style{}, `"response_format":{"type":"text"}`, nil},
		{output.Style{}, `"response_format":{"type":"json_object"}`, []string{`{"schema":{"type":"object"},"name":"response_format"}`}},
		{output.Style{}, schema, []string{`{"schema":{"type":"integer"},"name":"response_format.json_schema.schema"}`}},
		{output.Style{Reasoning: true}, schema, []string{`"until":"\u003c/think\u003e"`, `{"type":"integer"}`}},
		{hermes, weather, nil},
		{hermes, weather + `,"tool_choice":"auto"`, nil},
		{hermes, weather + `,"tool_choice":"none"`, nil},
		{hermes, strict, []string{`{"without":"\u003ctool_call\u003e"}`, `"city"`}},
		{hermes, weather + `,"tool_choice":"required"`, []string{`"several"`, `weather`, `now`, `"additionalProperties":false`}},
		{hermes, weather + `,"tool_choice":"required","parallel_tool_calls":false`, []string{`weather`, `now`}},
		{hermes, weather + `,"tool_choice":{"type":"function","function":{"name":"now"}}`, []string{`now`}},
		{hermes, weather + `,` + schema, []string{`{"choice":[{"schema":{"type":"integer"}`, `weather`}},
		{output.Style{Calls: output.Llama}, weather + `,"tool_choice":"required"`, []string{`\"parameters\": `}},
	} {
		s := brief()
		r, body := styled(t, s, c.style).post(t, "/v1/chat/completions", chatBody("pair", c.members))
		require.Equal(t, 200, r.StatusCode, body)
		got := s.requests[0].Grammar
		if c.want == nil {
			require.Empty(t, got, c.members)
			continue
		}
		require.NoError(t, checker{}.Check(t.Context(), got))
		for _, part := range c.want {
			require.Contains(t, got, part, c.members)
		}
		if strings.Contains(c.members, `"name":"now"}}`) && strings.Contains(c.members, "tool_choice\":{") {
			require.NotContains(t, got, "weather")
		}
	}
	// A schema that cannot be followed is any object, but where the tool is strict.
	odd := `"tools":[{"type":"function","function":{"name":"f","strict":STRICT,"parameters":{"type":"object","properties":{"n":{"multipleOf":3}}}}}],"tool_choice":"required"`
	s := brief()
	r, body := styled(t, s, hermes).post(t, "/v1/chat/completions", chatBody("pair", strings.Replace(odd, "STRICT", "false", 1)))
	require.Equal(t, 200, r.StatusCode, body)
	require.Contains(t, s.requests[0].Grammar, `{"schema":{"type":"object"}`)
	r, body = styled(t, s, hermes).post(t, "/v1/chat/completions", chatBody("pair", strings.Replace(odd, "STRICT", "true", 1)))
	requireProblem(t, r, body, 400, "tools[0].function.parameters.properties.n.multipleOf", "unsupported_value", "not supported")
	// OpenAI's reference: parameters describe an object. Clients read arguments as one.
	r, body = styled(t, s, hermes).post(t, "/v1/chat/completions", chatBody("pair", `"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"array"}}}]`))
	requireProblem(t, r, body, 400, "tools[0].function.parameters.type", "invalid_value", `is "array", expected "object"`)
}

// The conversation with its calls and their answers reaches the template.
func TestToolMessages(t *testing.T) {
	body := `{"model":"pair",` + weather + `,"messages":[{"role":"user","content":"q"},
		{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"now","arguments":"{\"a\": 1}"}}]},
		{"role":"tool","tool_call_id":"call_1","content":"noon"}]}`
	var got struct {
		Messages []struct {
			ToolCallID string
			ToolCalls  []struct {
				Function struct{ Arguments json.RawMessage }
			}
		}
		Tools []json.RawMessage
	}
	kept := keeper{bytesText: bytesText{Text: theText.Text, style: hermes}, into: &got}
	s := brief()
	site := newSite(t, s, nil)
	all := targets()
	all[0].Text = kept
	site.api.Ready(all, s)
	r, text := site.post(t, "/v1/chat/completions", body)
	require.Equal(t, 200, r.StatusCode, text)
	require.Equal(t, `"{\"a\": 1}"`, string(got.Messages[1].ToolCalls[0].Function.Arguments))
	require.Equal(t, "call_1", got.Messages[2].ToolCallID)
	require.Len(t, got.Tools, 2)
	require.JSONEq(t, `{"type":"function","function":{"name":"now"}}`, string(got.Tools[1]))
}

// keeper keeps the conversation that it is asked to write.
type keeper struct {
	bytesText
	into any
}

func (k keeper) Prompt(r chat.Request) ([]int32, error) {
	text, err := json.Marshal(map[string]any{"Messages": r.Messages, "Tools": r.Tools})
	if err != nil {
		return nil, err
	}
	text = []byte(strings.NewReplacer("tool_call_id", "ToolCallID", "tool_calls", "ToolCalls").Replace(string(text)))
	if err := json.Unmarshal(text, k.into); err != nil {
		return nil, err
	}
	return k.bytesText.Prompt(r)
}
