package api

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/sched"
)

// problem is the body of an error.
type problem struct {
	Error struct {
		Message, Type string
		Param, Code   *string
	}
}

func requireProblem(t *testing.T, r *http.Response, body string, status int, param, code, message string) {
	t.Helper()
	require.Equal(t, status, r.StatusCode, body)
	require.Equal(t, "application/json; charset=utf-8", r.Header.Get("Content-Type"))
	var p problem
	unmarshal(t, body, &p)
	if param == "" {
		require.Nil(t, p.Error.Param, body)
	} else {
		require.NotNil(t, p.Error.Param, body)
		require.Equal(t, param, *p.Error.Param)
	}
	require.NotNil(t, p.Error.Code, body)
	require.Equal(t, code, *p.Error.Code)
	require.Contains(t, p.Error.Message, message)
	want := "invalid_request_error"
	switch {
	case status >= 500:
		want = "server_error"
	case status == http.StatusTooManyRequests:
		want = "rate_limit_error"
	}
	require.Equal(t, want, p.Error.Type)
}

func TestRefusedRequests(t *testing.T) {
	site := newSite(t, brief(), func(o *Options) { o.MaxBody = 20_000 })
	chat, text := "/v1/chat/completions", "/v1/completions"
	long := strings.Repeat("x", 1024)
	for _, c := range []struct {
		path, body           string
		status               int
		param, code, message string
	}{
		{chat, "{", 400, "", "invalid_json", "line 1, column 2"},
		{chat, chatBody("pair", `"temperature":"hot"`), 400, "temperature", "invalid_type", "expected a number, found a string"},
		{chat, chatBody("pair", `"tools":[{}]`), 400, "tools[0].type", "missing_required_parameter", "is required"},
		{chat, chatBody("pair", `"tools":[{"type":"function","function":{"name":"f"}}]`), 400, "tools", "unsupported_value", "is not known"},
		{chat, chatBody("pair", `"response_format":{"type":"json_schema","json_schema":{"name":"x","schema":{"properties":{"a":{"multipleOf":2}}}}}`), 400,
			"response_format.json_schema.schema.properties.a.multipleOf", "unsupported_value", "this keyword is not supported"},
		{chat, chatBody("pair", `"response_format":{"type":"json_object"},"ignore_eos":true`), 400, "ignore_eos", "invalid_value", "not possible with response_format"},
		{text, completionBody("pair", `"response_format":{"type":"json_schema","json_schema":{"schema":{"type":"text"}}}`), 400,
			"response_format.json_schema.schema.type", "unsupported_value", "must be one of"},
		{chat, chatBody("piar", ""), 404, "model", "model_not_found", `there is no "piar"; did you mean pair?; there are: org/large, pair, small`},
		{text, completionBody("gpt-7", ""), 404, "model", "model_not_found", `there is no "gpt-7"; there are`},
		{chat, fmt.Sprintf(`{"model":"pair","messages":[{"role":"user","content":%q}]}`, long), 400, "messages", "context_length_exceeded", `1025 prompt tokens; the context of "pair" is 1024`},
		{text, fmt.Sprintf(`{"model":"pair","prompt":%q}`, long), 400, "prompt", "context_length_exceeded", `1024 prompt tokens; the context of "pair" is 1024`},
		{text, fmt.Sprintf(`{"model":"small","prompt":%q}`, strings.Repeat("x", 1500)), 400, "prompt", "context_length_exceeded",
			`1500 prompt tokens; the memory for the KV cache limits the context of "small" to 1500 of 2048, of which the answer needs at least 1. Shorten the input, or have the operator raise kv_memory`},
		{text, fmt.Sprintf(`{"model":"small","prompt":%q}`, strings.Repeat("x", 2048)), 400, "prompt", "context_length_exceeded", `2048 prompt tokens; the memory for the KV cache limits the context of "small" to 1500`},
		{text, fmt.Sprintf(`{"model":"pair","prompt":["a",%q]}`, strings.Repeat("x", 4096)), 400, "prompt[1]", "context_length_exceeded", `at least 1024 prompt tokens; the context of "pair" is 1024`},
		{text, fmt.Sprintf(`{"model":"small","prompt":%q}`, strings.Repeat("x", 6000)), 400, "prompt", "context_length_exceeded",
			`at least 1500 prompt tokens; the memory for the KV cache limits the context of "small" to 1500 of 2048`},
		{text, fmt.Sprintf(`{"model":"pair","prompt":["a",%q]}`, long), 400, "prompt[1]", "context_length_exceeded", "1024 prompt tokens"},
		{text, `{"model":"pair","prompt":""}`, 400, "prompt", "invalid_value", "is empty"},
		{text, `{"model":"pair","prompt":[5,500]}`, 400, "prompt[1]", "invalid_value", `there is no token 500; ids of "pair" are 0 to 499`},
		{text, `{"model":"pair","prompt":[[5],[6,501]]}`, 400, "prompt[1][1]", "invalid_value", "there is no token 501"},
		{chat, chatBody("pair", `"logit_bias":{"500":1}`), 400, "logit_bias", "invalid_value", "there is no token 500"},
		{chat, chatBody("pair", `"routing":{"algorithm":"stitch"}`), 400, "routing.algorithm", "invalid_value", `unknown routing algorithm "stitch"`},
		{chat, chatBody("pair", `"routing":{"algorithm":"single"}`), 400, "routing.algorithm", "invalid_value", "serves one model"},
		{chat, chatBody("pair", `"routing":{"threshold":-1}`), 400, "routing.threshold", "invalid_value", "threshold"},
		{chat, chatBody("pair", `"routing":{"weights":[1,1]}`), 400, "routing.weights", "invalid_value", "takes no weights"},
		{chat, chatBody("pair", `"routing":{"strategy":"x"}`), 400, "routing.strategy", "invalid_value", "has no strategies"},
		{chat, chatBody("pair", `"routing":{"algorithm":"ensemble","weights":[1]}`), 400, "routing.weights", "invalid_value", "1 weights for 2 models"},
		{chat, chatBody("pair", `"routing":{"algorithm":"co-llm","strategy":"compose"}`), 400, "routing.strategy", "invalid_value", "compose"},
		{chat, chatBody("pair", `"routing":{"draft":3}`), 400, "routing.draft", "invalid_value", "drafts no tokens"},
		{chat, chatBody("pair", `"routing":{"algorithm":"speculative","draft":17}`), 400, "routing.draft", "invalid_value", "from 1 to 16, not 17"},
		{chat, chatBody("pair", `"routing":{"algorithm":"speculative","draft":1.5}`), 400, "routing.draft", "invalid_type", "a whole number"},
		{chat, chatBody("pair", `"routing":{"algorithm":"speculative","threshold":0.1}`), 400, "routing.threshold", "invalid_value", "takes no threshold"},
		{chat, chatBody("pair", `"routing":{"algorithm":"speculative","large_share":0.1}`), 400, "routing.large_share", "invalid_value", "compares no score"},
		{chat, chatBody("pair", `"routing":{"large_share":1.1}`), 400, "routing.large_share", "invalid_value", "from 0 to 1, not 1.1"},
		{chat, chatBody("pair", `"routing":{"large_share":0.2,"threshold":0.1}`), 400, "routing.large_share", "invalid_value", "give one of them"},
		{chat, chatBody("pair", `"routing":{"large_share":0.2,"algorithm":"random"}`), 400, "routing.large_share", "invalid_value", "compares no score"},
		{chat, chatBody("small", `"routing":{"large_share":0.2}`), 400, "routing.large_share", "invalid_value", "compares no score"},
		{chat, chatBody("small", `"routing":{"threshold":0.5}`), 400, "routing.threshold", "invalid_value", "takes no threshold"},
		{chat, chatBody("small", `"routing":{"algorithm":"r-stitch"}`), 400, "routing.algorithm", "invalid_value", "r-stitch"},
		{chat, `{"model":"` + strings.Repeat("x", 20_000) + `"}`, 413, "", "request_too_large", "larger than 20000 bytes"},
	} {
		r, body := site.post(t, c.path, c.body)
		requireProblem(t, r, body, c.status, c.param, c.code, c.message)
	}
	// None of it has reached the engine, and the next request is answered.
	r, _ := site.post(t, chat, chatBody("pair", ""))
	require.Equal(t, 200, r.StatusCode)
}

func TestPathsAndMethods(t *testing.T) {
	site := newSite(t, brief(), nil)
	r, body := site.get(t, "/v1/nothing")
	requireProblem(t, r, body, 404, "", "not_found", "there is nothing at /v1/nothing")
	r, body = site.post(t, "/v1/chat/completions/", "{}")
	requireProblem(t, r, body, 404, "", "not_found", "there is nothing at")
	r, body = site.get(t, "/v1/chat/completions")
	requireProblem(t, r, body, 405, "", "method_not_allowed", "GET is not allowed at /v1/chat/completions; allowed: POST")
	require.Equal(t, "POST", r.Header.Get("Allow"))
	r, body = site.post(t, "/v1/models/small", "{}")
	requireProblem(t, r, body, 405, "", "method_not_allowed", "POST is not allowed at /v1/models/small; allowed: GET")
	r, body = site.post(t, "/v1/models", "{}")
	requireProblem(t, r, body, 405, "", "method_not_allowed", "POST is not allowed")
	r, body = site.get(t, "/v1/models/nobody")
	requireProblem(t, r, body, 404, "model", "model_not_found", `there is no "nobody"`)
}

func TestCompressedBody(t *testing.T) {
	site := newSite(t, brief(), nil)
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write([]byte(chatBody("pair", "")))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	q, err := http.NewRequest(http.MethodPost, site.URL+"/v1/chat/completions", &b)
	require.NoError(t, err)
	q.Header.Set("Content-Encoding", "gzip")
	r, err := site.Client().Do(q)
	require.NoError(t, err)
	requireProblem(t, r, read(t, r), 415, "", "unsupported_content_encoding", "gzip is not supported")
}

// What the engine refuses becomes an answer of the right status.
func TestEngineRefuses(t *testing.T) {
	for _, c := range []struct {
		err                  error
		status               int
		param, code, message string
		retry                string
	}{
		{fmt.Errorf("%w: 64 requests are being answered and 256 wait", sched.ErrQueueFull), 503, "", "queue_full", "256 wait", "1"},
		{&sched.QueueFullError{Live: 64, Queued: 256, Retry: time.Second}, 503, "", "queue_full", "256 wait", "1"},
		{&sched.QueueFullError{Live: 64, Queued: 256, Own: true, Retry: 1500 * time.Millisecond}, 429, "", "rate_limit_exceeded", "of this client", "2"},
		{fmt.Errorf("%w: the KV cache holds 64 tokens", sched.ErrTooLong), 400, "messages", "context_length_exceeded", "the KV cache holds 64 tokens", ""},
		{sched.ErrClosed, 503, "", "shutting_down", "shutting down", "5"},
		{fmt.Errorf("%w: odd", sched.ErrInvalid), 400, "", "invalid_value", "odd", ""},
		{fmt.Errorf("%w: %w", sched.ErrInvalid, &sched.HeadError{Err: errors.New("there is no head")}), 400, "routing.algorithm", "invalid_value",
			"routing.algorithm: there is no head", ""},
		{sched.ErrUnknownTarget, 404, "model", "model_not_found", "not served any more", ""},
		{errors.New("boom"), 500, "", "internal_error", "boom", ""},
	} {
		for _, stream := range []string{"false", "true"} {
			r, body := newSite(t, &script{refuse: c.err}, nil).post(t, "/v1/chat/completions", chatBody("pair", `"stream":`+stream))
			requireProblem(t, r, body, c.status, c.param, c.code, c.message)
			require.Equal(t, c.retry, r.Header.Get("Retry-After"))
		}
	}
}

// A model that fails in the middle: 500, or in a stream an event with the error as the last thing.
func TestModelFails(t *testing.T) {
	failed := &script{events: []sched.Event{
		{Text: "a", Tokens: []sched.Token{token(16, "a", 0, -1)}},
		{Finish: sched.FinishError, Err: &sched.ModelError{Model: "large", Err: errors.New("out of memory")}},
	}}
	site := newSite(t, failed, nil)
	r, body := site.post(t, "/v1/chat/completions", chatBody("pair", ""))
	requireProblem(t, r, body, 500, "", "internal_error", `model "large": out of memory`)

	r, body = site.post(t, "/v1/chat/completions", chatBody("pair", `"stream":true`))
	require.Equal(t, 200, r.StatusCode)
	list := events(t, body)
	require.Len(t, list, 3) // role, "a", the error
	require.Contains(t, list[1], `"content":"a"`)
	var p problem
	unmarshal(t, list[2], &p)
	require.Contains(t, p.Error.Message, "out of memory")
	require.Equal(t, "server_error", p.Error.Type)
	require.Contains(t, site.log.String(), `"level":"error"`)
}

func TestRequestTimeout(t *testing.T) {
	endless := &script{events: []sched.Event{{Text: "a", Tokens: []sched.Token{token(16, "a", 0, -1)}}}}
	site := newSite(t, endless, func(o *Options) { o.RequestTimeout = 50 * time.Millisecond })
	r, body := site.post(t, "/v1/chat/completions", chatBody("pair", ""))
	requireProblem(t, r, body, 504, "", "timeout", "longer than this server allows")
	_, body = site.post(t, "/v1/chat/completions", chatBody("pair", `"stream":true`))
	list := events(t, body)
	require.Contains(t, list[len(list)-1], `"code":"timeout"`)
	endless.ended.Wait()
}

// The engine ends a request by itself only when it is being closed.
func TestEngineCancels(t *testing.T) {
	cancelled := &script{events: []sched.Event{{Finish: sched.FinishCancelled}}}
	site := newSite(t, cancelled, nil)
	r, body := site.post(t, "/v1/chat/completions", chatBody("pair", ""))
	requireProblem(t, r, body, 503, "", "shutting_down", "shutting down")
	_, body = site.post(t, "/v1/chat/completions", chatBody("pair", `"stream":true`))
	list := events(t, body)
	require.Contains(t, list[len(list)-1], `"code":"shutting_down"`)
}

// bomb is an engine that panics.
type bomb struct{ in string }

func (b bomb) Submit(context.Context, sched.Request) (Stream, error) {
	if b.in == "submit" {
		panic("boom in submit")
	}
	return b, nil
}

func (b bomb) Snapshot() sched.Snapshot { return sched.Snapshot{} }

func (b bomb) Summary() sched.Summary { panic("boom in summary") }

func (b bomb) Next(context.Context) (sched.Event, error) {
	return sched.Event{Text: "a", Finish: sched.FinishStop}, nil
}

// A panic is an error of its request alone. When part of a stream is out, the connection ends without [DONE].
func TestPanics(t *testing.T) {
	for _, in := range []string{"submit", "summary"} {
		site := newSite(t, bomb{in}, nil)
		r, body := site.post(t, "/v1/chat/completions", chatBody("pair", ""))
		requireProblem(t, r, body, 500, "", "internal_error", "internal error; the server's log has the details of request req_")
		require.Contains(t, site.log.String(), "boom in "+in)
		require.NotContains(t, body, "boom")
	}
	site := newSite(t, bomb{"summary"}, nil)
	r, err := site.Client().Post(site.URL+"/v1/chat/completions", "application/json", strings.NewReader(chatBody("pair", `"stream":true`)))
	require.NoError(t, err)
	defer r.Body.Close()
	var b bytes.Buffer
	_, err = b.ReadFrom(r.Body)
	require.Error(t, err, "the end of the stream must not look whole")
	require.NotContains(t, b.String(), "[DONE]")

	site.api.Ready(targets(), brief())
	r2, _ := site.post(t, "/v1/chat/completions", chatBody("pair", ""))
	require.Equal(t, 200, r2.StatusCode)
}

// Logs have the facts of a request, and none of its text.
func TestLogs(t *testing.T) {
	s := story()
	site := newSite(t, s, nil)
	secret := "MY-SECRET"
	_, _ = site.post(t, "/v1/chat/completions", fmt.Sprintf(`{"model":"pair","messages":[{"role":"user","content":%q}],"stop":%q,"user":%q}`, secret, secret, secret))
	_, _ = site.post(t, "/v1/chat/completions", fmt.Sprintf(`{"model":"pair","messages":[{"role":%q,"content":"a"}]}`, secret))
	_, _ = site.post(t, "/v1/completions", fmt.Sprintf(`{"model":"pair","prompt":%q,"echo":true}`, secret))
	_, _ = site.post(t, "/v1/completions", fmt.Sprintf(`{"model":"pair","prompt":[%q`, secret))
	require.Eventually(t, func() bool { return strings.Count(site.log.String(), `"message":"request"`) == 4 }, 5*time.Second, time.Millisecond)
	log := site.log.String()
	require.NotContains(t, log, secret)
	require.NotContains(t, log, "aé")
	first := strings.SplitN(log, "\n", 2)[0]
	for _, want := range []string{
		`"status":200`, `"path":"/v1/chat/completions"`, `"model":"pair"`, `"algorithm":"r-stitch"`, `"prompt_tokens":3`, `"completion_tokens":4`,
		`"tokens":{"large":2,"small":2}`, `"discarded":1`, `"handoffs":1`, `"finish":"stop"`, `"stream":false`, `"seed":`, `"first_token_ms":`, `"request":"req_`,
	} {
		require.Contains(t, first, want)
	}
	require.Contains(t, log, `"code":"unsupported_parameter","param":"echo"`)
}
