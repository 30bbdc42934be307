package openaigo

import (
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/stretchr/testify/require"
)

func complete(prompt openai.CompletionNewParamsPromptUnion) openai.CompletionNewParams {
	return openai.CompletionNewParams{Model: demoLarge, Prompt: prompt, Temperature: openai.Float(0), MaxTokens: openai.Int(8)}
}

func text(prompt string) openai.CompletionNewParamsPromptUnion {
	return openai.CompletionNewParamsPromptUnion{OfString: openai.String(prompt)}
}

// ids are the token ids of a text, by the server's own endpoint.
func ids(t *testing.T, content string) (tokens []int64) {
	t.Helper()
	var got struct{ Tokens []int64 }
	c := client(option.WithBaseURL("http://" + address))
	require.NoError(t, c.Post(t.Context(), "tokenize", map[string]any{"model": demoLarge, "content": content}, &got))
	require.NotEmpty(t, got.Tokens)
	var back struct{ Content string }
	require.NoError(t, c.Post(t.Context(), "detokenize", map[string]any{"model": demoLarge, "tokens": got.Tokens}, &back))
	require.Equal(t, content, back.Content)
	return got.Tokens
}

// Text and token ids, one prompt and several, are the same prompts.
func TestPrompts(t *testing.T) {
	first, second := "Sam has 3 apples", "Tom buys 4 pears"
	a, b := ids(t, first), ids(t, second)
	var texts []string
	for _, prompt := range []openai.CompletionNewParamsPromptUnion{
		{OfArrayOfStrings: []string{first, second}}, {OfArrayOfTokenArrays: [][]int64{a, b}}, text(first), {OfArrayOfTokens: a},
	} {
		answer, err := client().Completions.New(t.Context(), complete(prompt))
		require.NoError(t, err)
		require.Equal(t, "text_completion", string(answer.Object))
		want := int64(len(a))
		if len(answer.Choices) == 2 {
			want += int64(len(b))
		}
		require.Equal(t, want, answer.Usage.PromptTokens)
		for _, choice := range answer.Choices {
			texts = append(texts, choice.Text)
		}
	}
	require.Len(t, texts, 6)
	require.Equal(t, texts[:2], texts[2:4])
	require.Equal(t, []string{texts[0], texts[0]}, texts[4:])
}

func TestCompletionFields(t *testing.T) {
	p := complete(text("Sam has 3 apples"))
	p.Logprobs, p.N, p.BestOf, p.Seed = openai.Int(2), openai.Int(2), openai.Int(2), openai.Int(3)
	p.TopP, p.PresencePenalty, p.FrequencyPenalty, p.User = openai.Float(0.9), openai.Float(0.1), openai.Float(0.1), openai.String("u")
	p.LogitBias = map[string]int64{"5": -100}
	p.Echo, p.Suffix = openai.Bool(false), openai.String("")
	answer, err := client().Completions.New(t.Context(), p)
	require.NoError(t, err)
	require.Len(t, answer.Choices, 2)
	l := answer.Choices[0].Logprobs
	joined := ""
	for i, token := range l.Tokens {
		joined += token
		require.LessOrEqual(t, l.TokenLogprobs[i], 0.0)
		require.Contains(t, l.TopLogprobs[i], token)
	}
	require.Equal(t, answer.Choices[0].Text, joined)
	require.Len(t, l.TextOffset, len(l.Tokens))
}

func TestCompletionStream(t *testing.T) {
	p := complete(text("Sam has 3 apples"))
	p.StreamOptions = openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)}
	p.Stop = openai.CompletionNewParamsStopUnion{OfStringArray: []string{"never in it"}}
	whole, err := client().Completions.New(t.Context(), complete(p.Prompt))
	require.NoError(t, err)
	stream := client().Completions.NewStreaming(t.Context(), p)
	joined, finish, used := "", "", int64(0)
	for stream.Next() {
		chunk := stream.Current()
		used += chunk.Usage.TotalTokens
		for _, choice := range chunk.Choices {
			joined += choice.Text
			finish += string(choice.FinishReason)
		}
	}
	require.NoError(t, stream.Err())
	require.Equal(t, whole.Choices[0].Text, joined)
	require.Equal(t, string(whole.Choices[0].FinishReason), finish)
	require.Equal(t, whole.Usage.TotalTokens, used)
}
