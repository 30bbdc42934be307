// The official client takes the compiler minutes under the race detector, and finds nothing there that the other tests
// of this package do not.

//go:build !race

package api

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/sched"
)

// official is OpenAI's own client, with nothing set but the address.
func official(s *site) openai.Client {
	return openai.NewClient(option.WithBaseURL(s.URL+"/v1"), option.WithAPIKey("any"), option.WithHTTPClient(s.Client()), option.WithMaxRetries(0))
}

func question(model string) openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{
		Model: model, Messages: []openai.ChatCompletionMessageParamUnion{openai.SystemMessage("be brief"), openai.UserMessage("hi")},
		Seed: openai.Int(7), MaxTokens: openai.Int(40), Temperature: openai.Float(0),
	}
}

func TestOfficialClient(t *testing.T) {
	e := newEngine(t, nil)
	site := newSite(t, EngineOf(e), nil)
	client := official(site)
	ctx := t.Context()

	page, err := client.Models.List(ctx)
	require.NoError(t, err)
	require.Equal(t, []string{"pair", "small", "org/large"}, []string{page.Data[0].ID, page.Data[1].ID, page.Data[2].ID})
	model, err := client.Models.Get(ctx, "org/large")
	require.NoError(t, err)
	require.Equal(t, "org/large", model.ID)

	p := question("pair")
	p.Logprobs, p.TopLogprobs = openai.Bool(true), openai.Int(2)
	whole, err := client.Chat.Completions.New(ctx, p)
	require.NoError(t, err)
	require.Equal(t, "pair", whole.Model)
	require.Equal(t, whole.Usage.TotalTokens, whole.Usage.PromptTokens+whole.Usage.CompletionTokens)
	require.NotEmpty(t, whole.Choices[0].Logprobs.Content)
	require.Len(t, whole.Choices[0].Logprobs.Content[0].TopLogprobs, 2)
	var routing struct{ Tokens map[string]int64 }
	require.NoError(t, json.Unmarshal([]byte(whole.JSON.ExtraFields["routing"].Raw()), &routing))
	require.Equal(t, whole.Usage.CompletionTokens, routing.Tokens["small"]+routing.Tokens["org/large"])
	require.Positive(t, routing.Tokens["small"])
	require.Positive(t, routing.Tokens["org/large"])

	// The stream, put together by the client's own means, is the same answer.
	p = question("pair")
	p.StreamOptions = openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)}
	stream := client.Chat.Completions.NewStreaming(ctx, p)
	var all openai.ChatCompletionAccumulator
	for stream.Next() {
		require.True(t, all.AddChunk(stream.Current()))
	}
	require.NoError(t, stream.Err())
	require.Equal(t, whole.Choices[0].Message.Content, all.Choices[0].Message.Content)
	require.Equal(t, whole.Choices[0].FinishReason, all.Choices[0].FinishReason)
	require.Equal(t, whole.Usage.TotalTokens, all.Usage.TotalTokens)

	// A stop string ends the answer before it.
	text := whole.Choices[0].Message.Content
	stop := text[len(text)/2:][:2]
	p = question("pair")
	p.Stop = openai.ChatCompletionNewParamsStopUnion{OfString: openai.String(stop)}
	stopped, err := client.Chat.Completions.New(ctx, p)
	require.NoError(t, err)
	require.Equal(t, text[:strings.Index(text, stop)], stopped.Choices[0].Message.Content)
	require.Equal(t, "stop", stopped.Choices[0].FinishReason)

	completion, err := client.Completions.New(ctx, openai.CompletionNewParams{
		Model: "small", Prompt: openai.CompletionNewParamsPromptUnion{OfArrayOfTokens: []int64{20, 21}}, MaxTokens: openai.Int(5), Logprobs: openai.Int(1), Temperature: openai.Float(0),
	})
	require.NoError(t, err)
	require.Equal(t, int64(2), completion.Usage.PromptTokens)
	require.NotEmpty(t, completion.Choices[0].Logprobs.TokenLogprobs)
}

func TestOfficialClientReadsErrors(t *testing.T) {
	e := newEngine(t, nil)
	client := official(newSite(t, EngineOf(e), nil))
	for _, c := range []struct {
		change      func(*openai.ChatCompletionNewParams)
		status      int
		code, param string
	}{
		{func(p *openai.ChatCompletionNewParams) { p.Model = "nobody" }, 404, "model_not_found", "model"},
		{func(p *openai.ChatCompletionNewParams) { p.Temperature = openai.Float(3) }, 400, "invalid_value", "temperature"},
		{func(p *openai.ChatCompletionNewParams) { p.N = openai.Int(200) }, 400, "invalid_value", "n"},
		{func(p *openai.ChatCompletionNewParams) { p.Store = openai.Bool(true) }, 400, "unsupported_parameter", "store"},
		{func(p *openai.ChatCompletionNewParams) { p.Messages[1] = openai.UserMessage(strings.Repeat("x", 3000)) }, 400, "context_length_exceeded", "messages"},
	} {
		p := question("pair")
		c.change(&p)
		_, err := client.Chat.Completions.New(t.Context(), p)
		var problem *openai.Error
		require.ErrorAs(t, err, &problem)
		require.Equal(t, c.status, problem.StatusCode)
		require.Equal(t, c.code, problem.Code)
		require.Equal(t, c.param, problem.Param)
		require.NotEmpty(t, problem.Message)
	}

	failing := official(newSite(t, &script{events: []sched.Event{
		{Text: "a", Tokens: []sched.Token{token(16, "a", 0, -1)}},
		{Finish: sched.FinishError, Err: errors.New("out of memory")},
	}}, nil))
	stream := failing.Chat.Completions.NewStreaming(t.Context(), question("pair"))
	n := 0
	for stream.Next() {
		n++
	}
	require.Equal(t, 2, n, "what came before the error arrives")
	require.ErrorContains(t, stream.Err(), "out of memory")
}

func TestOfficialClientCancels(t *testing.T) {
	e := newEngine(t, nil)
	client := official(newSite(t, EngineOf(e), nil))
	p := question("pair")
	p.MaxTokens = openai.Int(900)
	p.SetExtraFields(map[string]any{"ignore_eos": true})

	stream := client.Chat.Completions.NewStreaming(t.Context(), p)
	for range 3 {
		require.True(t, stream.Next())
	}
	require.NoError(t, stream.Close())
	requireFreed(t, e)

	ctx, cancel := context.WithCancel(t.Context())
	stream = client.Chat.Completions.NewStreaming(ctx, p)
	require.True(t, stream.Next())
	cancel()
	for stream.Next() { // what was on its way
	}
	require.ErrorIs(t, stream.Err(), context.Canceled)
	requireFreed(t, e)
	require.NoError(t, stream.Close())
}
