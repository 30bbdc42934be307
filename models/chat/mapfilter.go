package chat

import (
	"fmt"
	"strings"

	"github.com/ardanlabs/jinja"
)

// mapFilters are what the filter map can apply to every item.
var mapFilters = map[string]func(jinja.Value) (jinja.Value, error){
	"string": func(v jinja.Value) (jinja.Value, error) { return printed([]jinja.Value{v}, nil) },
	"tojson": func(v jinja.Value) (jinja.Value, error) { return toJSON([]jinja.Value{v}, nil) },
	"lower":  onString(strings.ToLower),
	"upper":  onString(strings.ToUpper),
	"trim":   onString(strings.TrimSpace),
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
func mapped(args []jinja.Value, kw map[string]jinja.Value) (jinja.Value, error) {
	if len(args) == 0 || !args[0].IsList() {
		return jinja.None(), fmt.Errorf("map: expected a list")
	}
	apply, err := mapping(args[1:], kw)
	if err != nil {
		return jinja.None(), err
	}
	items := make([]jinja.Value, args[0].AsList().Len())
	for i, v := range args[0].AsList().Items {
		if items[i], err = apply(v); err != nil {
			return jinja.None(), err
		}
	}
	return jinja.NewList(items), nil
}

func mapping(args []jinja.Value, kw map[string]jinja.Value) (func(jinja.Value) (jinja.Value, error), error) {
	if path, ok := kw["attribute"]; ok && path.IsString() {
		otherwise, ok := kw["default"]
		if !ok {
			otherwise = jinja.Undefined()
		}
		return func(v jinja.Value) (jinja.Value, error) { return attribute(v, path.AsString(), otherwise), nil }, nil
	}
	if len(args) == 0 || !args[0].IsString() {
		return nil, fmt.Errorf("map: expected the name of a filter, or attribute=")
	}
	apply, ok := mapFilters[args[0].AsString()]
	if !ok || len(args) > 1 {
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
