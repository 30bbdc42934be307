package chat

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ardanlabs/jinja"
)

// Names of our functions in translated templates.
const (
	fnText = "tr_text"
	fnMap  = "tr_map"
	setVar = "tr_values"

	fnKept   = "tr_kept"
	fnOwn    = "tr_own"
	fnIter   = "tr_iter"
	fnCalled = "tr_called"
	fnIndex  = "tr_index"
)

type function = func(args []jinja.Value, kw map[string]jinja.Value) (jinja.Value, error)

// ownMethods are methods and ownFilters filters that are ours, by their names in Jinja.
var (
	ownMethods = map[string]string{
		"split": "tr_split", "rsplit": "tr_rsplit", "splitlines": "tr_splitlines", "join": "tr_join", "startswith": "tr_startswith",
		"endswith": "tr_endswith", "removeprefix": "tr_removeprefix", "removesuffix": "tr_removesuffix", "replace": "tr_replace",
		"format": "tr_format", "append": "tr_append", "insert": "tr_insert", "update": "tr_update",
	}
	ownFilters = map[string]string{
		"tojson": filterJSON, "map": fnMap, "string": fnText, "replace": "tr_replace", "join": "tr_joined", "indent": "tr_indent",
		"list": "tr_list", "from_json": "tr_parsed", "fromjson": "tr_parsed", "first": "tr_first", "last": "tr_last",
	}
	// engineMethods are those of the engine, and smallFilters filters of it that make nothing.
	engineMethods = []string{
		"strip", "lstrip", "rstrip", "upper", "lower", "title", "capitalize", "count", "find", "pop", "items", "keys", "values", "get",
	}
	smallFilters = []string{
		"length", "count", "int", "float", "abs", "round", "wordcount", "default", "d", "safe", "max", "min", "sum",
	}
)

// functions are what translated templates call, apart from the guard and the clock. What they give is charged.
func (g *guard) functions() map[string]function {
	return map[string]function{
		fnText: g.printed, fnMap: g.mapped, filterJSON: g.toJSON,
		"tr_split":        method("split", g.cut(split)),
		"tr_rsplit":       method("rsplit", g.cut(rsplit)),
		"tr_splitlines":   method("splitlines", g.cut(splitLines)),
		"tr_join":         method("join", g.joined),
		"tr_startswith":   method("startswith", affix(strings.HasPrefix)),
		"tr_endswith":     method("endswith", affix(strings.HasSuffix)),
		"tr_removeprefix": method("removeprefix", removed(strings.TrimPrefix)),
		"tr_removesuffix": method("removesuffix", removed(strings.TrimSuffix)),
		"tr_replace":      g.replaced, "tr_format": g.formatted, "tr_joined": g.joinedBy, "tr_indent": g.indented,
		"tr_list": g.listed, "tr_parsed": g.parsed, "tr_first": end(false), "tr_last": end(true),
		"tr_append": g.changed("append"), "tr_insert": g.changed("insert"), "tr_update": g.changed("update"),
		"tr_add": g.add, "tr_mul": g.mul, "tr_concat": g.concat,
		"tr_sub": operator("-"), "tr_div": operator("/"), "tr_floor": operator("//"), "tr_mod": operator("%"),
	}
}

// bounds are functions that charge by themselves what they make.
func (g *guard) bounds() map[string]function {
	return map[string]function{
		fnKept: g.kept, fnOwn: g.own, fnIter: g.iterated, fnCalled: g.called, fnIndex: g.index,
		"namespace": g.mapping, "dict": g.mapping, guardStep: g.step, guardEnter: g.enter,
	}
}

// cut bounds how many pieces a text is cut into.
func (g *guard) cut(do func(string, []jinja.Value) (jinja.Value, error)) func(string, []jinja.Value) (jinja.Value, error) {
	return func(s string, args []jinja.Value) (jinja.Value, error) {
		n := 1 + len(s)/2
		if len(args) > 0 && args[0].IsString() && args[0].AsString() != "" {
			n = 1 + strings.Count(s, args[0].AsString())
		} else if len(args) == 0 || args[0].IsNone() {
			n = 1 + strings.Count(s, " ") + strings.Count(s, "\n") + strings.Count(s, "\t") + strings.Count(s, "\r")
		}
		if err := g.fits(n, itemBytes); err != nil {
			return jinja.None(), err
		}
		return do(s, args)
	}
}

// end makes the filters first and last, of a list or a text.
func end(last bool) function {
	return func(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
		switch v := args[0]; {
		case v.IsString() && v.AsString() != "":
			_, n := utf8.DecodeRuneInString(v.AsString())
			if last {
				_, n = utf8.DecodeLastRuneInString(v.AsString())
				n = len(v.AsString()) - n
				return jinja.NewString(v.AsString()[n:]), nil
			}
			return jinja.NewString(v.AsString()[:n]), nil
		case v.IsList() && v.AsList().Len() > 0:
			if last {
				return v.AsList().Get(v.AsList().Len() - 1), nil
			}
			return v.AsList().Get(0), nil
		}
		return jinja.Undefined(), nil
	}
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

func (g *guard) joined(s string, args []jinja.Value) (jinja.Value, error) {
	if len(args) != 1 || !args[0].IsList() {
		return jinja.None(), fmt.Errorf("expected one list")
	}
	i := -1
	return g.join(args[0].AsList().Items, s, func(v jinja.Value) (string, error) {
		if i++; !v.IsString() {
			return "", fmt.Errorf("item %d is %s, expected a string", i, kindOf(v))
		}
		return v.AsString(), nil
	})
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
