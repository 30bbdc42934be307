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
	harmless func(jsontext.Value) bool // values that ask for nothing beyond what is done anyway; null always is one
	why      string                    // for all others
}

var (
	never    = func(jsontext.Value) bool { return false }
	isString = func(v jsontext.Value) bool { return v.Kind() == '"' }
	isFalse  = func(v jsontext.Value) bool { return v.Kind() == 'f' }
	isEmpty  = func(v jsontext.Value) bool {
		s := v.Clone()
		return s.Compact() == nil && (string(s) == "[]" || string(s) == "{}")
	}
)

// oneOf accepts the given strings.
func oneOf(allowed ...string) func(jsontext.Value) bool {
	return func(v jsontext.Value) bool {
		var s string
		return json.Unmarshal(v, &s) == nil && slices.Contains(allowed, s)
	}
}

// like accepts a value that is equal to the JSON given.
func like(text string) func(jsontext.Value) bool {
	var want any
	if err := json.Unmarshal([]byte(text), &want); err != nil {
		panic("openai: " + err.Error())
	}
	return func(v jsontext.Value) bool {
		var got any
		return json.Unmarshal(v, &got) == nil && reflect.DeepEqual(got, want)
	}
}

func isStringMap(v jsontext.Value) bool {
	var m map[string]string
	return json.Unmarshal(v, &m) == nil
}

// inert are the fields of both endpoints that the server does not act on.
var inert = map[string]rule{
	"user":                   {isString, "expected a string"},
	"metadata":               {isStringMap, "expected an object of strings"},
	"safety_identifier":      {isString, "expected a string"},
	"prompt_cache_key":       {isString, "expected a string"},
	"prompt_cache_retention": {isString, "expected a string"},
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
		case isNull(value) || r.harmless(value):
		case strings.HasPrefix(r.why, "expected"):
			return Invalid(name, CodeInvalidType, "%s, found %s", r.why, kindWords[value.Kind()])
		default:
			return Invalid(name, CodeUnsupported, "%s", r.why)
		}
	}
	return nil
}

func isNull(v jsontext.Value) bool { return len(v) == 0 || v.Kind() == 'n' }
