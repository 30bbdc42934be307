package openai

import (
	"encoding/json"

	"github.com/go-json-experiment/json/jsontext"
)

// Types of response formats.
const (
	FormatText       = "text"
	FormatJSONObject = "json_object"
	FormatJSONSchema = "json_schema"
)

// ResponseFormat says what an answer has to be.
type ResponseFormat struct {
	Type       string      `json:"type"`
	JSONSchema *JSONSchema `json:"json_schema"`
}

// JSONSchema is a schema that an answer is valid to. All are followed, whatever Strict says.
type JSONSchema struct {
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Schema      jsontext.Value `json:"schema"`
	Strict      *bool          `json:"strict"`
}

// AnySchema is the schema of an answer, and the field that it stands in; nil: any text.
func (f *ResponseFormat) AnySchema() (schema json.RawMessage, field string) {
	switch {
	case f == nil:
		return nil, ""
	case f.Type == FormatJSONObject:
		return json.RawMessage(`{"type":"object"}`), "response_format"
	case f.Type == FormatJSONSchema:
		return json.RawMessage(f.JSONSchema.Schema), "response_format.json_schema.schema"
	default:
		return nil, ""
	}
}

func (f *ResponseFormat) check() *Error {
	if f == nil {
		return nil
	}
	switch f.Type {
	case FormatText, FormatJSONObject:
		if f.JSONSchema != nil {
			return Invalid("response_format.json_schema", CodeInvalidValue, "is only allowed with type: \"json_schema\"")
		}
	case FormatJSONSchema:
		switch {
		case f.JSONSchema == nil:
			return Invalid("response_format.json_schema", CodeMissing, "is required")
		case isNull(f.JSONSchema.Schema):
			return Invalid("response_format.json_schema.schema", CodeMissing, "is required")
		}
	case "":
		return Invalid("response_format.type", CodeMissing, "is required")
	default:
		return Invalid("response_format.type", CodeInvalidValue, "must be text, json_object or json_schema")
	}
	return nil
}
