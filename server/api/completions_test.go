package api

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	textHead      = `{"id":"CMPL","object":"text_completion","created":0,"model":"pair","system_fingerprint":"fp_pair",`
	storyLogprobs = `{"text_offset":[0,1,2],"token_logprobs":[-0.25,-0.5,-1],"tokens":["a","bytes:\\xc3","bytes:\\xa9"],` +
		`"top_logprobs":[{"a":-0.25,"b":-9999},{"bytes:\\xa9":-2,"bytes:\\xc3":-0.5},{"b":-3,"bytes:\\xa9":-1}]}`
)

func TestCompletion(t *testing.T) {
	for _, c := range []struct{ name, members, want string }{
		{"plain", "", textHead + `"choices":[{"text":"aé","index":0,"logprobs":null,"finish_reason":"stop"}],"usage":` + textUsage + `,"routing":` + storyRoute + `}`},
		{"log-probabilities", `"logprobs":2`, textHead + `"choices":[{"text":"aé","index":0,"logprobs":` + storyLogprobs + `,"finish_reason":"stop"}],"usage":` + textUsage + `,"routing":` + storyRoute + `}`},
		{"trace", `"routing":{"trace":true}`, textHead + `"choices":[{"text":"aé","index":0,"logprobs":null,"finish_reason":"stop"}],"usage":` + textUsage + `,"routing":` + storyTrace + `}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, body := newSite(t, story(), nil).post(t, "/v1/completions", completionBody("pair", c.members))
			require.Equal(t, 200, r.StatusCode, body)
			require.Equal(t, c.want, settled(body))
		})
	}
}

func TestCompletionStream(t *testing.T) {
	_, body := newSite(t, story(), nil).post(t, "/v1/completions", completionBody("pair", `"stream":true,"logprobs":2,"stream_options":{"include_usage":true}`))
	got := events(t, body)
	for i := range got {
		got[i] = settled(got[i])
	}
	require.Equal(t, []string{
		textHead + `"choices":[{"text":"a","index":0,"logprobs":{"text_offset":[0],"token_logprobs":[-0.25],"tokens":["a"],"top_logprobs":[{"a":-0.25,"b":-9999}]},"finish_reason":null}],"usage":null}`,
		textHead + `"choices":[{"text":"é","index":0,"logprobs":{"text_offset":[1,2],"token_logprobs":[-0.5,-1],"tokens":["bytes:\\xc3","bytes:\\xa9"],` +
			`"top_logprobs":[{"bytes:\\xa9":-2,"bytes:\\xc3":-0.5},{"b":-3,"bytes:\\xa9":-1}]},"finish_reason":null}],"usage":null}`,
		textHead + `"choices":[{"text":"","index":0,"logprobs":null,"finish_reason":"stop"}],"usage":null,"routing":` + storyRoute + `}`,
		textHead + `"choices":[],"usage":` + textUsage + `}`,
		"[DONE]",
	}, got)
}

// Several prompts are answered side by side; the account is that of all.
func TestSeveralPrompts(t *testing.T) {
	s := story()
	site := newSite(t, s, nil)
	_, body := site.post(t, "/v1/completions", `{"model":"pair","prompt":["a","b"]}`)
	require.JSONEq(t, textHead+`"choices":[{"text":"aé","index":0,"logprobs":null,"finish_reason":"stop"},{"text":"aé","index":1,"logprobs":null,"finish_reason":"stop"}],`+
		`"usage":{"prompt_tokens":6,"completion_tokens":8,"total_tokens":14,"prompt_tokens_details":{"cached_tokens":4}},`+
		`"routing":{"route":"pair","algorithm":"r-stitch","tokens":{"large":4,"small":4},"discarded":2,"handoffs":2}}`, settled(body))
	require.Equal(t, []int32{16 + 'a'}, s.requests[0].Prompt)
	require.Equal(t, []int32{16 + 'b'}, s.requests[1].Prompt)

	_, body = site.post(t, "/v1/completions", `{"model":"pair","prompt":[[1,2],[3]],"stream":true}`)
	texts, finishes, routings := map[string]int{}, 0, 0
	list := events(t, body)
	for _, e := range list[:len(list)-1] {
		var chunk struct {
			Choices []struct {
				Index        int
				Text         string
				FinishReason *string `json:"finish_reason"`
			}
			Routing *struct{ Tokens map[string]int }
		}
		unmarshal(t, e, &chunk)
		texts[string(rune('0'+chunk.Choices[0].Index))] += len(chunk.Choices[0].Text)
		if chunk.Choices[0].FinishReason != nil {
			finishes++
		}
		if chunk.Routing != nil {
			routings++
			require.Equal(t, 2, finishes, "on the last of the finishing chunks")
			require.Equal(t, map[string]int{"small": 4, "large": 4}, chunk.Routing.Tokens)
		}
	}
	require.Equal(t, "[DONE]", list[len(list)-1])
	require.Equal(t, map[string]int{"0": 3, "1": 3}, texts, "bytes of text by choice")
	require.Equal(t, 1, routings)
	require.Equal(t, []int32{1, 2}, s.requests[2].Prompt)
}

// Choices differ in the random numbers that they are drawn with. A prompt counts once, however many there are.
func TestSeveralAnswers(t *testing.T) {
	for path, body := range map[string]string{
		"/v1/chat/completions": chatBody("small", `"n":3`), "/v1/completions": `{"model":"small","prompt":["ab","c"],"n":3,"best_of":3}`,
	} {
		s := brief()
		r, answer := newSite(t, s, nil).post(t, path, body)
		require.Equal(t, 200, r.StatusCode, answer)
		var a struct {
			Choices []struct{ Index int }
			Usage   struct{ PromptTokens, CompletionTokens int }
		}
		unmarshal(t, strings.ReplaceAll(answer, "_tokens", "tokens"), &a)
		prompts := len(s.requests) / 3
		require.Len(t, a.Choices, 3*prompts)
		require.Equal(t, prompts, a.Usage.PromptTokens)
		require.Equal(t, 3*prompts, a.Usage.CompletionTokens)
		for i, q := range s.requests {
			require.EqualValues(t, i%3, q.Sampling.Choice)
			require.Equal(t, s.requests[i-i%3].Prompt, q.Prompt)
			require.Equal(t, s.requests[0].Sampling.Seed, q.Sampling.Seed)
			require.Equal(t, i, a.Choices[i].Index)
		}
	}
}

// A trace of several prompts says which choice a token is of.
func TestTraceOfSeveralPrompts(t *testing.T) {
	_, body := newSite(t, story(), nil).post(t, "/v1/completions", `{"model":"pair","prompt":["a","b"],"routing":{"trace":true}}`)
	var got struct {
		Routing struct {
			Trace []struct{ Choice int }
		}
	}
	unmarshal(t, body, &got)
	require.Len(t, got.Routing.Trace, 8)
	require.Equal(t, 0, got.Routing.Trace[3].Choice)
	require.Equal(t, 1, got.Routing.Trace[4].Choice)
}
