package api

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/models/output"
	"github.com/tokenrouter/tokenrouter/sched"
)

// story is an answer of two models: "aé", whose é is made of a token of each, with a token of the small model thrown
// away before the last. The vocabulary has 8: the first byte of é, 9: its second, 16: a, 17: b, 18: c.
func story() *script {
	half := token(8, "\xc3", 0, -0.5)
	half.Info.TopIDs, half.Info.TopLogProbs = []int32{8, 9}, []float32{-0.5, -2}
	rest := token(9, "\xa9", 1, -1)
	rest.Info.TopIDs, rest.Info.TopLogProbs = []int32{9, 17}, []float32{-1, -3}
	rest.Info.Handoffs = 1
	rest.Info.Discarded = []sched.Discard{{Model: 0, Token: 18, LogProb: -4, Entropy: 2, Score: &sched.Score{Value: 0.75, Threshold: 0.5}}}
	rest.Info.Score = &sched.Score{Value: 0.25, Threshold: 0.5}
	a := token(16, "a", 0, -0.25)
	a.Info.TopIDs, a.Info.TopLogProbs = []int32{16, 17}, []float32{-0.25, float32(math.Inf(-1))}
	end := token(2, "<|2|>", 1, -0.125)
	end.End = true
	return &script{
		events: []sched.Event{
			{Text: "a", Tokens: []sched.Token{a}},
			{Text: "é", Tokens: []sched.Token{half, rest}},
			{Tokens: []sched.Token{end}, Finish: sched.FinishStop},
		},
		summary: sched.Summary{
			Prompt: 3, Cached: 2, Completion: 4, Tokens: map[string]int{"small": 2, "large": 2}, Discarded: 1, Handoffs: 1,
			Route: "pair", Algorithm: "r-stitch",
		},
	}
}

var varying = regexp.MustCompile(`"id":"(chatcmpl|cmpl)-[A-Z2-7]{26}"|"created":[0-9]{10}|"seed":[0-9]+`)

// settled replaces what differs from call to call.
func settled(text string) string {
	return varying.ReplaceAllStringFunc(text, func(s string) string {
		switch {
		case strings.HasPrefix(s, `"id":"chatcmpl`):
			return `"id":"CHAT"`
		case strings.HasPrefix(s, `"id"`):
			return `"id":"CMPL"`
		case strings.HasPrefix(s, `"seed"`):
			return `"seed":0`
		default:
			return `"created":0`
		}
	})
}

const (
	chatHead   = `{"id":"CHAT","object":"chat.completion","created":0,"model":"pair","system_fingerprint":"fp_pair",`
	chunkHead  = `{"id":"CHAT","object":"chat.completion.chunk","created":0,"model":"pair","system_fingerprint":"fp_pair",`
	textUsage  = `{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7,"prompt_tokens_details":{"cached_tokens":2}}`
	chatUsage  = `{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7,"prompt_tokens_details":{"cached_tokens":2},"completion_tokens_details":{"reasoning_tokens":0}}`
	storyRoute = `{"route":"pair","algorithm":"r-stitch","tokens":{"large":2,"small":2},"discarded":1,"handoffs":1}`
	// Normalized: 0.25 and 2 nats of the ln 500 = 6.2146 nats that the test's vocabulary can have.
	storySeed = `{"route":"pair","algorithm":"r-stitch","tokens":{"large":2,"small":2},"discarded":1,"handoffs":1,"seed":0,`
	// Normalized: 0.25 and 2 nats of the ln 500 = 6.2146 nats that the test's vocabulary can have.
	aTrace = `{"token":"a","id":16,"model":"small","logprob":-0.25,"entropy":0.25,"entropy_normalized":0.04022779812350062}`
	eTrace = `{"token":"\\xc3","id":8,"model":"small","logprob":-0.5,"entropy":0.25,"entropy_normalized":0.04022779812350062},` +
		`{"token":"\\xa9","id":9,"model":"large","logprob":-1,"entropy":0.25,"entropy_normalized":0.04022779812350062,"score":0.25,"threshold":0.5,"handoffs":1,` +
		`"discarded":[{"token":"c","id":18,"model":"small","logprob":-4,"entropy":2,"entropy_normalized":0.321822384988005,"score":0.75,"threshold":0.5}]}`
	endTrace   = `{"token":"<|2|>","id":2,"model":"large","logprob":-0.125,"entropy":0.25,"entropy_normalized":0.04022779812350062}`
	storyTrace = storySeed + `"trace":[` + aTrace + `,` + eTrace + `,` + endTrace + `]}`
	aLogprob   = `{"token":"a","logprob":-0.25,"bytes":[97],"top_logprobs":[` +
		`{"token":"a","logprob":-0.25,"bytes":[97]},{"token":"b","logprob":-9999,"bytes":[98]}]}`
	eLogprobs = `{"token":"\\xc3","logprob":-0.5,"bytes":[195],"top_logprobs":[` +
		`{"token":"\\xc3","logprob":-0.5,"bytes":[195]},{"token":"\\xa9","logprob":-2,"bytes":[169]}]},` +
		`{"token":"\\xa9","logprob":-1,"bytes":[169],"top_logprobs":[` +
		`{"token":"\\xa9","logprob":-1,"bytes":[169]},{"token":"b","logprob":-3,"bytes":[98]}]}`
)

func TestChat(t *testing.T) {
	for _, c := range []struct{ name, members, want string }{
		{"plain", "", chatHead + `"choices":[{"index":0,"message":{"role":"assistant","content":"aé","refusal":null},"logprobs":null,"finish_reason":"stop"}],` +
			`"usage":` + chatUsage + `,"routing":` + storyRoute + `}`},
		{"log-probabilities", `"logprobs":true,"top_logprobs":2`, chatHead + `"choices":[{"index":0,"message":{"role":"assistant","content":"aé","refusal":null},` +
			`"logprobs":{"content":[` + aLogprob + `,` + eLogprobs + `],"refusal":null},"finish_reason":"stop"}],"usage":` + chatUsage + `,"routing":` + storyRoute + `}`},
		{"trace", `"routing":{"trace":true}`, chatHead + `"choices":[{"index":0,"message":{"role":"assistant","content":"aé","refusal":null},"logprobs":null,"finish_reason":"stop"}],` +
			`"usage":` + chatUsage + `,"routing":` + storyTrace + `}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, body := newSite(t, story(), nil).post(t, "/v1/chat/completions", chatBody("pair", c.members))
			require.Equal(t, 200, r.StatusCode, body)
			require.Equal(t, "application/json; charset=utf-8", r.Header.Get("Content-Type"))
			require.NotEmpty(t, r.Header.Get("X-Request-Id"))
			require.Equal(t, c.want, settled(body))
			for header, want := range map[string]string{"Route": "pair", "Algorithm": "r-stitch", "Tokens": "small=2, large=2", "Discarded": "1", "Handoffs": "1"} {
				require.Equal(t, want, r.Header.Get("X-TokenRouter-"+header), header)
			}
		})
	}
}

// A trace may have more alternatives than the log-probabilities, and the other way round.
func TestAlternatives(t *testing.T) {
	s := story()
	_, body := newSite(t, s, nil).post(t, "/v1/chat/completions", chatBody("pair", `"logprobs":true,"top_logprobs":1,"routing":{"trace":true,"alternatives":2}`))
	require.Equal(t, 2, s.requests[0].Top)
	require.Contains(t, body, `"top_logprobs":[{"token":"a","logprob":-0.25,"bytes":[97]}]`)
	require.Contains(t, body, `"alternatives":[{"token":"a","id":16,"logprob":-0.25},{"token":"b","id":17,"logprob":-9999}]`)
	_, body = newSite(t, story(), nil).post(t, "/v1/completions", completionBody("pair", `"logprobs":2,"routing":{"trace":true,"alternatives":1}`))
	require.Contains(t, body, `"top_logprobs":[{"a":-0.25,"b":-9999}`)
	require.Contains(t, body, `"alternatives":[{"token":"a","id":16,"logprob":-0.25}]`)
}

// Drafts show in the account, and token by token in the trace.
func TestDraftsInTheTrace(t *testing.T) {
	s := story()
	s.summary.Drafted, s.summary.Accepted = 3, 1
	s.events[0].Tokens[0].Info.Drafted = true
	last := &s.events[len(s.events)-1]
	last.Tokens[len(last.Tokens)-1].Info.Discarded = []sched.Discard{{Model: 0, Token: 17, LogProb: -0.5, Entropy: 0.25, Draft: true}}
	_, body := newSite(t, s, nil).post(t, "/v1/chat/completions", chatBody("pair", `"routing":{"trace":true}`))
	require.Contains(t, body, `"drafted":3,"accepted":1,"handoffs":`)
	require.Contains(t, body, `"model":"small","drafted":true,"logprob":-0.25`)
	require.Contains(t, body, `"discarded":[{"token":"b","id":17,"model":"small","draft":true,"logprob":-0.5,`)
}

// The order of chunks is that of the API reference: role, content, finish, usage if asked for, [DONE].
func TestChatStream(t *testing.T) {
	role := `"choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]`
	finish := `"choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}]`
	content := func(text, logprobs string) string {
		return `"choices":[{"index":0,"delta":{"content":"` + text + `"},"logprobs":` + logprobs + `,"finish_reason":null}]`
	}
	for _, c := range []struct {
		name, members string
		want          []string
	}{
		{"plain", "", []string{
			chunkHead + role + `}`,
			chunkHead + content("a", "null") + `}`,
			chunkHead + content("é", "null") + `}`,
			chunkHead + finish + `,"routing":` + storyRoute + `}`,
			"[DONE]",
		}},
		{"usage and trace", `,"stream_options":{"include_usage":true},"routing":{"trace":true}`, []string{
			chunkHead + role + `,"usage":null}`,
			chunkHead + content("a", "null") + `,"usage":null,"routing":{"trace":[` + aTrace + `]}}`,
			chunkHead + content("é", "null") + `,"usage":null,"routing":{"trace":[` + eTrace + `]}}`,
			chunkHead + finish + `,"usage":null,"routing":` + storySeed + `"trace":[` + endTrace + `]}}`,
			chunkHead + `"choices":[],"usage":` + chatUsage + `}`,
			"[DONE]",
		}},
		{"log-probabilities", `,"logprobs":true,"top_logprobs":2`, []string{
			chunkHead + role + `}`,
			chunkHead + content("a", `{"content":[`+aLogprob+`],"refusal":null}`) + `}`,
			chunkHead + content("é", `{"content":[`+eLogprobs+`],"refusal":null}`) + `}`,
			chunkHead + finish + `,"routing":` + storyRoute + `}`,
			"[DONE]",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, body := newSite(t, story(), nil).post(t, "/v1/chat/completions", chatBody("pair", `"stream":true`+c.members))
			require.Equal(t, 200, r.StatusCode, body)
			require.Equal(t, "text/event-stream; charset=utf-8", r.Header.Get("Content-Type"))
			require.Equal(t, "no-cache", r.Header.Get("Cache-Control"))
			got := events(t, body)
			for i := range got {
				got[i] = settled(got[i])
			}
			require.Equal(t, c.want, got)
			require.Len(t, unique(body), 1, "one id for all chunks")
		})
	}
}

// unique lists the different ids in a stream.
func unique(body string) []string {
	seen := map[string]bool{}
	var out []string
	for _, id := range regexp.MustCompile(`chatcmpl-[A-Z2-7]{26}`).FindAllString(body, -1) {
		if !seen[id] {
			seen[id] = true
			out = append(out, id)
		}
	}
	return out
}

// Tokens of thoughts are counted, with their marks, whole or streamed, and the prompt once.
func TestUsageOfThoughts(t *testing.T) {
	text := theText
	text.style = output.Style{Reasoning: true}
	say := func(pieces ...string) *script {
		s := &script{summary: sched.Summary{Prompt: 10, Cached: 8, Completion: len(pieces) + 1}}
		for _, p := range pieces {
			s.events = append(s.events, sched.Event{Text: p, Tokens: []sched.Token{token(7, p, 0, -1)}})
		}
		end := token(2, "<|2|>", 0, -1)
		end.End = true
		s.events = append(s.events, sched.Event{Tokens: []sched.Token{end}, Finish: sched.FinishStop})
		return s
	}
	for _, c := range []struct {
		script *script
		want   int
	}{
		{say("<think>", "\n", "a", "b ", "</think>", "\n\n", "c"), 5},
		{say("<thi", "nk>", "a", "</", "think>b", "c"), 5},
		{say("<th", "ey are", " 3"), 0},
		{say("<think>", "cut", " off", "</th"), 4},
	} {
		for _, members := range []string{`"n":2`, `"n":2,"stream":true,"stream_options":{"include_usage":true}`} {
			site := newSite(t, c.script, nil)
			all := targets()
			all[0].Text = text
			site.api.Ready(all, c.script)
			_, body := site.post(t, "/v1/chat/completions", chatBody("pair", members))
			completion := 2 * c.script.summary.Completion
			require.Contains(t, body, fmt.Sprintf(`"usage":{"prompt_tokens":10,"completion_tokens":%d,"total_tokens":%d,"prompt_tokens_details":{"cached_tokens":8},`+
				`"completion_tokens_details":{"reasoning_tokens":%d}}`, completion, 10+completion, 2*c.want))
		}
	}
}

// The tokens of a stop string are counted, but neither shown nor among the log-probabilities.
func TestTokensOfAStopStringAreNotShown(t *testing.T) {
	s := &script{
		events: []sched.Event{
			{Text: "ab", Tokens: []sched.Token{token(7, "ab", 0, -1)}},
			{Text: "c", Tokens: []sched.Token{token(6, "cx", 0, -1), token(5, "yz", 0, -1)}, Finish: sched.FinishStop},
		},
		summary: sched.Summary{Prompt: 1, Completion: 3, Tokens: map[string]int{"small": 3}, Route: "small", Algorithm: "single"},
	}
	for _, stream := range []string{"false", "true"} {
		_, body := newSite(t, s, nil).post(t, "/v1/chat/completions", chatBody("small", `"stop":"xyz","logprobs":true,"stream":`+stream))
		require.Contains(t, body, `"token":"cx"`)
		require.NotContains(t, body, "yz") // lower case: request IDs are not
	}
}
