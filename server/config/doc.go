// Package config reads TokenRouter's configuration: YAML, described by the JSON schema in schema.json.
//
//	c, err := config.Load("tokenrouter.yaml")
//
// The schema is the one place that says which keys there are, what they allow and what they default to; the package
// adds the checks that a schema cannot express (names are unique, a route's models exist) and turns sizes and durations
// into numbers. Every mistake found is reported, with file, line and column ([Error]).
package config
