package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/tokenrouter/tokenrouter/models/grammar"
	"github.com/tokenrouter/tokenrouter/models/output"
	"github.com/tokenrouter/tokenrouter/server/openai"
)

// answerGrammar is what the answer to a chat must be in; "": any text.
func answerGrammar(ctx context.Context, t *Target, r *openai.ChatRequest, style output.Style, thinking output.Thinking) (string, *openai.Error) {
	offered, mode := r.Offered(), r.ToolChoice.Mode
	several := r.ParallelToolCalls == nil || *r.ParallelToolCalls
	schema, field := r.ResponseFormat.AnySchema()
	held := len(offered) > 0 && (mode == openai.ToolsNamed || mode == openai.ToolsRequired || schema != nil || anyStrict(offered) || !several)
	var all []output.Function
	if held {
		var e *openai.Error
		if all, e = functions(ctx, offered, r.ToolChoice.Name); e != nil {
			return "", e
		}
	}
	var answer grammar.Source
	switch {
	case held && mode == openai.ToolsNamed:
		answer = style.Must(all, false)
	case held && mode == openai.ToolsRequired:
		answer = style.Must(all, several)
	case schema != nil:
		answer = grammar.Source{Schema: schema, Name: field}
		if held { // or a call
			answer = grammar.Source{Choice: []grammar.Source{answer, style.Must(all, several)}}
		}
	case held:
		answer = style.May(all, several)
	default:
		return "", nil
	}
	return checked(ctx, t, style.AfterThoughts(thinking, answer))
}

func anyStrict(tools []openai.Tool) bool {
	for i := range tools {
		if s := tools[i].Function.Strict; s != nil && *s {
			return true
		}
	}
	return false
}

// functions are tools as grammars take them, all or the one of a name. Arguments are valid to the schema of a tool. If that
// cannot be followed they are any object, or an error where the tool is strict.
func functions(ctx context.Context, tools []openai.Tool, name string) ([]output.Function, *openai.Error) {
	done, err := grammar.Turn(ctx)
	if err != nil {
		return nil, unchecked(err)
	}
	defer done()
	var all []output.Function
	bytes, nodes := 0, grammar.MaxNodes // of all of them
	for i := range tools {
		f := &tools[i].Function
		if name != "" && f.Name != name {
			continue
		}
		schema := json.RawMessage(f.Parameters)
		if bytes += len(schema); bytes > grammar.MaxSource {
			return nil, openai.Invalid("tools", openai.CodeUnsupportedValue, "the schemas of their parameters have more than %d bytes together", grammar.MaxSource)
		}
		if len(schema) == 0 || string(schema) == "null" {
			schema = json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`)
		}
		if strict := f.Strict != nil && *f.Strict; !strict && grammar.Supported(schema, &nodes) != nil {
			schema = json.RawMessage(`{"type":"object"}`)
		}
		all = append(all, output.Function{Name: f.Name, Arguments: grammar.Source{
			Schema: schema, Name: fmt.Sprintf("tools[%d].function.parameters", i),
		}})
	}
	return all, nil
}

// unchecked says why a grammar was not looked at: its client has left, or has waited as long as it may.
func unchecked(err error) *openai.Error {
	return openai.Failure(http.StatusServiceUnavailable, openai.CodeQueueFull, "the schema could not be read: others are being read: %v", err)
}

// checked is a grammar as the engine takes it. The error names the keyword of a schema that is not supported.
func checked(ctx context.Context, t *Target, source grammar.Source) (string, *openai.Error) {
	text := source.String()
	err := t.Grammars.Check(ctx, text)
	switch {
	case err == nil:
		return text, nil
	case ctx.Err() != nil:
		return "", unchecked(err)
	}
	var s *grammar.SchemaError
	if !errors.As(err, &s) {
		return "", openai.Invalid("response_format", openai.CodeInvalidValue, "%v", err)
	}
	field := s.Name
	if field == "" {
		field = "response_format"
	}
	if s.Path != "" {
		field += "." + clip(s.Path)
	}
	return "", openai.Invalid(field, openai.CodeUnsupportedValue, "%s", s.Reason)
}
