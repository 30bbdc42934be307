package grammar

import (
	"encoding/json"
	"slices"
	"strings"
)

// values lists those of enum and const; ok is false if the schema has neither.
func (c *schemas) values(m *members, allowed []string, path string) (values []any, ok bool, err error) {
	only, isConst := m.get("const")
	listed, isEnum := m.get("enum")
	if !isConst && !isEnum {
		return nil, false, nil
	}
	for _, list := range keywords {
		for _, name := range list {
			if _, ok := m.get(name); ok {
				return nil, true, c.fail(join(path, name), "is not supported beside enum and const")
			}
		}
	}
	list, isList := listed.([]any)
	switch {
	case isEnum && (!isList || len(list) == 0):
		return nil, true, c.fail(join(path, "enum"), "must be an array of values, of one at least")
	case isConst && !isEnum:
		list = []any{only}
	}
	one := ""
	if isConst {
		one = canonical(only)
	}
	for _, v := range list {
		if isConst && canonical(v) != one || !fits(v, allowed) {
			continue
		}
		values = append(values, v)
	}
	if len(values) == 0 {
		return nil, true, c.fail(path, "no value of it is of its type")
	}
	return values, true, nil
}

// onlyValues lists the values of a schema that is nothing but a list of them; ok is false for any other.
func (c *schemas) onlyValues(v any, path string) (values []any, ok bool, err error) {
	m, is := v.(*members)
	if !is || slices.ContainsFunc(alone, func(name string) bool { _, has := m.get(name); return has }) {
		return nil, false, nil
	}
	if err := c.known(m, path); err != nil {
		return nil, false, err
	}
	allowed, err := c.types(m, path)
	if err != nil {
		return nil, false, err
	}
	return c.values(m, allowed, path)
}

// oneOf is exactly one of these values.
func (b *builder) oneOf(values []any) frag {
	var parts []frag
	var texts []string
	for _, v := range values {
		if text, ok := scalar(v); ok {
			texts = append(texts, text)
		} else {
			parts = append(parts, b.literal(v))
		}
	}
	if len(texts) > 0 {
		parts = append(parts, b.oneText(texts))
	}
	return b.alt(parts...)
}

// typeOf is the type of a value, "number" for all numbers.
func typeOf(v any) string {
	switch v.(type) {
	case *members:
		return "object"
	case []any:
		return "array"
	case string:
		return "string"
	case json.Number:
		return "number"
	case bool:
		return "boolean"
	default:
		return "null"
	}
}

// fits reports whether a value is of one of these types; nil: of any.
func fits(v any, allowed []string) bool {
	t := typeOf(v)
	if allowed == nil || slices.Contains(allowed, t) {
		return true
	}
	if n, ok := v.(json.Number); ok && slices.Contains(allowed, "integer") {
		d, err := parseDecimal(n.String())
		return err == nil && d.fraction == "" && !strings.ContainsAny(n.String(), ".eE")
	}
	return false
}

// strings is a string within the limits of a schema.
func (c *schemas) strings(m *members, path string) (frag, error) {
	least, most, err := c.bounds(m, "minLength", "maxLength", path)
	if err != nil {
		return frag{}, err
	}
	expression, where := "", ""
	if v, ok := m.get("pattern"); ok {
		if expression, ok = v.(string); !ok {
			return frag{}, c.fail(join(path, "pattern"), "must be a string")
		}
		where = "pattern"
	}
	if v, ok := m.get("format"); ok {
		name, _ := v.(string)
		p, known := formats[name]
		switch {
		case !known:
			return frag{}, c.fail(join(path, "format"), "this format is not supported; supported are %s", strings.Join(formatNames(), ", "))
		case where != "":
			return frag{}, c.fail(join(path, "format"), "is not supported beside pattern")
		}
		expression, where = p, "format"
	}
	if where == "" {
		return c.counted(least, most), nil
	}
	for _, name := range []string{"minLength", "maxLength"} {
		if _, ok := m.get(name); ok {
			return frag{}, c.fail(join(path, name), "is not supported beside %s", where)
		}
	}
	f, err := c.pattern(expression)
	if err != nil {
		return frag{}, c.fail(join(path, where), "%v", err)
	}
	return f, nil
}

// numbers is a number within the limits of a schema.
func (c *schemas) numbers(integers bool, m *members, path string) (frag, error) {
	var l limits
	given := false
	for _, k := range []struct {
		keyword string
		low     bool
		strict  bool
	}{{"minimum", true, false}, {"exclusiveMinimum", true, true}, {"maximum", false, false}, {"exclusiveMaximum", false, true}} {
		v, ok := m.get(k.keyword)
		if !ok {
			continue
		}
		n, ok := v.(json.Number)
		if !ok {
			return frag{}, c.fail(join(path, k.keyword), "must be a number")
		}
		d, err := parseDecimal(n.String())
		if err != nil {
			return frag{}, c.fail(join(path, k.keyword), "%v", err)
		}
		given = true
		switch {
		case k.low && (l.least == nil || l.least.compare(d) <= 0):
			l.least, l.aboveLeast = &d, k.strict
		case !k.low && (l.most == nil || l.most.compare(d) >= 0):
			l.most, l.belowMost = &d, k.strict
		}
	}
	switch {
	case given:
		f, ok := c.within(l, integers)
		if !ok {
			return frag{}, c.fail(path, "no number is within its limits")
		}
		return f, nil
	case integers:
		return c.integer(), nil
	default:
		return c.number(), nil
	}
}

// bounds reads two keywords that are whole numbers; most is -1 if it is not given.
func (c *schemas) bounds(m *members, low, high, path string) (least, most int, err error) {
	read := func(name string, otherwise int) (int, error) {
		v, ok := m.get(name)
		if !ok {
			return otherwise, nil
		}
		n, _ := v.(json.Number)
		i, err := n.Int64()
		switch {
		case err != nil || i < 0:
			return 0, c.fail(join(path, name), "must be a whole number, 0 or more")
		case i > maxCounted:
			return 0, c.fail(join(path, name), "is supported up to %d", maxCounted)
		}
		return int(i), nil
	}
	if least, err = read(low, 0); err != nil {
		return 0, 0, err
	}
	if most, err = read(high, -1); err != nil {
		return 0, 0, err
	}
	if most >= 0 && least > most {
		return 0, 0, c.fail(join(path, low), "is more than %s", high)
	}
	return least, most, nil
}
