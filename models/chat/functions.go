package chat

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/ardanlabs/jinja"
)

// Names of our functions in translated templates.
const (
	fnText = "tr_text"
	fnMap  = "tr_map"
	setVar = "tr_values"
)

type function = func(args []jinja.Value, kw map[string]jinja.Value) (jinja.Value, error)

// ownMethods are methods of strings and ownFilters filters that are ours, by their names in Jinja.
var (
	ownMethods = map[string]string{
		"split": "tr_split", "rsplit": "tr_rsplit", "splitlines": "tr_splitlines", "join": "tr_join", "startswith": "tr_startswith",
		"endswith": "tr_endswith", "removeprefix": "tr_removeprefix", "removesuffix": "tr_removesuffix",
	}
	ownFilters = map[string]string{"tojson": filterJSON, "map": fnMap, "string": fnText}
)

// functions are what translated templates call, apart from the guard and the clock.
var functions = map[string]function{
	fnText: printed, fnMap: mapped, filterJSON: toJSON,
	"tr_split":        method("split", split),
	"tr_rsplit":       method("rsplit", rsplit),
	"tr_splitlines":   method("splitlines", splitLines),
	"tr_join":         method("join", joined),
	"tr_startswith":   method("startswith", affix(strings.HasPrefix)),
	"tr_endswith":     method("endswith", affix(strings.HasSuffix)),
	"tr_removeprefix": method("removeprefix", removed(strings.TrimPrefix)),
	"tr_removesuffix": method("removesuffix", removed(strings.TrimSuffix)),
}

// method makes a function of what a method does with a string, its arguments in order.
func method(name string, do func(s string, args []jinja.Value) (jinja.Value, error)) function {
	return func(args []jinja.Value, kw map[string]jinja.Value) (jinja.Value, error) {
		if len(args) == 0 || !args[0].IsString() {
			what := "nothing"
			if len(args) > 0 {
				what = kindOf(args[0])
			}
			return jinja.None(), fmt.Errorf("%s is a method of strings, found %s", name, what)
		}
		rest := args[1:]
		if n, ok := kw["maxsplit"]; ok && len(rest) < 2 {
			sep := jinja.None()
			if len(rest) == 1 {
				sep = rest[0]
			}
			rest = []jinja.Value{sep, n}
		}
		v, err := do(args[0].AsString(), rest)
		if err != nil {
			err = fmt.Errorf("%s: %w", name, err)
		}
		return v, err
	}
}

func kindOf(v jinja.Value) string {
	switch {
	case v.IsUndefined():
		return "an undefined value"
	case v.IsNone():
		return "none"
	case v.IsString():
		return "a string"
	case v.IsList():
		return "a list"
	case v.IsDict():
		return "a mapping"
	}
	return v.String()
}

func strs(list []string) jinja.Value {
	items := make([]jinja.Value, len(list))
	for i, s := range list {
		items[i] = jinja.NewString(s)
	}
	return jinja.NewList(items)
}

// separator reads the arguments of split: a text or none, and the most cuts, -1 for all.
func separator(args []jinja.Value) (sep string, cuts int, err error) {
	cuts = -1
	if len(args) > 1 {
		if !args[1].IsInt() {
			return "", 0, fmt.Errorf("maxsplit is %s, expected a whole number", kindOf(args[1]))
		}
		cuts = int(args[1].AsInt())
	}
	if len(args) == 0 || args[0].IsNone() {
		return "", cuts, nil
	}
	if !args[0].IsString() || args[0].AsString() == "" {
		return "", 0, fmt.Errorf("the separator is %s, expected a string that is not empty", kindOf(args[0]))
	}
	return args[0].AsString(), cuts, nil
}

func split(s string, args []jinja.Value) (jinja.Value, error) {
	sep, cuts, err := separator(args)
	switch {
	case err != nil:
		return jinja.None(), err
	case sep != "" && cuts < 0:
		return strs(strings.Split(s, sep)), nil
	case sep != "":
		return strs(strings.SplitN(s, sep, cuts+1)), nil
	case cuts < 0:
		return strs(strings.Fields(s)), nil
	}
	var out []string
	for s = strings.TrimLeftFunc(s, unicode.IsSpace); s != "" && len(out) < cuts; s = strings.TrimLeftFunc(s, unicode.IsSpace) {
		n := strings.IndexFunc(s, unicode.IsSpace)
		if n < 0 {
			n = len(s)
		}
		out, s = append(out, s[:n]), s[n:]
	}
	if s != "" {
		out = append(out, s)
	}
	return strs(out), nil
}

func rsplit(s string, args []jinja.Value) (jinja.Value, error) {
	sep, cuts, err := separator(args)
	if err != nil || cuts < 0 {
		return split(s, args)
	}
	if sep == "" {
		return jinja.None(), fmt.Errorf("with maxsplit it needs a separator")
	}
	parts := strings.Split(s, sep)
	if n := len(parts) - cuts; n > 1 {
		parts = append([]string{strings.Join(parts[:n], sep)}, parts[n:]...)
	}
	return strs(parts), nil
}

func splitLines(s string, _ []jinja.Value) (jinja.Value, error) {
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s)
	if s == "" {
		return strs(nil), nil
	}
	return strs(strings.Split(strings.TrimSuffix(s, "\n"), "\n")), nil
}

func joined(s string, args []jinja.Value) (jinja.Value, error) {
	if len(args) != 1 || !args[0].IsList() {
		return jinja.None(), fmt.Errorf("expected one list")
	}
	var parts []string
	for i, v := range args[0].AsList().Items {
		if !v.IsString() {
			return jinja.None(), fmt.Errorf("item %d is %s, expected a string", i, kindOf(v))
		}
		parts = append(parts, v.AsString())
	}
	return jinja.NewString(strings.Join(parts, s)), nil
}

// affix makes startswith and endswith, which take a string or several.
func affix(has func(s, affix string) bool) func(string, []jinja.Value) (jinja.Value, error) {
	return func(s string, args []jinja.Value) (jinja.Value, error) {
		if len(args) != 1 {
			return jinja.None(), fmt.Errorf("%d arguments, expected 1", len(args))
		}
		all := args
		if args[0].IsList() {
			all = args[0].AsList().Items
		}
		found := false
		for _, v := range all {
			if !v.IsString() {
				return jinja.None(), fmt.Errorf("looks for %s, expected a string", kindOf(v))
			}
			found = found || has(s, v.AsString())
		}
		return jinja.NewBool(found), nil
	}
}

func removed(trim func(s, affix string) string) func(string, []jinja.Value) (jinja.Value, error) {
	return func(s string, args []jinja.Value) (jinja.Value, error) {
		if len(args) != 1 || !args[0].IsString() {
			return jinja.None(), fmt.Errorf("expected one string")
		}
		return jinja.NewString(trim(s, args[0].AsString())), nil
	}
}
