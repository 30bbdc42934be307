package chat

import (
	"fmt"
	"strings"

	"github.com/ardanlabs/jinja"
)

// mapFilter is what the filter map can apply to every item; nil if there is none of that name.
func (g *guard) mapFilter(name string) func(jinja.Value) (jinja.Value, error) {
	switch name {
	case "string":
		return func(v jinja.Value) (jinja.Value, error) { return g.printed([]jinja.Value{v}, nil) }
	case "tojson":
		return func(v jinja.Value) (jinja.Value, error) { return g.toJSON([]jinja.Value{v}, nil) }
	case "lower":
		return onString(strings.ToLower)
	case "upper":
		return onString(strings.ToUpper)
	case "trim":
		return onString(strings.TrimSpace)
	}
	return nil
}

func onString(do func(string) string) func(jinja.Value) (jinja.Value, error) {
	return func(v jinja.Value) (jinja.Value, error) {
		if !v.IsString() {
			return jinja.None(), fmt.Errorf("map: an item is %s, expected a string", kindOf(v))
		}
		return jinja.NewString(do(v.AsString())), nil
	}
}

// mapped is the filter map: list | map(attribute="a.b", default=x), or list | map("filter").
func (g *guard) mapped(args []jinja.Value, kw map[string]jinja.Value) (jinja.Value, error) {
	if len(args) == 0 || !args[0].IsList() {
		return jinja.None(), fmt.Errorf("map: expected a list")
	}
	apply, err := g.applied(args[1:], kw)
	if err != nil {
		return jinja.None(), err
	}
	items := make([]jinja.Value, args[0].AsList().Len())
	for i, v := range args[0].AsList().Items {
		if items[i], err = apply(v); err == nil {
			_, err = g.keep(items[i])
		}
		if err != nil {
			return jinja.None(), err
		}
	}
	return jinja.NewList(items), nil
}

func (g *guard) applied(args []jinja.Value, kw map[string]jinja.Value) (func(jinja.Value) (jinja.Value, error), error) {
	if path, ok := kw["attribute"]; ok && path.IsString() {
		otherwise, ok := kw["default"]
		if !ok {
			otherwise = jinja.Undefined()
		}
		return func(v jinja.Value) (jinja.Value, error) {
			if found := attribute(v, path.AsString(), jinja.Undefined()); !found.IsUndefined() {
				return found, nil
			}
			return g.copied(otherwise)
		}, nil
	}
	if len(args) == 0 || !args[0].IsString() {
		return nil, fmt.Errorf("map: expected the name of a filter, or attribute=")
	}
	apply := g.mapFilter(args[0].AsString())
	if apply == nil || len(args) > 1 {
		return nil, fmt.Errorf("map: the filter %q is not supported here", args[0].AsString())
	}
	return apply, nil
}

func attribute(v jinja.Value, path string, otherwise jinja.Value) jinja.Value {
	for key := range strings.SplitSeq(path, ".") {
		if !v.IsDict() {
			return otherwise
		}
		next, ok := v.AsDict().Get(key)
		if !ok {
			return otherwise
		}
		v = next
	}
	return v
}
