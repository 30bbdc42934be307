package config

import (
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// fill adds to a valid value whatever the schema gives a default for. A missing mapping without required keys is added
// too, so that the defaults within it apply.
func fill(v any, s *jsonschema.Schema) any {
	for s.Ref != nil {
		s = s.Ref
	}
	switch v := v.(type) {
	case []any:
		if s.Items2020 != nil {
			for i := range v {
				v[i] = fill(v[i], s.Items2020)
			}
		}
	case map[string]any:
		for name, p := range s.Properties {
			for p.Default == nil && p.Ref != nil {
				p = p.Ref
			}
			value, ok := v[name]
			switch {
			case ok:
			case p.Default != nil:
				value = clone(*p.Default)
			case len(p.Properties) > 0 && len(p.Required) == 0:
				value = map[string]any{}
			default:
				continue
			}
			v[name] = fill(value, p)
		}
	}
	return v
}

// clone copies the containers of a default, which all configurations share.
func clone(v any) any {
	switch v := v.(type) {
	case []any:
		c := make([]any, len(v))
		for i := range v {
			c[i] = clone(v[i])
		}
		return c
	case map[string]any:
		c := make(map[string]any, len(v))
		for k := range v {
			c[k] = clone(v[k])
		}
		return c
	default:
		return v
	}
}
