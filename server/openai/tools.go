package openai

import (
	"encoding/json"
	"fmt"
	"regexp"

	gojson "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// MaxTools is the most tools of a request.
const MaxTools = 128

// Tool is a function that the model may call.
type Tool struct {
	Type     string   `json:"type"`
	Function Function `json:"function"`

	Raw json.RawMessage `json:"-"` // as the client wrote it
}

// Function describes a function.
type Function struct {
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Parameters  jsontext.Value `json:"parameters"` // a JSON schema; nothing: it takes none
	Strict      *bool          `json:"strict"`     // calls are valid to the schema
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (t *Tool) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if d.PeekKind() != '{' {
		return typeError(d, "an object")
	}
	at := next(d)
	raw, err := d.ReadValue()
	if err != nil {
		return err
	}
	t.Raw = json.RawMessage(raw.Clone())
	type plain Tool // without this method
	if err := gojson.Unmarshal(t.Raw, (*plain)(t), gojson.RejectUnknownMembers(true)); err != nil {
		return explain(t.Raw, err).under(at)
	}
	return nil
}

// MarshalJSONTo implements json.MarshalerTo.
func (t Tool) MarshalJSONTo(e *jsontext.Encoder) error { return e.WriteValue(jsontext.Value(t.Raw)) }

// functionName is what a function may be called (OpenAI API reference, "tools").
var functionName = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)

// schemaType is the type that a schema gives, "" if none or several.
func schemaType(schema jsontext.Value) string {
	var s struct {
		Type jsontext.Value `json:"type"`
	}
	var name string
	if isNull(schema) || json.Unmarshal(schema, &s) != nil || s.Type.Kind() != '"' || json.Unmarshal(s.Type, &name) != nil {
		return ""
	}
	return name
}

func checkTools(tools []Tool) *Error {
	if len(tools) > MaxTools {
		return Invalid("tools", CodeInvalidValue, "%d tools; at most %d are allowed", len(tools), MaxTools)
	}
	seen := map[string]bool{}
	for i := range tools {
		t, at := &tools[i], fmt.Sprintf("tools[%d]", i)
		switch {
		case t.Type == "":
			return Invalid(at+".type", CodeMissing, "is required")
		case t.Type != "function":
			return Invalid(at+".type", CodeUnsupportedValue, "only tools of type function are supported")
		case t.Function.Name == "":
			return Invalid(at+".function.name", CodeMissing, "is required")
		case !functionName.MatchString(t.Function.Name):
			return Invalid(at+".function.name", CodeInvalidValue, "must be 1 to 64 letters, digits, underscores, points and hyphens")
		case seen[t.Function.Name]:
			return Invalid(at+".function.name", CodeInvalidValue, "is the name of another tool, too")
		}
		if p := t.Function.Parameters; !isNull(p) && p.Kind() != '{' {
			return Invalid(at+".function.parameters", CodeInvalidType, "expected an object, found %s", kindWords[p.Kind()])
		}
		if kind := schemaType(t.Function.Parameters); kind != "" && kind != "object" {
			return Invalid(at+".function.parameters.type", CodeInvalidValue, "is %q, expected \"object\": the arguments of a call are an object", kind)
		}
		seen[t.Function.Name] = true
	}
	return nil
}

// ToolChoice says whether tools are called: "none", "auto" or "required", or the one that is named.
type ToolChoice struct {
	Mode string // "": not given
	Name string // with Mode "function"
}

// Modes of a ToolChoice.
const (
	ToolsNone     = "none"
	ToolsAuto     = "auto"
	ToolsRequired = "required"
	ToolsNamed    = "function"
)

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (c *ToolChoice) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	*c = ToolChoice{}
	at := next(d)
	switch d.PeekKind() {
	case 'n':
		return d.SkipValue()
	case '"':
		if err := gojson.UnmarshalDecode(d, &c.Mode); err != nil {
			return err
		}
		switch c.Mode {
		case ToolsNone, ToolsAuto, ToolsRequired:
			return nil
		}
		return Invalid(at, CodeInvalidValue, "must be none, auto, required, or an object that names a function")
	case '{':
		var named struct {
			Type     string `json:"type"`
			Function struct {
				Name string `json:"name"`
			} `json:"function"`
		}
		if err := gojson.UnmarshalDecode(d, &named); err != nil {
			return err
		}
		if named.Type != ToolsNamed {
			return Invalid(at+".type", CodeUnsupportedValue, "only the type function is supported")
		}
		if named.Function.Name == "" {
			return Invalid(at+".function.name", CodeMissing, "is required")
		}
		c.Mode, c.Name = ToolsNamed, named.Function.Name
		return nil
	default:
		return typeError(d, "a string or an object that names a function")
	}
}

// checkToolChoice sees that what is to be called is there.
func (r *ChatRequest) checkToolChoice() *Error {
	c := r.ToolChoice
	if len(r.Tools) == 0 {
		if c.Mode == ToolsRequired || c.Mode == ToolsNamed {
			return Invalid("tool_choice", CodeInvalidValue, "there are no tools to call")
		}
		return nil
	}
	if c.Mode == ToolsNamed {
		for i := range r.Tools {
			if r.Tools[i].Function.Name == c.Name {
				return nil
			}
		}
		return Invalid("tool_choice.function.name", CodeInvalidValue, "there is no tool of this name")
	}
	return nil
}

// Offered are the tools that the model is told of.
func (r *ChatRequest) Offered() []Tool {
	if r.ToolChoice.Mode == ToolsNone {
		return nil
	}
	return r.Tools
}

// ToolCall is a call that the model made.
type ToolCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function FunctionCall `json:"function"`
}

// FunctionCall is a function's name and arguments, which should be JSON, but are what the model wrote.
type FunctionCall struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// ToolCallDelta is a piece of a call in a stream: the first has ID, Type and Name.
type ToolCallDelta struct {
	Index    int               `json:"index"`
	ID       string            `json:"id,omitzero"`
	Type     string            `json:"type,omitzero"`
	Function FunctionCallDelta `json:"function"`
}

// FunctionCallDelta is a piece of a function's call.
type FunctionCallDelta struct {
	Name      string `json:"name,omitzero"`
	Arguments string `json:"arguments"`
}
