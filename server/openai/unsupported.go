package openai

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tokenrouter/tokenrouter/internal/suggest"
)

// rule says what to do with a field that the server knows but does not act on.
type rule struct {
	harmless values // that ask for nothing beyond what is done anyway; null always does
	why      string // for all others
}

// values are some of those that a field can have.
type values struct {
	have   func(jsontext.Value) bool
	schema map[string]any // of them; nil: there are none
}

var (
	never     = values{have: func(jsontext.Value) bool { return false }}
	aString   = values{func(v jsontext.Value) bool { return v.Kind() == '"' }, typed("string")}
	isFalse   = values{func(v jsontext.Value) bool { return v.Kind() == 'f' }, map[string]any{"const": false}}
	stringMap = values{func(v jsontext.Value) bool {
		var m map[string]string
		return json.Unmarshal(v, &m) == nil
	}, map[string]any{"type": "object", "additionalProperties": typed("string")}}
	isEmpty = values{func(v jsontext.Value) bool {
		s := v.Clone()
		return s.Compact() == nil && (string(s) == "[]" || string(s) == "{}")
	}, map[string]any{"type": []string{"array", "object"}, "maxItems": 0, "maxProperties": 0}}
)

// oneOf are the given strings.
func oneOf(allowed ...string) values {
	return values{func(v jsontext.Value) bool {
		var s string
		return json.Unmarshal(v, &s) == nil && slices.Contains(allowed, s)
	}, map[string]any{"enum": allowed}}
}

// like are those equal to the JSON given.
func like(text string) values {
	var want any
	if err := json.Unmarshal([]byte(text), &want); err != nil {
		panic("openai: " + err.Error())
	}
	return values{func(v jsontext.Value) bool {
		var got any
		return json.Unmarshal(v, &got) == nil && reflect.DeepEqual(got, want)
	}, map[string]any{"const": want}}
}

// inert are the fields of both endpoints that the server does not act on.
var inert = map[string]rule{
	"user":                   {aString, "expected a string"},
	"metadata":               {stringMap, "expected an object of strings"},
	"safety_identifier":      {aString, "expected a string"},
	"prompt_cache_key":       {aString, "expected a string"},
	"prompt_cache_retention": {aString, "expected a string"},
	"store":                  {isFalse, "answers are not stored; leave it out or send false"},
	"service_tier":           {oneOf("auto", "default"), "there is one tier; leave it out or send \"auto\""},
	"stop_token_ids":         {isEmpty, "is not supported; use stop"},
	"min_tokens":             {like("0"), "is not supported"},
}

// inertChat are those of chat completions.
var inertChat = merged(inert, map[string]rule{
	"functions":          {isEmpty, "is not supported; use tools"},
	"function_call":      {oneOf("none", "auto"), "is not supported; use tool_choice"},
	"modalities":         {like(`["text"]`), "only [\"text\"] is supported"},
	"audio":              {never, "audio is not supported"},
	"prediction":         {never, "predicted outputs are not supported"},
	"reasoning_effort":   {never, "is not supported; templates with such a switch take it in chat_template_kwargs, as {\"enable_thinking\": false}"},
	"verbosity":          {oneOf("medium"), "is not supported; leave it out or send \"medium\""},
	"web_search_options": {never, "web search is not supported"},
})

// inertCompletion are those of text completions.
var inertCompletion = merged(inert, map[string]rule{
	"echo":   {isFalse, "is not supported; leave it out or send false"},
	"suffix": {like(`""`), "is not supported; leave it out"},
})

func merged(a, b map[string]rule) map[string]rule {
	m := maps.Clone(a)
	maps.Copy(m, b)
	return m
}

// refuse reports the first field, by name, that asks for something the server does not do.
func refuse(extra map[string]jsontext.Value, rules map[string]rule, request any) *Error {
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		value := extra[name]
		r, known := rules[name]
		switch {
		case !known:
			all := append(names(reflect.TypeOf(request).Elem()), slices.Sorted(maps.Keys(rules))...)
			return Invalid(field(jsontext.Pointer("").AppendToken(name)), CodeUnknownParameter, "unknown field%s", suggest.Phrase(name, all))
		case isNull(value) || r.harmless.have(value):
		case strings.HasPrefix(r.why, "expected"):
			return Invalid(name, CodeInvalidType, "%s, found %s", r.why, kindWords[value.Kind()])
		default:
			return Invalid(name, CodeUnsupported, "%s", r.why)
		}
	}
	return nil
}

func isNull(v jsontext.Value) bool { return len(v) == 0 || v.Kind() == 'n' }
