package openai

import (
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Spec is the OpenAPI document of the API, version 3.1. Its schemas are read off the types of this package, so that they say what the
// code takes and gives; ranges that the code checks beyond types are in limits.
func Spec(version string) map[string]any {
	s := &specs{schemas: map[string]any{}}
	paths := map[string]any{}
	for _, path := range slices.Sorted(maps.Keys(operations)) {
		paths[path] = s.operation(operations[path])
	}
	failures := map[string]any{}
	for status, description := range failureTexts {
		failures[status] = answered(s.schema(reflect.TypeFor[ErrorBody]()), description)
	}
	return map[string]any{
		"openapi": "3.1.0",
		"info": map[string]any{"title": "TokenRouter", "version": version,
			"description": "OpenAI-compatible completions in which several models write one answer together."},
		"paths":      paths,
		"security":   []any{map[string]any{"bearer": []any{}}, map[string]any{"apiKey": []any{}}, map[string]any{}}, // the last: no key is needed where none is set
		"components": map[string]any{"schemas": s.schemas, "responses": failures, "securitySchemes": securitySchemes},
	}
}

// operation is what can be done at a path.
type operation struct {
	method, summary string
	parameter       string // in the path
	request, answer any    // nil: none
	streams         bool
	busy            bool // it cannot be answered while models are being loaded
	probe           bool // for which no key is needed
	acts            bool // on a model; not possible for a route
	conflicts       bool // with requests that are being answered
}

var operations = map[string]operation{
	"/v1/chat/completions": {method: "post", summary: "Answer a conversation", request: ChatRequest{}, answer: ChatCompletion{}, streams: true, busy: true},
	"/v1/completions":      {method: "post", summary: "Complete a text", request: CompletionRequest{}, answer: Completion{}, streams: true, busy: true},
	"/v1/models":           {method: "get", summary: "What can be asked: routes and models", answer: ModelList{}, busy: true},
	"/v1/models/{model}":   {method: "get", summary: "One of them", parameter: "model", answer: Model{}, busy: true},
	"/v1/models/{model}/load": {method: "post", summary: "Load a model that was unloaded, and wait for it", parameter: "model", answer: Residence{}, busy: true,
		acts: true},
	"/v1/models/{model}/unload": {method: "post", summary: "Free the memory of a model; the next request for it loads it again", parameter: "model", answer: Residence{}, busy: true,
		acts: true, conflicts: true},
	"/v1/routes":      {method: "get", summary: "Routes, and what the engine is doing", answer: RouteList{}, busy: true},
	"/tokenize":       {method: "post", summary: "Text to token ids", request: TokenizeRequest{}, answer: TokenizeAnswer{}, busy: true},
	"/detokenize":     {method: "post", summary: "Token ids to text", request: DetokenizeRequest{}, answer: DetokenizeAnswer{}, busy: true},
	"/apply-template": {method: "post", summary: "A conversation as the model reads it", request: TemplateRequest{}, answer: TemplateAnswer{}, busy: true},
	"/healthz":        {method: "get", summary: "Whether the process lives", answer: struct{}{}, probe: true},
	"/readyz":         {method: "get", summary: "Whether requests are answered", answer: struct{}{}, probe: true, busy: true},
	"/health":         {method: "get", summary: "The same as /readyz", answer: struct{}{}, probe: true, busy: true},
	"/openapi.json":   {method: "get", summary: "This document", answer: struct{}{}},
}

// required are the fields that a request must have.
var required = map[string][]string{
	"ChatRequest": {"model", "messages"}, "CompletionRequest": {"model", "prompt"}, "Message": {"role"}, "TokenizeRequest": {"content"},
	"DetokenizeRequest": {"tokens"}, "TemplateRequest": {"messages"}, "ResponseFormat": {"type"},
}

// limits are of fields of requests, wherever they stand. Fields of answers may have the same names, and other types.
var limits = map[string][2]float64{
	"temperature": {0, 2}, "top_p": {0, 1}, "min_p": {0, 1}, "presence_penalty": {-2, 2}, "frequency_penalty": {-2, 2}, "n": {1, MaxChoices},
	"top_logprobs": {0, MaxTopLogprobs}, "alternatives": {0, MaxTopLogprobs}, "large_share": {0, 1},
}

// inertOf are the fields of requests that are taken without effect.
var inertOf = map[string]map[string]rule{"ChatRequest": inertChat, "CompletionRequest": inertCompletion, "Message": inertMessage}

type specs struct {
	schemas  map[string]any
	nullable bool // of a request: null counts as left out
}

func (s *specs) operation(o operation) map[string]any {
	ok := answered(s.schema(reflect.TypeOf(o.answer)), "the answer")
	if o.streams {
		ok["content"].(map[string]any)["text/event-stream"] = map[string]any{"schema": map[string]any{"type": "string"}}
	}
	responses := map[string]any{"200": ok}
	for _, status := range o.failures() {
		responses[status] = map[string]any{"$ref": "#/components/responses/" + status}
	}
	if o.probe && o.busy {
		responses["503"] = answered(map[string]any{"type": "object"}, "not yet, or not any more")
	}
	op := map[string]any{"summary": o.summary, "responses": responses}
	if o.probe {
		op["security"] = []any{} // none
	}
	if o.request != nil {
		s.nullable = true
		defer func() { s.nullable = false }()
		op["requestBody"] = map[string]any{"required": true, "content": map[string]any{
			"application/json": map[string]any{"schema": s.schema(reflect.TypeOf(o.request))}}}
	}
	if o.parameter != "" {
		op["parameters"] = []any{map[string]any{"name": o.parameter, "in": "path", "required": true, "schema": map[string]any{"type": "string", "minLength": 1}}}
	}
	return map[string]any{o.method: op}
}

func typed(name string) map[string]any { return map[string]any{"type": name} }

func anyOf(list ...any) map[string]any { return map[string]any{"anyOf": list} }

func arrayOf(items any) map[string]any { return map[string]any{"type": "array", "items": items} }

// special are types that are written otherwise than they are held.
var special = map[reflect.Type]map[string]any{
	reflect.TypeFor[Int]():       typed("integer"),
	reflect.TypeFor[Strings]():   anyOf(typed("string"), arrayOf(typed("string"))),
	reflect.TypeFor[TokenIDs]():  arrayOf(map[string]any{"type": "integer", "minimum": 0}),
	reflect.TypeFor[LogitBias](): {"type": "object", "additionalProperties": map[string]any{"type": "number", "minimum": -100, "maximum": 100}},
	reflect.TypeFor[Content](): anyOf(typed("string"), arrayOf(map[string]any{"type": "object", "properties": map[string]any{
		"type": map[string]any{"const": "text"}, "text": typed("string")}, "required": []string{"type", "text"}})),
	reflect.TypeFor[Prompt](): anyOf(typed("string"), arrayOf(typed("string")), arrayOf(typed("integer")), arrayOf(arrayOf(typed("integer")))),
	reflect.TypeFor[ToolChoice](): anyOf(map[string]any{"enum": []string{ToolsNone, ToolsAuto, ToolsRequired}}, map[string]any{"type": "object", "properties": map[string]any{
		"type": map[string]any{"const": ToolsNamed}, "function": map[string]any{"type": "object", "properties": map[string]any{"name": typed("string")}, "required": []string{"name"}}},
		"required": []string{"type", "function"}}),
	reflect.TypeFor[TokenList](): anyOf(arrayOf(typed("integer")), arrayOf(map[string]any{"type": "object", "properties": map[string]any{
		"id": typed("integer"), "piece": anyOf(typed("string"), arrayOf(typed("integer")))}})),
	reflect.TypeFor[OptUsage](): anyOf(map[string]any{"$ref": "#/components/schemas/Usage"}, typed("null")),
}

// schema describes a type.
func (s *specs) schema(t reflect.Type) map[string]any {
	if fixed, ok := special[t]; ok {
		if t == reflect.TypeFor[OptUsage]() {
			s.schema(reflect.TypeFor[Usage]())
		}
		return fixed
	}
	switch t.Kind() {
	case reflect.Pointer:
		inner := s.schema(t.Elem())
		return anyOf(inner, typed("null"))
	case reflect.Bool:
		return typed("boolean")
	case reflect.String:
		return typed("string")
	case reflect.Float32, reflect.Float64:
		return typed("number")
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint64:
		return typed("integer")
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 { // any JSON
			return map[string]any{}
		}
		return arrayOf(s.schema(t.Elem()))
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": s.schema(t.Elem())}
	case reflect.Struct:
		return s.object(t)
	default:
		return map[string]any{}
	}
}

// object describes a struct, under its name if it has one.
func (s *specs) object(t reflect.Type) map[string]any {
	name := t.Name()
	if name != "" {
		ref := map[string]any{"$ref": "#/components/schemas/" + name}
		if _, known := s.schemas[name]; known {
			return ref
		}
		s.schemas[name] = nil // while it is made
		s.schemas[name] = s.properties(t)
		return ref
	}
	return s.properties(t)
}

func (s *specs) properties(t reflect.Type) map[string]any {
	properties := map[string]any{}
	s.collect(t, required[t.Name()], properties)
	for name, rule := range inertOf[t.Name()] {
		if rule.harmless.schema != nil {
			properties[name] = anyOf(rule.harmless.schema, typed("null"))
		}
	}
	o := map[string]any{"type": "object", "properties": properties}
	if list := required[t.Name()]; list != nil {
		o["required"] = list
	}
	return o
}

// collect adds the fields of a struct, those of embedded ones included. Needed are those that must be there: null is no value of them.
func (s *specs) collect(t reflect.Type, needed []string, into map[string]any) {
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && f.Type.Kind() == reflect.Pointer:
			s.collect(f.Type.Elem(), needed, into)
		case f.Anonymous:
			s.collect(f.Type, needed, into)
		case s.nullable && slices.Contains(needed, name):
			held := f.Type
			if held.Kind() == reflect.Pointer {
				held = held.Elem()
			}
			into[name] = s.schema(held)
		case name != "" && name != "-":
			schema := s.schema(f.Type)
			if l, ok := limits[name]; ok && s.nullable {
				number := map[string]any{"minimum": l[0], "maximum": l[1], "type": "number"}
				if f.Type == reflect.TypeFor[*Int]() {
					number["type"] = "integer"
				}
				schema = anyOf(number, typed("null"))
			}
			if _, already := schema["anyOf"]; s.nullable && !(already && f.Type.Kind() == reflect.Pointer) && len(schema) > 0 {
				schema = anyOf(schema, typed("null"))
			}
			into[name] = schema
		}
	}
}
