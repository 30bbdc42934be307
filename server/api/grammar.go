package api

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tokenrouter/tokenrouter/models/grammar"
	"github.com/tokenrouter/tokenrouter/models/output"
	"github.com/tokenrouter/tokenrouter/server/openai"
)

// answerGrammar is what the answer to a chat must be in; "": any text.
func answerGrammar(t *Target, r *openai.ChatRequest, style output.Style, thinking output.Thinking) (string, *openai.Error) {
	offered, mode := r.Offered(), r.ToolChoice.Mode
	several := r.ParallelToolCalls == nil || *r.ParallelToolCalls
	schema, field := r.ResponseFormat.AnySchema()
	var answer grammar.Source
	switch {
	case len(offered) > 0 && mode == openai.ToolsNamed:
		answer = style.Must(functions(offered, r.ToolChoice.Name), false)
	case len(offered) > 0 && mode == openai.ToolsRequired:
		answer = style.Must(functions(offered, ""), several)
	case schema != nil:
		answer = grammar.Source{Schema: schema, Name: field}
		if len(offered) > 0 { // or a call
			answer = grammar.Source{Choice: []grammar.Source{answer, style.Must(functions(offered, ""), several)}}
		}
	case anyStrict(offered) || len(offered) > 0 && !several:
		answer = style.May(functions(offered, ""), several)
	default:
		return "", nil
	}
	return checked(t, style.AfterThoughts(thinking, answer))
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
func functions(tools []openai.Tool, name string) []output.Function {
	var all []output.Function
	for i := range tools {
		f := &tools[i].Function
		if name != "" && f.Name != name {
			continue
		}
		schema := json.RawMessage(f.Parameters)
		if len(schema) == 0 || string(schema) == "null" {
			schema = json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`)
		}
		if strict := f.Strict != nil && *f.Strict; !strict && grammar.Supported(schema) != nil {
			schema = json.RawMessage(`{"type":"object"}`)
		}
		all = append(all, output.Function{Name: f.Name, Arguments: grammar.Source{
			Schema: schema, Name: fmt.Sprintf("tools[%d].function.parameters", i),
		}})
	}
	return all
}

// checked is a grammar as the engine takes it. The error names the keyword of a schema that is not supported.
func checked(t *Target, source grammar.Source) (string, *openai.Error) {
	text := source.String()
	err := t.Grammars.Check(text)
	if err == nil {
		return text, nil
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
