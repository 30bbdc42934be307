package api

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTexts(t *testing.T) {
	site := newSite(t, brief(), nil)
	for _, c := range []struct{ path, body, want string }{
		{"/tokenize", `{"content":"ab"}`, `{"model":"pair","tokens":[113,114],"count":2}`},
		{"/tokenize", `{"model":"org/large","content":""}`, `{"model":"org/large","tokens":[],"count":0}`},
		{"/tokenize", `{"content":"<s>"}`, `{"model":"pair","tokens":[1],"count":1}`},
		{"/tokenize", `{"content":"<s>","parse_special":false,"add_special":true}`, `{"model":"pair","tokens":[1,76,131,78],"count":4}`},
		// The pieces of 113 and 24 are b and the first byte of é.
		{"/tokenize", `{"content":"a","with_pieces":true}`, `{"model":"pair","tokens":[{"id":113,"piece":"b"}],"count":1}`},
		{"/tokenize", `{"content":"\b","with_pieces":true}`, `{"model":"pair","tokens":[{"id":24,"piece":[195]}],"count":1}`},
		{"/detokenize", `{"tokens":[16,17,2]}`, `{"model":"pair","content":"ab<|2|>"}`},
		{"/detokenize", `{"model":"small","tokens":[]}`, `{"model":"small","content":""}`},
		{"/apply-template", `{"messages":[{"role":"user","content":"a"}]}`, `{"model":"pair","prompt":"<user>a<assistant>","tokens":[3,113]}`},
		{"/apply-template", `{"messages":[{"role":"user","content":"a"}],"add_generation_prompt":false}`, `{"model":"pair","prompt":"<user>a","tokens":[3,113]}`},
	} {
		r, body := site.post(t, c.path, c.body)
		require.Equal(t, 200, r.StatusCode, body)
		require.JSONEq(t, c.want, body)
	}
}

func TestTextsRefused(t *testing.T) {
	site := newSite(t, brief(), nil)
	for _, c := range []struct {
		path, body, param, code, message string
	}{
		{"/tokenize", `{}`, "content", "missing_required_parameter", "is required"},
		{"/tokenize", `{"content":null}`, "content", "missing_required_parameter", "is required"},
		{"/tokenize", `{"content":["a"]}`, "content", "invalid_type", "expected a string, found an array"},
		{"/tokenize", `{"content":"a","prompt":"b"}`, "prompt", "unknown_parameter", "unknown field"},
		{"/tokenize", `{"content":"\ud800"}`, "content", "invalid_json", "surrogate"},
		{"/detokenize", `{}`, "tokens", "missing_required_parameter", "is required"},
		{"/detokenize", `{"tokens":"a"}`, "tokens", "invalid_type", "expected an array of token ids"},
		{"/detokenize", `{"tokens":[1,500]}`, "tokens[1]", "invalid_value", "there is no token 500"},
		{"/detokenize", `{"tokens":[-1]}`, "tokens[0]", "invalid_value", "-1 is not a token id"},
		{"/apply-template", `{"messages":[]}`, "messages", "missing_required_parameter", "at least one message"},
		{"/apply-template", `{"messages":[{"role":"x","content":"a"}]}`, "messages[0].role", "invalid_value", "must be"},
	} {
		r, body := site.post(t, c.path, c.body)
		requireProblem(t, r, body, 400, c.param, c.code, c.message)
	}
	r, body := site.post(t, "/tokenize", `{"model":"nobody","content":"a"}`)
	requireProblem(t, r, body, 404, "model", "model_not_found", "there is no")
}
