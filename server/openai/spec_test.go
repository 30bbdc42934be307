package openai

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
)

// The document has every field that requests are read into, and what it says of them is what the decoder takes: bodies that are
// valid are accepted, and their answers' shapes are valid.
func TestSpec(t *testing.T) {
	text, err := json.Marshal(Spec("test"))
	require.NoError(t, err)
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("spec.json", doc))
	schema := func(name string) *jsonschema.Schema {
		s, err := c.Compile("spec.json#/components/schemas/" + name)
		require.NoError(t, err, name)
		return s
	}
	check := func(name, body string) error {
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(body))
		require.NoError(t, err)
		return schema(name).Validate(v)
	}
	for name, of := range map[string]any{"ChatRequest": ChatRequest{}, "CompletionRequest": CompletionRequest{}, "Message": Message{}, "RoutingRequest": RoutingRequest{},
		"TokenizeRequest": TokenizeRequest{}, "DetokenizeRequest": DetokenizeRequest{}, "TemplateRequest": TemplateRequest{}, "ChatCompletion": ChatCompletion{}} {
		got := slices.Sorted(mapKeys(doc.(map[string]any)["components"].(map[string]any)["schemas"].(map[string]any)[name].(map[string]any)["properties"]))
		want := names(reflect.TypeOf(of))
		for name, rule := range inertOf[name] {
			if rule.harmless.schema != nil {
				want = append(want, name)
			}
		}
		slices.Sort(want)
		require.Equal(t, want, got, name)
	}
	for _, body := range []string{
		chat(""), chat(`"stop":"a"`), chat(`"stop":["a"],"n":2,"seed":-1,"temperature":0.5,"logit_bias":{"1":2}`), chat(`"top_p":null,"routing":{"threshold":0.1,"trace":true}`),
		chat(`"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}],"tool_choice":"required"`), chat(`"response_format":{"type":"json_object"}`),
		chat(`"user":"u","metadata":{"a":"b"},"store":false,"service_tier":"auto","functions":[],"modalities":["text"],"min_tokens":0,"verbosity":null,"safety_identifier":"s"`),
		`{"model":"m","messages":[{"role":"assistant","content":"a","annotations":[]}]}`,
		`{"model":"m","messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}]}]}`,
	} {
		_, err := DecodeChat([]byte(body), MaxChoices)
		require.NoError(t, err, body)
		require.NoError(t, check("ChatRequest", body), body)
	}
	for _, body := range []string{completion(""), completion(`"echo":false,"suffix":"","stop_token_ids":[],"metadata":null`), `{"model":"m","prompt":[1,2]}`, `{"model":"m","prompt":[[1],[2]],"logprobs":3}`} {
		require.NoError(t, check("CompletionRequest", body), body)
	}
	for _, body := range []string{`{}`, `{"model":"m"}`, chat(`"temperature":3`), chat(`"temperature":"a"`), chat(`"n":0`), chat(`"stop":1`), chat(`"tool_choice":"x"`),
		chat(`"user":1`), chat(`"metadata":{"a":1}`), chat(`"store":true`), chat(`"service_tier":"flex"`), chat(`"functions":[{}]`), chat(`"min_tokens":1`), chat(`"modalities":["audio"]`),
		`{"model":null,"messages":[{"role":"user","content":"a"}]}`, `{"model":"m","messages":null}`, `{"model":"m","messages":[{"role":null,"content":"a"}]}`} {
		_, err := DecodeChat([]byte(body), MaxChoices)
		require.Error(t, err, body)
		require.Error(t, check("ChatRequest", body), body)
	}
	hi, likely := "hi", TokenLogprob{Token: "hi", Logprob: -1, Bytes: []int{104, 105}}
	for name, answer := range map[string]any{
		"ChatCompletion": ChatCompletion{
			Choices: []ChatChoice{{Message: ChatMessage{Role: "assistant", Content: &hi},
				Logprobs: &ChatLogprobs{Content: []ChatLogprob{{TokenLogprob: likely, TopLogprobs: []TokenLogprob{likely}}}}}},
			Routing: &Routing{Trace: []TraceToken{{Token: "hi", Alternatives: []Alternative{{Token: "hi", Logprob: -1}}}}},
		},
		"Completion": Completion{Choices: []CompletionChoice{{Text: "hi", Logprobs: &CompletionLogprobs{
			TextOffset: []int{0}, Tokens: []string{"hi"}, TokenLogprobs: []float64{-1}, TopLogprobs: []map[string]float64{{"hi": -1}}}}}},
	} {
		text, err := Marshal(answer)
		require.NoError(t, err)
		require.NoError(t, check(name, string(text)), string(text))
	}
}

func mapKeys(v any) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range v.(map[string]any) {
			if !yield(k) {
				return
			}
		}
	}
}
