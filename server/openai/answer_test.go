package openai

import (
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func typeOf(v any) reflect.Type { return reflect.TypeOf(v) }

func keys(m map[string]rule) []string { return slices.Sorted(maps.Keys(m)) }

// The texts are the shapes of the OpenAI API reference; fields that are null there must be null here, not left out.
func TestShapes(t *testing.T) {
	stop := "stop"
	angled, hi, empty := "<hi>", "hi", ""
	head := Head{ID: "x", Object: "o", Created: 5, Model: "m", SystemFingerprint: "fp"}
	const headText = `{"id":"x","object":"o","created":5,"model":"m","system_fingerprint":"fp",`
	for _, c := range []struct {
		v    any
		want string
	}{
		{Invalid("a", "c", "bad").Body(), `{"error":{"message":"a: bad","type":"invalid_request_error","param":"a","code":"c"}}`},
		{Failure(500, "", "bad \xff").Body(), `{"error":{"message":"bad ` + "\ufffd" + `","type":"server_error","param":null,"code":null}}`},
		{
			ChatCompletion{Head: head, Choices: []ChatChoice{{Message: ChatMessage{Role: "assistant", Content: &angled}, FinishReason: "stop"}}},
			headText + `"choices":[{"index":0,"message":{"role":"assistant","content":"<hi>","refusal":null},"logprobs":null,"finish_reason":"stop"}],` +
				`"usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0,"prompt_tokens_details":{"cached_tokens":0}},"routing":null}`,
		},
		{
			ChatChunk{Head: head, Choices: []ChatDelta{{Delta: Delta{Role: "assistant", Content: &empty}}}},
			headText + `"choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]}`,
		},
		{
			ChatChunk{Head: head, Choices: []ChatDelta{{Delta: Delta{Content: &hi}}}, Usage: &OptUsage{}},
			headText + `"choices":[{"index":0,"delta":{"content":"hi"},"logprobs":null,"finish_reason":null}],"usage":null}`,
		},
		{
			ChatChunk{Head: head, Choices: []ChatDelta{{FinishReason: &stop}}},
			headText + `"choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}]}`,
		},
		{
			ChatChunk{Head: head, Usage: &OptUsage{&Usage{PromptTokens: 1, CompletionTokens: 2, TotalTokens: 3}}},
			headText + `"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3,"prompt_tokens_details":{"cached_tokens":0}}}`,
		},
		{
			ChatLogprobs{Content: []ChatLogprob{{TokenLogprob{"a", -0.5, []int{97}}, nil}}},
			`{"content":[{"token":"a","logprob":-0.5,"bytes":[97],"top_logprobs":[]}],"refusal":null}`,
		},
		{
			Completion{Head: head, Choices: []CompletionChoice{{Text: "a", Logprobs: &CompletionLogprobs{
				TextOffset: []int{0}, TokenLogprobs: []float64{-1}, Tokens: []string{"a"}, TopLogprobs: []map[string]float64{{"b": -2, "a": -1}},
			}}}},
			headText + `"choices":[{"text":"a","index":0,"logprobs":{"text_offset":[0],"token_logprobs":[-1],"tokens":["a"],"top_logprobs":[{"a":-1,"b":-2}]},"finish_reason":null}]}`,
		},
		{
			Routing{RoutingAccount: RoutingAccount{Route: "r", Algorithm: "r-stitch", Tokens: map[string]int{"s": 2, "l": 1}, Discarded: 1, Handoffs: 2}},
			`{"route":"r","algorithm":"r-stitch","tokens":{"l":1,"s":2},"discarded":1,"handoffs":2}`,
		},
		{
			ChatChunk{Head: head, Routing: &RoutingPiece{Trace: []TraceToken{{Token: "a", ID: 1, Model: "s", Logprob: -1}}}},
			headText + `"choices":[],"routing":{"trace":[{"token":"a","id":1,"model":"s","logprob":-1,"entropy":0,"entropy_normalized":0}]}}`,
		},
		{
			TokenizeAnswer{Model: "m", Tokens: TokenList{IDs: []int32{1, 2}, Pieces: []TokenPiece{{1, "a"}, {2, []int{195}}}}, Count: 2},
			`{"model":"m","tokens":[{"id":1,"piece":"a"},{"id":2,"piece":[195]}],"count":2}`,
		},
		{TokenList{IDs: []int32{}}, `[]`},
		{
			ModelList{Object: ObjectList, Data: []Model{{ID: "m", Object: ObjectModel, Created: 1, OwnedBy: "tokenrouter", ContextLength: 64}}},
			`{"object":"list","data":[{"id":"m","object":"model","created":1,"owned_by":"tokenrouter","context_length":64}]}`,
		},
	} {
		got, err := Marshal(c.v)
		require.NoError(t, err)
		require.Equal(t, c.want, string(got))
	}
}
