package openaigo

import (
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/shared"
	"github.com/stretchr/testify/require"
)

// What is not supported is refused by its name, never ignored.
func TestRefusedChats(t *testing.T) {
	type params = openai.ChatCompletionNewParams
	for _, c := range []struct {
		param, code string
		status      int
		change      func(*params)
	}{
		{"model", "model_not_found", 404, func(p *params) { p.Model = "nobody" }},
		{"model", "missing_required_parameter", 400, func(p *params) { p.Model = "" }},
		{"messages", "missing_required_parameter", 400, func(p *params) { p.Messages = []openai.ChatCompletionMessageParamUnion{} }},
		{"messages", "context_length_exceeded", 400, func(p *params) { p.Messages[0] = openai.UserMessage(strings.Repeat("5 plus ", 3000)) }},
		{"messages[0].content[0].type", "unsupported_value", 400, func(p *params) {
			p.Messages[0] = openai.UserMessage([]openai.ChatCompletionContentPartUnionParam{openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{URL: "data:,"})})
		}},
		{"temperature", "invalid_value", 400, func(p *params) { p.Temperature = openai.Float(3) }},
		{"top_p", "invalid_value", 400, func(p *params) { p.TopP = openai.Float(1.5) }},
		{"n", "invalid_value", 400, func(p *params) { p.N = openai.Int(200) }},
		{"top_logprobs", "invalid_value", 400, func(p *params) { p.Logprobs, p.TopLogprobs = openai.Bool(true), openai.Int(21) }},
		{"logit_bias", "invalid_value", 400, func(p *params) { p.LogitBias = map[string]int64{"99999999": 1} }},
		{"store", "unsupported_parameter", 400, func(p *params) { p.Store = openai.Bool(true) }},
		{"service_tier", "unsupported_parameter", 400, func(p *params) { p.ServiceTier = openai.ChatCompletionNewParamsServiceTierFlex }},
		{"reasoning_effort", "unsupported_parameter", 400, func(p *params) { p.ReasoningEffort = shared.ReasoningEffortLow }},
		{"verbosity", "unsupported_parameter", 400, func(p *params) { p.Verbosity = openai.ChatCompletionNewParamsVerbosityLow }},
		{"modalities", "unsupported_parameter", 400, func(p *params) { p.Modalities = []string{"text", "audio"} }},
		{"audio", "unsupported_parameter", 400, func(p *params) { p.Audio = openai.ChatCompletionAudioParam{Format: "wav"} }},
		{"prediction", "unsupported_parameter", 400, func(p *params) { p.Prediction.Content.OfString = openai.String("x") }},
		{"web_search_options", "unsupported_parameter", 400, func(p *params) { p.WebSearchOptions.SearchContextSize = "low" }},
		{"functions", "unsupported_parameter", 400, func(p *params) { p.Functions = []openai.ChatCompletionNewParamsFunction{{Name: "f"}} }},
		{"function_call", "unsupported_parameter", 400, func(p *params) {
			p.FunctionCall.OfFunctionCallOption = &openai.ChatCompletionFunctionCallOptionParam{Name: "f"}
		}},
		{"temprature", "unknown_parameter", 400, func(p *params) { p.SetExtraFields(map[string]any{"temprature": 1}) }},
		{"routing.threshold", "invalid_value", 400, func(p *params) { p.SetExtraFields(map[string]any{"routing": map[string]any{"threshold": 7}}) }},
	} {
		t.Run(c.param+"/"+c.code, func(t *testing.T) {
			p := ask(demo, problem)
			c.change(&p)
			_, err := client().Chat.Completions.New(t.Context(), p)
			requireRefused(t, err, c.status, c.param, c.code)
			stream := client().Chat.Completions.NewStreaming(t.Context(), p)
			require.False(t, stream.Next())
			requireRefused(t, stream.Err(), c.status, c.param, c.code)
		})
	}
	_, err := client().Chat.Completions.New(t.Context(), ask(demo, problem))
	require.NoError(t, err, "the server goes on")
}

func TestRefusedCompletions(t *testing.T) {
	type params = openai.CompletionNewParams
	for _, c := range []struct {
		param, code string
		change      func(*params)
	}{
		{"echo", "unsupported_parameter", func(p *params) { p.Echo = openai.Bool(true) }},
		{"suffix", "unsupported_parameter", func(p *params) { p.Suffix = openai.String("x") }},
		{"best_of", "unsupported_value", func(p *params) { p.BestOf = openai.Int(2) }},
		{"prompt", "missing_required_parameter", func(p *params) { p.Prompt = openai.CompletionNewParamsPromptUnion{} }},
	} {
		p := complete(text("Sam"))
		c.change(&p)
		_, err := client().Completions.New(t.Context(), p)
		requireRefused(t, err, 400, c.param, c.code)
	}
}

// What ends an answer in the middle of its stream is an error to the client: here the server, which lets answers go on for no time after
// it was told to end.
func TestErrorInAStream(t *testing.T) {
	models, routes := pair()
	s, err := start(t.TempDir(), object{"models": models, "routes": routes, "server": object{"shutdown_timeout": "1ms"}})
	require.NoError(t, err)
	p := ask(demo, problem)
	p.N, p.MaxCompletionTokens = openai.Int(128), openai.Int(400)
	p.SetExtraFields(map[string]any{"ignore_eos": true})
	stream := clientOf(s.address).Chat.Completions.NewStreaming(t.Context(), p)
	said := false
	for !said && stream.Next() {
		choices := stream.Current().Choices
		said = len(choices) > 0 && choices[0].Delta.Content != ""
	}
	require.True(t, said)
	require.NoError(t, s.stop())
	for stream.Next() { // what was on its way
	}
	require.ErrorContains(t, stream.Err(), "the server is shutting down")
}

func requireRefused(t *testing.T, err error, status int, param, code string) {
	t.Helper()
	var refusal *openai.Error
	require.ErrorAs(t, err, &refusal)
	require.Equal(t, status, refusal.StatusCode)
	require.Equal(t, param, refusal.Param, refusal.Message)
	require.Equal(t, code, refusal.Code, refusal.Message)
	require.Equal(t, "invalid_request_error", refusal.Type)
	require.NotEmpty(t, refusal.Message)
}
