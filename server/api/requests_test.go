package api

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/models"
	"github.com/tokenrouter/tokenrouter/models/chat"
	"github.com/tokenrouter/tokenrouter/router"
	"github.com/tokenrouter/tokenrouter/sched"
)

func brief() *script {
	return &script{
		events:  []sched.Event{{Text: "a", Tokens: []sched.Token{token(16, "a", 0, -1)}, Finish: sched.FinishLength}},
		summary: sched.Summary{Prompt: 1, Completion: 1, Tokens: map[string]int{"small": 1}},
	}
}

// plain is what the engine is asked when a request gives nothing: temperature 1 as the API has it, all else off.
func plain(target string, prompt []int32, limit int) sched.Request {
	return sched.Request{
		Target: target, Prompt: prompt, MaxTokens: limit,
		Sampling: sched.Sampling{Temperature: 1, TopP: 1, RepetitionPenalty: 1},
	}
}

// Every field that is supported arrives at the engine.
func TestFieldsReachTheEngine(t *testing.T) {
	hi := []int32{3, 16 + 'h', 16 + 'i'}
	nats, threshold, six := 1.5, 0.25, 6
	for members, change := range map[string]func(*sched.Request){
		``:                                 func(*sched.Request) {},
		`"temperature":0`:                  func(r *sched.Request) { r.Sampling.Temperature = 0 },
		`"temperature":0.5`:                func(r *sched.Request) { r.Sampling.Temperature = 0.5 },
		`"top_p":0.5`:                      func(r *sched.Request) { r.Sampling.TopP = 0.5 },
		`"top_p":0`:                        func(r *sched.Request) { r.Sampling.TopK = 1 }, // the likeliest token alone
		`"top_k":40`:                       func(r *sched.Request) { r.Sampling.TopK = 40 },
		`"top_k":-1`:                       func(*sched.Request) {},
		`"min_p":0.25`:                     func(r *sched.Request) { r.Sampling.MinP = 0.25 },
		`"repetition_penalty":1.5`:         func(r *sched.Request) { r.Sampling.RepetitionPenalty = 1.5 },
		`"presence_penalty":0.5`:           func(r *sched.Request) { r.Sampling.PresencePenalty = 0.5 },
		`"frequency_penalty":-0.5`:         func(r *sched.Request) { r.Sampling.FrequencyPenalty = -0.5 },
		`"logit_bias":{"9":1,"7":-1}`:      func(r *sched.Request) { r.Sampling.BiasIDs, r.Sampling.Bias = []int32{7, 9}, []float32{-1, 1} },
		`"seed":7`:                         func(r *sched.Request) { r.Sampling.Seed = 7 },
		`"seed":-1`:                        func(r *sched.Request) { r.Sampling.Seed = 1<<64 - 1 },
		`"stop":"x"`:                       func(r *sched.Request) { r.Stop = []string{"x"} },
		`"stop":["x","yz"]`:                func(r *sched.Request) { r.Stop = []string{"x", "yz"} },
		`"max_tokens":5`:                   func(r *sched.Request) { r.MaxTokens = 5 },
		`"max_completion_tokens":6`:        func(r *sched.Request) { r.MaxTokens = 6 },
		`"logprobs":true`:                  func(r *sched.Request) { r.LogProbs = true },
		`"logprobs":true,"top_logprobs":5`: func(r *sched.Request) { r.LogProbs, r.Top = true, 5 },
		`"ignore_eos":true`:                func(r *sched.Request) { r.IgnoreEnd = true },
		`"skip_special_tokens":false`:      func(r *sched.Request) { r.Special = true },
		`"skip_special_tokens":true`:       func(*sched.Request) {},
		`"routing":{"threshold":0.25}`:     func(r *sched.Request) { r.Params = router.Params{Threshold: &threshold} },
		`"routing":{"large_share":0.25}`:   func(r *sched.Request) { r.Params = router.Params{LargeShare: &threshold} },
		`"routing":{"algorithm":"r2r","strategy":"entropy","threshold":1.5}`: func(r *sched.Request) {
			r.Algorithm, r.Params = "r2r", router.Params{Strategy: "entropy", Threshold: &nats}
		},
		`"routing":{"algorithm":"ensemble","weights":[0.7,0.3]}`: func(r *sched.Request) {
			r.Algorithm, r.Params = "ensemble", router.Params{Weights: []float64{0.7, 0.3}}
		},
		`"routing":{"algorithm":"speculative","draft":6}`: func(r *sched.Request) {
			r.Algorithm, r.Params = "speculative", router.Params{Draft: &six}
		},
		`"routing":{"algorithm":"r-stitch"}`:                                   func(r *sched.Request) { r.Algorithm = "r-stitch" },
		`"routing":{"trace":true}`:                                             func(r *sched.Request) { r.Trace = true },
		`"user":"ann","metadata":{},"store":false,"service_tier":"auto","n":1`: func(*sched.Request) {},
	} {
		s := brief()
		r, body := newSite(t, s, nil).post(t, "/v1/chat/completions", chatBody("pair", members))
		require.Equal(t, 200, r.StatusCode, body)
		want := plain("pair", hi, 0)
		change(&want)
		got := s.requests[0]
		require.Regexp(t, "^req_[A-Z2-7]{26}-0$", got.ID)
		require.Equal(t, "127.0.0.1", got.Client)
		got.ID, got.Client = "", ""
		if want.Sampling.Seed == 0 { // drawn
			require.Less(t, got.Sampling.Seed, uint64(1)<<53)
			got.Sampling.Seed = 0
		}
		require.Equal(t, want, got, members)
	}
}

func TestCompletionFieldsReachTheEngine(t *testing.T) {
	text := []int32{16 + 'h', 16 + 'i'}
	for body, want := range map[string]sched.Request{
		`"prompt":"hi"`:                  plain("small", text, 16), // 16 is the API's default
		`"prompt":["hi"]`:                plain("small", text, 16),
		`"prompt":[5,6]`:                 plain("small", []int32{5, 6}, 16),
		`"prompt":[[5,6]]`:               plain("small", []int32{5, 6}, 16),
		`"prompt":"hi","max_tokens":300`: plain("small", text, 300),
		`"prompt":"hi","logprobs":0`: func() sched.Request {
			r := plain("small", text, 16)
			r.LogProbs = true
			return r
		}(),
		`"prompt":"hi","logprobs":3,"temperature":0,"seed":3`: func() sched.Request {
			r := plain("small", text, 16)
			r.LogProbs, r.Top, r.Sampling.Temperature, r.Sampling.Seed = true, 3, 0, 3
			return r
		}(),
	} {
		s := brief()
		r, answer := newSite(t, s, nil).post(t, "/v1/completions", `{"model":"small",`+body+`}`)
		require.Equal(t, 200, r.StatusCode, answer)
		got := s.requests[0]
		require.Regexp(t, "^req_[A-Z2-7]{26}-0$", got.ID)
		require.Equal(t, "127.0.0.1", got.Client)
		got.ID, got.Client = "", ""
		if want.Sampling.Seed == 0 {
			got.Sampling.Seed = 0
		}
		require.Equal(t, want, got, body)
	}
}

// A seed that was drawn is another each time, and a trace reports the one in use.
func TestSeeds(t *testing.T) {
	s := brief()
	site := newSite(t, s, nil)
	for range 2 {
		_, body := site.post(t, "/v1/chat/completions", chatBody("pair", `"routing":{"trace":true}`))
		last := s.requests[len(s.requests)-1].Sampling.Seed
		require.Contains(t, body, fmt.Sprintf(`"seed":%d`, last))
		require.Contains(t, site.log.String(), fmt.Sprintf(`"seed":%d`, last))
	}
	require.NotEqual(t, s.requests[0].Sampling.Seed, s.requests[1].Sampling.Seed)
	_, body := site.post(t, "/v1/chat/completions", chatBody("pair", `"routing":{"trace":true},"seed":-5`))
	require.Contains(t, body, `"seed":-5`)
}

// recorder notes the conversation that it was asked to render.
type recorder struct {
	bytesText
	got chat.Request
}

func (r *recorder) Prompt(q chat.Request) ([]int32, error) {
	r.got = q
	return []int32{5}, r.err
}

func TestConversationReachesTheTemplate(t *testing.T) {
	site := newSite(t, brief(), nil)
	text := &recorder{bytesText: theText}
	list := targets()
	list[0].Text = text
	site.api.Ready(list, brief())
	r, body := site.post(t, "/v1/chat/completions", `{"model":"pair","chat_template_kwargs":{"enable_thinking":false},"messages":[
		{"role":"developer","content":"d"},{"role":"user","name":"ann","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},
		{"role":"assistant","content":"c","reasoning_content":"hm"},{"role":"user","content":""}]}`)
	require.Equal(t, 200, r.StatusCode, body)
	require.Equal(t, chat.Request{
		Messages: []chat.Message{
			{Role: "developer", Content: chat.Text("d")},
			{Role: "user", Name: "ann", Content: chat.Content{{Type: "text", Text: "a"}, {Type: "text", Text: "b"}}},
			{Role: "assistant", Content: chat.Text("c"), ReasoningContent: "hm"},
			{Role: "user", Content: chat.Text("")},
		},
		Vars: map[string]any{"enable_thinking": false},
		Most: 1023, // of a context of 1024 the answer needs one
	}, text.got)

	for _, c := range []struct {
		err         error
		status      int
		param, says string
	}{
		{&chat.RaisedError{Message: "roles must alternate"}, 400, `"messages"`, "roles must alternate"},
		{&chat.InputError{Field: "messages[2].content", Err: fmt.Errorf("is odd")}, 400, `"messages[2].content"`, `"messages[2].content: is odd"`},
		{&chat.InputError{Field: "template variable messages", Err: fmt.Errorf("is set by the server")}, 400, `"chat_template_kwargs"`, `"chat_template_kwargs: template variable messages: is set by the server"`},
		{&models.NoChatError{Path: "/secret", Err: models.ErrNoTemplate}, 400, `"model"`, "cannot chat: the file has no chat template (tokenizer.chat_template). Use /v1/completions"},
		{&models.NoChatError{Path: "/secret", Err: errors.New("chat template: line 3: no")}, 400, `"model"`, "cannot chat: chat template: line 3: no. Use /v1/completions"},
		{&chat.LongError{AtLeast: 1500, Most: 1023}, 400, `"messages"`, `messages: at least 1500 prompt tokens; the context of \"pair\" is 1024`},
		{fmt.Errorf("the template panics"), 500, "null", "the template panics"},
	} {
		text.err = c.err
		r, body := site.post(t, "/v1/chat/completions", chatBody("pair", ""))
		require.Equal(t, c.status, r.StatusCode, body)
		require.Contains(t, body, c.says)
		require.Contains(t, body, `"param":`+c.param)
	}
}

// Clients are told apart by what they are named, else by their address: headers, which anybody may write, say nothing.
func TestWhoAsks(t *testing.T) {
	s := brief()
	site := newSite(t, s, nil)
	for _, header := range [][2]string{{}, {"Authorization", "Bearer one"}, {"X-API-Key", "another"}, {"X-Forwarded-For", "10.0.0.1"}} {
		q, err := http.NewRequest(http.MethodPost, site.URL+"/v1/completions", strings.NewReader(completionBody("pair", "")))
		require.NoError(t, err)
		if header[0] != "" {
			q.Header.Set(header[0], header[1])
		}
		r, err := site.Client().Do(q)
		require.NoError(t, err)
		require.Equal(t, 200, r.StatusCode, read(t, r))
	}
	named := httptest.NewRequest(http.MethodPost, "/v1/completions", strings.NewReader(completionBody("pair", "")))
	site.api.ServeHTTP(httptest.NewRecorder(), named.WithContext(WithClient(t.Context(), "somebody")))
	require.Len(t, s.requests, 5)
	for _, r := range s.requests[:4] {
		require.Equal(t, "127.0.0.1", r.Client)
	}
	require.Equal(t, "somebody", s.requests[4].Client)
}
