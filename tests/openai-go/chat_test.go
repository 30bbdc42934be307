package openaigo

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/stretchr/testify/require"
)

func TestModels(t *testing.T) {
	c := client()
	page, err := c.Models.List(t.Context())
	require.NoError(t, err)
	var names []string
	for _, m := range page.Data {
		names = append(names, m.ID)
	}
	require.Subset(t, names, []string{demo, demoSmall, demoLarge})
	m, err := c.Models.Get(t.Context(), demo)
	require.NoError(t, err)
	require.Equal(t, demo, m.ID)
	large, err := c.Models.Get(t.Context(), demoLarge)
	require.NoError(t, err)
	require.Equal(t, demoLarge, large.ID)
	require.NotEmpty(t, m.OwnedBy)
	length, err := strconv.Atoi(m.JSON.ExtraFields["context_length"].Raw())
	require.NoError(t, err)
	require.Positive(t, length)
	require.Contains(t, m.JSON.ExtraFields["route"].Raw(), `"r-stitch"`)
}

func TestAnswer(t *testing.T) {
	var response *http.Response
	answer, err := client().Chat.Completions.New(t.Context(), ask(demo, problem), option.WithResponseInto(&response))
	require.NoError(t, err)
	require.Equal(t, demo, answer.Model)
	require.Equal(t, "chat.completion", string(answer.Object))
	require.Len(t, answer.Choices, 1)
	require.Contains(t, answer.Choices[0].Message.Content, right)
	require.Equal(t, "stop", answer.Choices[0].FinishReason)
	require.Equal(t, "assistant", string(answer.Choices[0].Message.Role))
	require.Empty(t, answer.Choices[0].Message.Refusal)
	require.Equal(t, answer.Usage.TotalTokens, answer.Usage.PromptTokens+answer.Usage.CompletionTokens)
	a := account(t, answer.JSON.ExtraFields["routing"].Raw())
	require.Equal(t, answer.Usage.CompletionTokens, a.Tokens[demoSmall]+a.Tokens[demoLarge])
	require.Positive(t, a.Tokens[demoLarge])
	require.Equal(t, demo, response.Header.Get("X-Tokenrouter-Route"))
	require.NotEmpty(t, response.Header.Get("X-Request-Id"))
}

// Everything that only changes how tokens are drawn, at once: the same seed gives the same answer, another one another.
func TestSampling(t *testing.T) {
	sample := func(seed int64) string {
		p := ask(demo, problem)
		p.Temperature, p.TopP, p.Seed = openai.Float(2), openai.Float(0.9999), openai.Int(seed)
		p.PresencePenalty, p.FrequencyPenalty = openai.Float(0.1), openai.Float(-0.1)
		p.MaxCompletionTokens, p.MaxTokens = param.Opt[int64]{}, openai.Int(40)
		p.User, p.SafetyIdentifier, p.PromptCacheKey = openai.String("u"), openai.String("s"), openai.String("k")
		p.Metadata = map[string]string{"a": "b"}
		p.ServiceTier, p.Verbosity = openai.ChatCompletionNewParamsServiceTierAuto, openai.ChatCompletionNewParamsVerbosityMedium
		p.Store = openai.Bool(false)
		p.SetExtraFields(map[string]any{"top_k": 500, "min_p": 0.0001, "repetition_penalty": 1.05})
		answer, err := client().Chat.Completions.New(t.Context(), p)
		require.NoError(t, err)
		return answer.Choices[0].Message.Content
	}
	one := sample(1)
	require.Equal(t, one, sample(1))
	others := map[string]bool{}
	for seed := range int64(5) {
		others[sample(seed+2)] = true
	}
	delete(others, one)
	require.NotEmpty(t, others)
}

func TestRolesAndParts(t *testing.T) {
	needReal(t)
	p := ask(coder, "")
	p.Messages = []openai.ChatCompletionMessageParamUnion{
		openai.DeveloperMessage("You answer in one word."), openai.UserMessage("What is the capital of France?"), openai.AssistantMessage("Paris"),
		openai.UserMessage([]openai.ChatCompletionContentPartUnionParam{openai.TextContentPart("And of "), openai.TextContentPart("Italy?")}),
	}
	answer, err := client().Chat.Completions.New(t.Context(), p)
	require.NoError(t, err)
	require.Contains(t, answer.Choices[0].Message.Content, "Rome")
}

func TestLimitsAndStops(t *testing.T) {
	c := client()
	p := ask(demo, problem)
	whole, err := c.Chat.Completions.New(t.Context(), p)
	require.NoError(t, err)
	text := whole.Choices[0].Message.Content

	p.MaxCompletionTokens = openai.Int(3)
	short, err := c.Chat.Completions.New(t.Context(), p)
	require.NoError(t, err)
	require.Equal(t, "length", short.Choices[0].FinishReason)
	require.Equal(t, int64(3), short.Usage.CompletionTokens)
	require.True(t, strings.HasPrefix(text, short.Choices[0].Message.Content))

	stop := text[len(text)/2:][:3]
	for _, stops := range []openai.ChatCompletionNewParamsStopUnion{
		{OfString: openai.String(stop)}, {OfStringArray: []string{"never in it", stop}},
	} {
		p := ask(demo, problem)
		p.Stop = stops
		stopped, err := c.Chat.Completions.New(t.Context(), p)
		require.NoError(t, err)
		require.Equal(t, text[:strings.Index(text, stop)], stopped.Choices[0].Message.Content)
		require.Equal(t, "stop", stopped.Choices[0].FinishReason)
	}
}

func TestSeveralAnswers(t *testing.T) {
	p := ask(demo, problem)
	p.N, p.Temperature, p.Seed = openai.Int(3), openai.Float(2), openai.Int(5)
	answer, err := client().Chat.Completions.New(t.Context(), p)
	require.NoError(t, err)
	require.Len(t, answer.Choices, 3)
	texts := map[string]bool{}
	for i, choice := range answer.Choices {
		require.Equal(t, int64(i), choice.Index)
		texts[choice.Message.Content] = true
	}
	require.Greater(t, len(texts), 1)
}

func TestLogprobsAndBias(t *testing.T) {
	p := ask(demo, problem)
	p.Logprobs, p.TopLogprobs, p.MaxCompletionTokens = openai.Bool(true), openai.Int(4), openai.Int(20)
	p.SetExtraFields(map[string]any{"routing": map[string]any{"trace": true}})
	answer, err := client().Chat.Completions.New(t.Context(), p)
	require.NoError(t, err)
	content := answer.Choices[0].Logprobs.Content
	require.Len(t, content, 20)
	text := ""
	for _, token := range content {
		text += token.Token
		require.LessOrEqual(t, token.Logprob, 0.0)
		require.Len(t, token.TopLogprobs, 4)
		require.Equal(t, token.Token, token.TopLogprobs[0].Token, "greedy: the likeliest")
		require.Len(t, token.Bytes, len(token.Token))
	}
	require.Equal(t, answer.Choices[0].Message.Content, text)

	// Without its first token the answer begins with another.
	trace := account(t, answer.JSON.ExtraFields["routing"].Raw()).Trace
	require.Len(t, trace, 20)
	require.Equal(t, content[0].Token, trace[0].Token)
	p.LogitBias = map[string]int64{strconv.FormatInt(trace[0].ID, 10): -100}
	biased, err := client().Chat.Completions.New(t.Context(), p)
	require.NoError(t, err)
	require.NotEqual(t, trace[0].Token, biased.Choices[0].Logprobs.Content[0].Token)
}

// What of a prompt was read before is counted as cached, in whole pages of 32 tokens; the last token is always read again.
func TestCachedTokens(t *testing.T) {
	usage := func(model, suffix string) openai.CompletionUsage {
		p := ask(model, strings.Repeat("Sam has 3 apples and buys 4 more. ", 6)+suffix)
		p.MaxCompletionTokens = openai.Int(1)
		answer, err := client().Chat.Completions.New(t.Context(), p)
		require.NoError(t, err)
		require.Zero(t, answer.Usage.CompletionTokensDetails.ReasoningTokens)
		return answer.Usage
	}
	for _, model := range []string{demoSmall, demo} {
		first := usage(model, "How many?")
		require.Greater(t, first.PromptTokens, int64(64))
		again := usage(model, "How many?")
		require.Equal(t, first.PromptTokens, again.PromptTokens)
		require.Equal(t, (again.PromptTokens-1)/32*32, again.PromptTokensDetails.CachedTokens)
		other := usage(model, "What is 7 plus 9?")
		require.Positive(t, other.PromptTokensDetails.CachedTokens)
		require.Less(t, other.PromptTokensDetails.CachedTokens, other.PromptTokens)
	}
	fresh, err := client().Completions.New(t.Context(), complete(text("A prompt that nobody has asked before, which is longer than a page: one, two, three, four, five, six, seven.")))
	require.NoError(t, err)
	require.Zero(t, fresh.Usage.PromptTokensDetails.CachedTokens)
}

// The stream, put together by the client's own means, is the answer.
func TestStream(t *testing.T) {
	whole, err := client().Chat.Completions.New(t.Context(), ask(demo, problem))
	require.NoError(t, err)
	p := ask(demo, problem)
	p.StreamOptions = openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)}
	p.Logprobs, p.TopLogprobs = openai.Bool(true), openai.Int(1)
	stream := client().Chat.Completions.NewStreaming(t.Context(), p)
	var all openai.ChatCompletionAccumulator
	var last openai.ChatCompletionChunk
	finished, routed := false, ""
	for stream.Next() {
		last = stream.Current()
		require.True(t, all.AddChunk(last))
		if content, ok := all.JustFinishedContent(); ok {
			finished = true
			require.Equal(t, whole.Choices[0].Message.Content, content)
		}
		if f, ok := last.JSON.ExtraFields["routing"]; ok {
			routed = f.Raw()
		}
	}
	require.NoError(t, stream.Err())
	require.True(t, finished)
	require.Equal(t, whole.Choices[0].Message.Content, all.Choices[0].Message.Content)
	require.Equal(t, whole.Choices[0].FinishReason, all.Choices[0].FinishReason)
	require.Equal(t, whole.Usage.TotalTokens, all.Usage.TotalTokens)
	require.Empty(t, last.Choices, "the usage comes last, on a chunk of its own")
	require.Equal(t, whole.Usage.CompletionTokens, last.Usage.CompletionTokens)
	require.Equal(t, account(t, whole.JSON.ExtraFields["routing"].Raw()), account(t, routed))
	text := ""
	for _, token := range all.Choices[0].Logprobs.Content {
		text += token.Token
	}
	require.Equal(t, whole.Choices[0].Message.Content, text)
}

func TestStreamOfSeveralAnswers(t *testing.T) {
	p := ask(demo, problem)
	p.N, p.Temperature, p.Seed = openai.Int(2), openai.Float(2), openai.Int(5)
	whole, err := client().Chat.Completions.New(t.Context(), p)
	require.NoError(t, err)
	stream := client().Chat.Completions.NewStreaming(t.Context(), p)
	var all openai.ChatCompletionAccumulator
	for stream.Next() {
		require.True(t, all.AddChunk(stream.Current()))
	}
	require.NoError(t, stream.Err())
	for i := range whole.Choices {
		require.Equal(t, whole.Choices[i].Message.Content, all.Choices[i].Message.Content)
		require.Equal(t, whole.Choices[i].FinishReason, all.Choices[i].FinishReason)
	}
}

func TestRoutingOfARequest(t *testing.T) {
	for _, c := range []struct {
		threshold float64
		writer    string
	}{{1, demoSmall}, {0, demoLarge}} { // above 1 no entropy is high; at 0 every one is
		p := ask(demo, problem)
		p.SetExtraFields(map[string]any{"routing": map[string]any{"threshold": c.threshold}})
		answer, err := client().Chat.Completions.New(t.Context(), p)
		require.NoError(t, err)
		a := account(t, answer.JSON.ExtraFields["routing"].Raw())
		require.Equal(t, answer.Usage.CompletionTokens, a.Tokens[c.writer])
	}
}

// A client that leaves gets its own error, and the server goes on.
func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p := ask(demo, problem)
	p.MaxCompletionTokens = openai.Int(200)
	p.SetExtraFields(map[string]any{"ignore_eos": true})
	stream := client().Chat.Completions.NewStreaming(ctx, p)
	require.True(t, stream.Next())
	cancel()
	for stream.Next() { // what was on its way
	}
	require.ErrorIs(t, stream.Err(), context.Canceled)
	_, err := client().Chat.Completions.New(t.Context(), ask(demo, problem))
	require.NoError(t, err)
}
