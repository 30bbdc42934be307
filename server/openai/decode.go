package openai

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tokenrouter/tokenrouter/internal/suggest"
)

// decode reads one JSON object into a request. The error is nil or an *Error.
func decode(body []byte, into any) error {
	switch text := bytes.TrimSpace(body); {
	case len(text) == 0:
		return Invalid("", CodeInvalidJSON, "the request body is empty; it must be a JSON object")
	case string(text) == "null": // which Go reads into anything
		return Invalid("", CodeInvalidType, "the request body must be a JSON object, found null")
	}
	if err := json.Unmarshal(body, into, json.RejectUnknownMembers(true)); err != nil {
		return explain(body, err)
	}
	return nil
}

// explain turns an error of the JSON library into one that a client can act on.
func explain(body []byte, err error) *Error {
	var own *Error
	if errors.As(err, &own) {
		return own
	}
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		line, column := place(body, syntax.ByteOffset)
		reason := strings.TrimPrefix(syntax.Err.Error(), "jsontext: ")
		const surrogate = "invalid surrogate pair"
		switch {
		case errors.Is(syntax.Err, jsontext.ErrDuplicateName):
			return Invalid(field(syntax.JSONPointer), CodeInvalidJSON, "given more than once (line %d, column %d)", line, column)
		case errors.Is(syntax.Err, io.ErrUnexpectedEOF):
			reason = "it ends too early"
		case strings.HasPrefix(reason, surrogate): // which goes on with what stands there of the client's text
			reason = surrogate + ` in a string: \ud800 to \udbff must be followed by \udc00 to \udfff, and these stand nowhere else`
		}
		e := Invalid("", CodeInvalidJSON, "the request body is not valid JSON: %s (line %d, column %d)", reason, line, column)
		e.Param = field(syntax.JSONPointer)
		return e
	}
	var semantic *json.SemanticError
	if !errors.As(err, &semantic) {
		return Invalid("", CodeInvalidJSON, "the request body cannot be read: %v", err)
	}
	param := field(semantic.JSONPointer)
	if errors.Is(semantic.Err, json.ErrUnknownName) {
		return Invalid(param, CodeUnknownParameter, "unknown field%s",
			suggest.Phrase(semantic.JSONPointer.LastToken(), names(semantic.GoType)))
	}
	found := kindWords[semantic.JSONKind]
	if semantic.JSONPointer == "" && semantic.JSONKind != '{' {
		return Invalid("", CodeInvalidType, "the request body must be a JSON object, found %s", found)
	}
	want := wanted(semantic.GoType)
	if semantic.JSONKind == '0' && strings.HasSuffix(want, "number") {
		return Invalid(param, CodeInvalidValue, "the number is out of range")
	}
	return wrongType(param, want, found)
}

func wrongType(param, want, found string) *Error {
	if found == "" {
		return Invalid(param, CodeInvalidType, "expected %s", want)
	}
	return Invalid(param, CodeInvalidType, "expected %s, found %s", want, found)
}

// field writes a JSON pointer the way clients write fields: /messages/0/content is messages[0].content.
func field(p jsontext.Pointer) string {
	const deepest = 8
	var b strings.Builder
	depth := 0
	for token := range p.Tokens() {
		if depth++; depth > deepest {
			b.WriteString("...")
			break
		}
		switch {
		case token != "" && strings.Trim(token, "0123456789") == "":
			b.WriteString("[" + token + "]")
		case b.Len() > 0:
			b.WriteString("." + token)
		default:
			b.WriteString(token)
		}
	}
	const most = 200 // a key can be as long as the body
	s := b.String()
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "..."
	}
	return s
}

// place gives line and column, from 1, of a byte offset.
func place(body []byte, offset int64) (line, column int) {
	before := string(body[:min(max(offset, 0), int64(len(body)))])
	return 1 + strings.Count(before, "\n"), len(before) - strings.LastIndexByte(before, '\n')
}

var kindWords = map[jsontext.Kind]string{
	'n': "null", 't': "true", 'f': "false", '"': "a string", '0': "a number", '{': "an object", '[': "an array",
}

// wanted says in words what a Go type is read from.
func wanted(t reflect.Type) string {
	if t == nil {
		return "another type"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return wanted(t.Elem())
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a string"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint32, reflect.Uint64:
		return "a whole number"
	case reflect.Slice, reflect.Array:
		if t == reflect.TypeFor[jsontext.Value]() {
			return "a value"
		}
		return "an array"
	default:
		return "an object"
	}
}

// names lists the JSON names of a struct's fields.
func names(t reflect.Type) []string {
	if t == nil || t.Kind() != reflect.Struct {
		return nil
	}
	var list []string
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous:
			list = append(list, names(f.Type)...)
		case name != "" && name != "-":
			list = append(list, name)
		}
	}
	return list
}
