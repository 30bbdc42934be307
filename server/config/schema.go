package config

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/tokenrouter/tokenrouter/internal/suggest"
)

//go:embed schema.json
var schemaText []byte

// Schema returns the JSON schema (draft 2020-12) of a configuration, for editors and documentation.
func Schema() []byte { return bytes.Clone(schemaText) }

var compiled = sync.OnceValue(func() *jsonschema.Schema {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schemaText))
	if err != nil {
		panic(fmt.Sprintf("config: the embedded schema is not JSON: %v", err))
	}
	c := jsonschema.NewCompiler()
	c.RegisterFormat(&jsonschema.Format{Name: "byte-size", Validate: unit(func(s string) error { return new(Size).UnmarshalText([]byte(s)) })})
	c.RegisterFormat(&jsonschema.Format{Name: "budget", Validate: unit(func(s string) error { return new(Budget).UnmarshalText([]byte(s)) })})
	c.RegisterFormat(&jsonschema.Format{Name: "time-span", Validate: unit(func(s string) error { return new(Duration).UnmarshalText([]byte(s)) })})
	c.RegisterFormat(&jsonschema.Format{Name: "wait", Validate: unit(func(s string) error { return new(Wait).UnmarshalText([]byte(s)) })})
	c.AssertFormat()
	const resource = "schema.json"
	if err := c.AddResource(resource, doc); err != nil {
		panic(fmt.Sprintf("config: the embedded schema: %v", err))
	}
	s, err := c.Compile(resource)
	if err != nil {
		panic(fmt.Sprintf("config: the embedded schema: %v", err))
	}
	return s
})

// unit makes the check of a format out of a parser: the pattern beside it gives the form, the parser the range.
func unit(parse func(string) error) func(any) error {
	return func(v any) error {
		s, ok := v.(string)
		if !ok {
			return nil
		}
		return parse(s)
	}
}

// validate reports everything in v that the schema does not allow.
func validate(v any, src source) []Problem {
	err := compiled().Validate(v)
	if err == nil {
		return nil
	}
	var ve *jsonschema.ValidationError
	if !errors.As(err, &ve) {
		return []Problem{{Message: err.Error()}}
	}
	var problems []Problem
	collect(ve, v, src, &problems)
	return problems
}

// collect walks to the leaves: the errors that say what is wrong rather than where.
func collect(e *jsonschema.ValidationError, root any, src source, out *[]Problem) {
	for _, c := range e.Causes {
		collect(c, root, src, out)
	}
	if len(e.Causes) > 0 {
		return
	}
	path := pathOf(e.InstanceLocation, root)
	switch k := e.ErrorKind.(type) {
	case *kind.AdditionalProperties:
		known := properties(compiled(), e.InstanceLocation)
		for _, name := range k.Properties {
			msg := "unknown key"
			if s := suggest.Phrase(name, known); s != "" {
				msg += s
			} else {
				msg += "; known here: " + strings.Join(known, ", ")
			}
			*out = append(*out, src.problem(member(path, name), true, msg))
		}
	case *kind.Required:
		for _, name := range k.Missing {
			*out = append(*out, src.problem(member(path, name), true, "missing; it is required"))
		}
	default:
		// One problem per value: a pattern repeats what the format beside it has said.
		if !slices.ContainsFunc(*out, func(p Problem) bool { return p.Path == path }) {
			*out = append(*out, src.problem(path, false, reword(e.ErrorKind)+unitHint(e, root)))
		}
	}
}

// unitHint is for a bare number where a unit is needed: how to write it.
func unitHint(e *jsonschema.ValidationError, root any) string {
	k, ok := e.ErrorKind.(*kind.Type)
	if s := at(compiled(), e.InstanceLocation); !ok || k.Got != "number" || s == nil || s.Format == nil {
		return ""
	} else if s.Format.Name == "byte-size" || s.Format.Name == "budget" {
		return "; write a size with its unit, such as 512MiB"
	}
	number := fmt.Sprint(valueAt(e.InstanceLocation, root))
	if strings.Trim(number, "0123456789") != "" {
		number = "10"
	}
	return fmt.Sprintf("; write a duration with its unit, such as %q", number+"s")
}

// valueAt is the value at a location of the validator.
func valueAt(location []string, v any) any {
	for _, part := range location {
		switch in := v.(type) {
		case map[string]any:
			v = in[part]
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(in) {
				return nil
			}
			v = in[i]
		}
	}
	return v
}

// plain is a number as people write it: with an exponent only where it would fill the line.
func plain(x float64) string {
	if x < 1e18 {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// reword says in the words of a person what a keyword of the schema asks for.
func reword(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Type:
		return fmt.Sprintf("expected %s, found %s", strings.Join(k.Want, " or "), k.Got)
	case *kind.Enum:
		want := make([]string, len(k.Want))
		for i, w := range k.Want {
			want[i] = fmt.Sprint(w)
		}
		shown := slices.Clone(want)
		for i, w := range shown {
			if w == "" {
				shown[i] = `""`
			}
		}
		return fmt.Sprintf("%q is not one of %s%s", fmt.Sprint(k.Got), strings.Join(shown, ", "),
			suggest.Phrase(fmt.Sprint(k.Got), want))
	case *kind.Format:
		return k.Err.Error()
	case *kind.Pattern:
		return fmt.Sprintf("%q is not %s", k.Got, patternName(k.Want))
	case *kind.Minimum:
		got, _ := k.Got.Float64()
		want, _ := k.Want.Float64()
		return fmt.Sprintf("%s is too small; the least is %s", plain(got), plain(want))
	case *kind.Maximum:
		got, _ := k.Got.Float64()
		want, _ := k.Want.Float64()
		return fmt.Sprintf("%s is too large; the most is %s", plain(got), plain(want))
	case *kind.MinItems:
		return fmt.Sprintf("%d given; at least %d needed", k.Got, k.Want)
	case *kind.MinLength:
		if k.Got == 0 {
			return "is empty"
		}
		return fmt.Sprintf("has %d characters; at least %d needed", k.Got, k.Want) // not the text: it may be a key
	case *kind.UniqueItems:
		return fmt.Sprintf("entries %d and %d are the same", k.Duplicates[0]+1, k.Duplicates[1]+1)
	default:
		return k.LocalizedString(message.NewPrinter(language.English))
	}
}

// patternName describes the patterns that the schema uses.
func patternName(pattern string) string {
	switch {
	case strings.Contains(pattern, "cuda"):
		return "cpu, cuda, or cuda:1 and the like"
	case strings.Contains(pattern, "auto|"):
		return "auto or a duration such as 50ms or 30s"
	case strings.Contains(pattern, "auto"):
		return "auto, or a mapping from models to numbers"
	case strings.Contains(pattern, "ms"):
		return "a duration such as 50ms or 30s"
	case strings.HasPrefix(pattern, "^[A-Za-z0-9]["):
		return "a name: 1 to 128 letters, digits and . _ : / -, the first a letter or digit"
	default:
		return "of the form " + pattern
	}
}

// pathOf writes a location of the validator as this package writes paths.
func pathOf(location []string, root any) string {
	path := ""
	for _, part := range location {
		if list, ok := root.([]any); ok {
			var i int
			if _, err := fmt.Sscan(part, &i); err == nil && i >= 0 && i < len(list) {
				path, root = item(path, i), list[i]
				continue
			}
		}
		if m, ok := root.(map[string]any); ok {
			root = m[part]
		}
		path = member(path, part)
	}
	return path
}

// properties lists, sorted, the keys that the schema knows at a location.
func properties(s *jsonschema.Schema, location []string) []string {
	if s = at(s, location); s == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(s.Properties))
}

// at is the part of the schema for a location; nil if it has none.
func at(s *jsonschema.Schema, location []string) *jsonschema.Schema {
	for s.Ref != nil {
		s = s.Ref
	}
	if len(location) == 0 {
		return s
	}
	if p, ok := s.Properties[location[0]]; ok {
		return at(p, location[1:])
	}
	if s.Items2020 != nil {
		return at(s.Items2020, location[1:])
	}
	return nil
}
