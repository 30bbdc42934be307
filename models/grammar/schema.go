package grammar

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// SchemaError says what of a schema cannot be followed.
type SchemaError struct {
	Name   string // of the source
	Path   string // where in the schema, "properties.age.multipleOf"; "": all of it
	Reason string
}

// Error implements error.
func (e *SchemaError) Error() string {
	if e.Path == "" {
		return e.Reason
	}
	return e.Path + ": " + e.Reason
}

// schemas compiles the schemas of one document.
type schemas struct {
	*builder
	name   string // of the source
	prefix string // of the names of its rules
	root   any

	shapes   map[*members]shape
	compared int // values, to tell schemas apart
}

// schemaSource is a value that a schema is true of.
func (b *builder) schemaSource(s *Source) (frag, error) {
	c := &schemas{builder: b, name: s.Name, prefix: fmt.Sprintf("schema %d:", len(b.nodes)), shapes: make(map[*members]shape)}
	var err error
	if c.root, err = parse(s.Schema); err != nil {
		return frag{}, &SchemaError{Name: s.Name, Reason: err.Error()}
	}
	f, err := c.schema(c.root, "")
	if errors.Is(err, errTooLarge) {
		err = &SchemaError{Name: s.Name, Reason: err.Error()}
	}
	return f, err
}

func (c *schemas) fail(path, format string, args ...any) error {
	return &SchemaError{Name: c.name, Path: path, Reason: fmt.Sprintf(format, args...)}
}

// annotations are keywords that say nothing about what is valid.
var annotations = []string{"title", "description", "default", "example", "examples", "$schema", "$id", "$comment", "$defs", "definitions",
	"deprecated", "readOnly", "writeOnly", "discriminator"}

// alone are keywords with which no others may stand, but for annotations.
var alone = []string{"$ref", "anyOf", "oneOf", "allOf"}

// keywords are those of each type.
var keywords = map[string][]string{
	"object": {"properties", "required", "additionalProperties"},
	"array":  {"items", "prefixItems", "minItems", "maxItems"},
	"string": {"minLength", "maxLength", "pattern", "format"},
	"number": {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"},
}

// types in the order in which they are tried.
var types = []string{"object", "array", "string", "number", "integer", "boolean", "null"}

// schema is a value that v, at this path of the document, is true of.
func (c *schemas) schema(v any, path string) (frag, error) {
	if c.full() {
		return frag{}, errTooLarge
	}
	switch v := v.(type) {
	case bool:
		if v {
			return c.value(), nil
		}
		return frag{c.node(), c.node()}, nil // nothing; what needs it is pruned
	case *members: // has a rule of its own, by its address: paths can be the same where names have points in them
		start, err := c.rule(fmt.Sprintf("%s%p", c.prefix, v), func() (frag, error) { return c.body(v, path) })
		if err != nil {
			return frag{}, err
		}
		return c.call(start), nil
	default:
		return frag{}, c.fail(path, "a schema is an object, true or false")
	}
}

// body is a value of a schema that is an object.
func (c *schemas) body(m *members, path string) (frag, error) {
	if err := c.known(m, path); err != nil {
		return frag{}, err
	}
	for _, name := range alone {
		v, ok := m.get(name)
		if !ok {
			continue
		}
		for _, other := range m.names {
			if other != name && !slices.Contains(annotations, other) {
				return frag{}, c.fail(join(path, other), "is not supported beside %s", name)
			}
		}
		if name == "$ref" {
			return c.ref(v, join(path, name))
		}
		return c.combined(name, v, join(path, name))
	}
	allowed, err := c.types(m, path)
	if err != nil {
		return frag{}, err
	}
	if values, ok, err := c.values(m, allowed, path); err != nil {
		return frag{}, err
	} else if ok {
		return c.oneOf(values), nil
	}
	if allowed == nil {
		return c.value(), nil
	}
	var parts []frag
	for _, t := range allowed {
		f, err := c.typed(t, m, path)
		if err != nil {
			return frag{}, err
		}
		parts = append(parts, f)
	}
	return c.alt(parts...), nil
}

// known refuses keywords that are not supported.
func (c *schemas) known(m *members, path string) error {
	for _, name := range m.names {
		ok := name == "type" || name == "enum" || name == "const" || slices.Contains(annotations, name) || slices.Contains(alone, name)
		for _, list := range keywords {
			ok = ok || slices.Contains(list, name)
		}
		if !ok {
			return c.fail(join(path, name), "this keyword is not supported")
		}
	}
	return nil
}

// types lists what the value may be. Without "type" it is what the keywords are for, and nil if there are none: anything.
func (c *schemas) types(m *members, path string) ([]string, error) {
	v, ok := m.get("type")
	if !ok {
		var list []string
		for _, t := range types {
			if slices.ContainsFunc(keywords[t], func(name string) bool { _, ok := m.get(name); return ok }) {
				list = append(list, t)
			}
		}
		return list, nil
	}
	names, ok := v.([]any)
	if !ok {
		names = []any{v}
	}
	if len(names) == 0 {
		return nil, c.fail(join(path, "type"), "there must be one at least")
	}
	var list []string
	for _, n := range names {
		name, ok := n.(string)
		if !ok || !slices.Contains(types, name) {
			return nil, c.fail(join(path, "type"), "must be one of %s, or an array of them", strings.Join(types, ", "))
		}
		list = append(list, name)
	}
	return list, nil
}

// typed is a value of one type.
func (c *schemas) typed(t string, m *members, path string) (frag, error) {
	switch t {
	case "object":
		return c.objects(m, path)
	case "array":
		return c.arrays(m, path)
	case "string":
		return c.strings(m, path)
	case "number", "integer":
		return c.numbers(t == "integer", m, path)
	case "boolean":
		return c.alt(c.text("true"), c.text("false")), nil
	default:
		return c.text("null"), nil
	}
}

// join adds a step to a path.
func join(path, step string) string {
	if path == "" {
		return step
	}
	return path + "." + step
}
