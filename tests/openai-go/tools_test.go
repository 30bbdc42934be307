package openaigo

import (
	"encoding/json"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/shared"
	"github.com/stretchr/testify/require"
)

// weather is a tool; its schema is held where a call is required, or the tool is strict.
func weather(strict bool) openai.ChatCompletionToolUnionParam {
	return openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
		Name: "get_weather", Description: openai.String("The weather in a city"), Strict: openai.Bool(strict),
		Parameters: shared.FunctionParameters{
			"type": "object", "properties": map[string]any{"city": map[string]any{"type": "string"}, "unit": map[string]any{"enum": []string{"celsius", "fahrenheit"}}},
			"required": []string{"city", "unit"}, "additionalProperties": false,
		},
	})
}

func withTools(question string, choice openai.ChatCompletionToolChoiceOptionUnionParam) openai.ChatCompletionNewParams {
	p := ask(coder, question)
	p.Tools = []openai.ChatCompletionToolUnionParam{weather(false)}
	p.ToolChoice = choice
	p.ParallelToolCalls = openai.Bool(false)
	return p
}

var (
	required = openai.ChatCompletionToolChoiceOptionUnionParam{OfAuto: openai.String("required")}
	none     = openai.ChatCompletionToolChoiceOptionUnionParam{OfAuto: openai.String("none")}
	named    = openai.ToolChoiceOptionFunctionToolChoice(openai.ChatCompletionNamedToolChoiceFunctionParam{Name: "get_weather"})
)

// arguments checks a call against its schema.
func arguments(t *testing.T, text string) (city string) {
	t.Helper()
	var a struct{ City, Unit string }
	require.NoError(t, json.Unmarshal([]byte(text), &a))
	require.Contains(t, []string{"celsius", "fahrenheit"}, a.Unit)
	return a.City
}

func TestRequiredCall(t *testing.T) {
	needReal(t)
	for _, choice := range []openai.ChatCompletionToolChoiceOptionUnionParam{required, named} {
		answer, err := client().Chat.Completions.New(t.Context(), withTools("Hello!", choice))
		require.NoError(t, err)
		require.Equal(t, "tool_calls", answer.Choices[0].FinishReason)
		message := answer.Choices[0].Message
		require.Empty(t, message.Content)
		require.Len(t, message.ToolCalls, 1)
		call := message.ToolCalls[0].AsFunction()
		require.NotEmpty(t, call.ID)
		require.Equal(t, "get_weather", call.Function.Name)
		arguments(t, call.Function.Arguments)
	}
}

func TestStreamedCall(t *testing.T) {
	needReal(t)
	p := withTools("Weather in Rome, in celsius?", required)
	whole, err := client().Chat.Completions.New(t.Context(), p)
	require.NoError(t, err)
	want := whole.Choices[0].Message.ToolCalls[0].Function
	stream := client().Chat.Completions.NewStreaming(t.Context(), p)
	var all openai.ChatCompletionAccumulator
	finished := 0
	for stream.Next() {
		require.True(t, all.AddChunk(stream.Current()))
		if call, ok := all.JustFinishedToolCall(); ok {
			finished++
			require.Equal(t, want.Name, call.Name)
			require.Equal(t, want.Arguments, call.Arguments)
			require.NotEmpty(t, call.ID)
		}
	}
	require.NoError(t, stream.Err())
	require.Equal(t, 1, finished)
	require.Equal(t, "tool_calls", all.Choices[0].FinishReason)
}

// A conversation with a tool: the client sends back what it got, and the tool's answer.
func TestConversationWithATool(t *testing.T) {
	needReal(t)
	p := withTools("Weather in Rome, in celsius?", required)
	answer, err := client().Chat.Completions.New(t.Context(), p)
	require.NoError(t, err)
	message := answer.Choices[0].Message
	require.Equal(t, "Rome", arguments(t, message.ToolCalls[0].Function.Arguments))
	p.Messages = append(p.Messages, message.ToParam(), openai.ToolMessage("17 degrees", message.ToolCalls[0].ID))
	p.ToolChoice = openai.ChatCompletionToolChoiceOptionUnionParam{}
	next, err := client().Chat.Completions.New(t.Context(), p)
	require.NoError(t, err)
	require.Greater(t, next.Usage.PromptTokens, answer.Usage.PromptTokens)
	require.NotEmpty(t, next.Choices[0].Message.Content+next.Choices[0].Message.RawJSON())
}

func TestAutoAndNone(t *testing.T) {
	needReal(t)
	p := withTools("Weather in Rome, in celsius?", none)
	answer, err := client().Chat.Completions.New(t.Context(), p)
	require.NoError(t, err)
	require.Empty(t, answer.Choices[0].Message.ToolCalls)
	require.NotEmpty(t, answer.Choices[0].Message.Content)

	p.ToolChoice = openai.ChatCompletionToolChoiceOptionUnionParam{}
	p.Tools = []openai.ChatCompletionToolUnionParam{weather(true)}
	answer, err = client().Chat.Completions.New(t.Context(), p)
	require.NoError(t, err)
	for _, call := range answer.Choices[0].Message.ToolCalls {
		arguments(t, call.Function.Arguments)
	}
}

// A small model holds a schema, too: the one that is built in can write nothing but word problems.
func TestSchema(t *testing.T) {
	schema := map[string]any{"type": "object", "additionalProperties": false, "required": []string{"sum", "even", "unit"}, "properties": map[string]any{
		"sum":  map[string]any{"type": "integer", "minimum": 0, "maximum": 999},
		"even": map[string]any{"type": "boolean"},
		"unit": map[string]any{"enum": []string{"apples", "pears"}},
	}}
	p := ask(demo, problem)
	p.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{
		Name: "sum", Strict: openai.Bool(true), Description: openai.String("a sum"), Schema: schema,
	}}
	answer, err := client().Chat.Completions.New(t.Context(), p)
	require.NoError(t, err)
	require.Equal(t, "stop", answer.Choices[0].FinishReason)
	var got struct {
		Sum  *int
		Even *bool
		Unit string
	}
	require.NoError(t, json.Unmarshal([]byte(answer.Choices[0].Message.Content), &got))
	require.NotNil(t, got.Even)
	require.NotNil(t, got.Sum)
	require.GreaterOrEqual(t, *got.Sum, 0)
	require.LessOrEqual(t, *got.Sum, 999)
	require.Contains(t, []string{"apples", "pears"}, got.Unit)
}

func TestObjectAndText(t *testing.T) {
	needReal(t)
	p := ask(coder, "Name two colours as JSON.")
	p.ResponseFormat.OfJSONObject = &shared.ResponseFormatJSONObjectParam{}
	answer, err := client().Chat.Completions.New(t.Context(), p)
	require.NoError(t, err)
	var object map[string]any
	require.NoError(t, json.Unmarshal([]byte(answer.Choices[0].Message.Content), &object))
	require.NotEmpty(t, object)

	p = ask(coder, "Say hello.")
	p.ResponseFormat.OfText = &shared.ResponseFormatTextParam{}
	answer, err = client().Chat.Completions.New(t.Context(), p)
	require.NoError(t, err)
	require.NotEmpty(t, answer.Choices[0].Message.Content)
}
