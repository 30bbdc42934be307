package grammar

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// ref is a value of a schema elsewhere in the document.
func (c *schemas) ref(v any, path string) (frag, error) {
	pointer, ok := v.(string)
	if !ok {
		return frag{}, c.fail(path, "must be a string")
	}
	target, at, err := c.resolve(pointer)
	if err != nil {
		return frag{}, c.fail(path, "%v", err)
	}
	return c.schema(target, at)
}

// resolve finds what a reference points at, and its path.
func (c *schemas) resolve(pointer string) (v any, path string, err error) {
	rest, ok := strings.CutPrefix(pointer, "#")
	if !ok || rest != "" && rest[0] != '/' {
		return nil, "", fmt.Errorf("%q is not supported: only references within the schema are, such as #/$defs/name", pointer)
	}
	if rest, err = url.PathUnescape(rest); err != nil {
		return nil, "", fmt.Errorf("%q is not a reference", pointer)
	}
	v = c.root
	for _, step := range strings.Split(rest, "/")[1:] {
		step = strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
		found := false
		switch at := v.(type) {
		case *members:
			v, found = at.get(step)
		case []any:
			if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(at) {
				v, found = at[i], true
			}
		}
		if !found {
			return nil, "", fmt.Errorf("there is nothing at %q", pointer)
		}
		path = join(path, step)
	}
	if rest == "" {
		return c.root, "", nil
	}
	return v, path, nil
}

// combined is a value of anyOf, oneOf or allOf.
func (c *schemas) combined(keyword string, v any, path string) (frag, error) {
	list, ok := v.([]any)
	if !ok || len(list) == 0 {
		return frag{}, c.fail(path, "must be an array of schemas, of one at least")
	}
	if keyword == "allOf" && len(list) > 1 {
		return frag{}, c.fail(path, "is supported with one schema only")
	}
	var parts []frag
	var values []any // of all that are nothing but values: many of them are quicker together
	for i, v := range list {
		at := fmt.Sprintf("%s[%d]", path, i)
		some, ok, err := c.onlyValues(v, at)
		if err != nil {
			return frag{}, err
		}
		if ok {
			values = append(values, some...)
			continue
		}
		f, err := c.schema(v, at)
		if err != nil {
			return frag{}, err
		}
		parts = append(parts, f)
	}
	if keyword == "oneOf" {
		if err := c.exclusive(list, path); err != nil {
			return frag{}, err
		}
	}
	if len(values) > 0 {
		parts = append(parts, c.oneOf(values))
	}
	return c.alt(parts...), nil
}

// maxCompared bounds the comparisons of values that tell the schemas of a document's oneOf apart.
const maxCompared = 1 << 20

// exclusive is an error if a value may be valid to two of these.
func (c *schemas) exclusive(list []any, path string) error {
	for i := range list {
		for j := range i {
			apart := c.disjoint(list[j], list[i], 0)
			switch {
			case c.compared > maxCompared:
				return c.fail(path, "it has too many values to tell its schemas apart. Use anyOf")
			case !apart:
				return c.fail(path, "what is valid to %d may be valid to %d, too: it is only supported where types, or a required property with const or enum, tell them apart. Use anyOf", j, i)
			}
		}
	}
	return nil
}

// disjoint reports whether it is plain that no value is valid to both.
func (c *schemas) disjoint(a, b any, depth int) bool {
	x, y := c.follow(a), c.follow(b)
	if c.compared++; x == nil || y == nil || depth > 1 || c.compared > maxCompared {
		return false
	}
	s, t := c.shape(x), c.shape(y)
	if s.values != nil && t.values != nil {
		few, many := s.values, t.values
		if len(few) > len(many) {
			few, many = many, few
		}
		c.compared += len(few)
		for v := range few {
			if _, common := many[v]; common {
				return false
			}
		}
		return true
	}
	if s.types != nil && t.types != nil {
		if !slices.ContainsFunc(s.types, func(n string) bool { return slices.Contains(t.types, n) }) {
			return true
		}
		if len(s.types) == 1 && len(t.types) == 1 && s.types[0] == "object" {
			return c.apart(x, y, depth)
		}
	}
	return false
}

// apart reports whether a property that both objects must have tells them apart.
func (c *schemas) apart(x, y *members, depth int) bool {
	p, _ := x.values["properties"].(*members)
	q, _ := y.values["properties"].(*members)
	if p == nil || q == nil {
		return false
	}
	must, also := required(x), required(y)
	for _, name := range p.names {
		c.compared += len(must) + len(also)
		if c.compared > maxCompared {
			return false
		}
		if v, ok := q.get(name); ok && slices.Contains(must, any(name)) && slices.Contains(also, any(name)) && c.disjoint(p.values[name], v, depth+1) {
			return true
		}
	}
	return false
}

// required are the names that a schema requires.
func required(m *members) []any {
	list, _ := m.values["required"].([]any)
	return list
}

// follow goes through references; nil if that ends at no object.
func (c *schemas) follow(v any) *members {
	for range maxDepth {
		m, ok := v.(*members)
		if !ok {
			return nil
		}
		pointer, ok := m.values["$ref"].(string)
		if !ok {
			return m
		}
		var err error
		if v, _, err = c.resolve(pointer); err != nil {
			return nil
		}
	}
	return nil
}

// shape is what is plain of the values of a schema; nil: nothing is.
type shape struct {
	types  []string            // "number" for integers, too
	values map[string]struct{} // canonical
}

// shape is found out once for a schema.
func (c *schemas) shape(m *members) shape {
	s, ok := c.shapes[m]
	if !ok {
		s = shapeOf(m)
		c.shapes[m] = s
	}
	return s
}

func shapeOf(m *members) shape {
	var s shape
	list, ok := m.values["enum"].([]any)
	if v, isConst := m.get("const"); isConst {
		list, ok = []any{v}, true
	}
	if ok {
		s.values = make(map[string]struct{}, len(list))
		for _, v := range list {
			s.values[canonical(v)] = struct{}{}
			if t := typeOf(v); !slices.Contains(s.types, t) {
				s.types = append(s.types, t)
			}
		}
		return s
	}
	names, ok := m.values["type"].([]any)
	if v, single := m.get("type"); !ok && single {
		names = []any{v}
	}
	for _, n := range names {
		name, _ := n.(string)
		if name == "integer" {
			name = "number"
		}
		s.types = append(s.types, name)
	}
	return s
}
