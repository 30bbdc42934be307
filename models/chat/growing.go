package chat

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ardanlabs/jinja"
)

// Filters and methods whose result can be much larger than what they are given.

// texts gives arguments as texts, at least n of them.
func (g *guard) texts(args []jinja.Value, n int) ([]string, error) {
	if len(args) < n {
		return nil, fmt.Errorf("%d arguments, expected %d", len(args)-1, n-1)
	}
	out := make([]string, n)
	for i := range out {
		v, err := g.printed(args[i:i+1], nil)
		if err != nil {
			return nil, err
		}
		out[i] = v.AsString()
	}
	return out, nil
}

// option gives an argument by its place or name, a default if it is not there.
func option(args []jinja.Value, kw map[string]jinja.Value, i int, name string, otherwise jinja.Value) jinja.Value {
	if v, ok := kw[name]; ok {
		return v
	}
	if i < len(args) {
		return args[i]
	}
	return otherwise
}

// replaced is the filter and the method replace(old, new, count).
func (g *guard) replaced(args []jinja.Value, kw map[string]jinja.Value) (jinja.Value, error) {
	t, err := g.texts(args, 3)
	if err != nil {
		return jinja.None(), fmt.Errorf("replace: %w", err)
	}
	n := strings.Count(t[0], t[1])
	if count := option(args, kw, 3, "count", jinja.None()); count.IsInt() && count.AsInt() >= 0 {
		n = int(min(int64(n), count.AsInt()))
	}
	if err := g.fits(n, len(t[2])); err != nil {
		return jinja.None(), err
	}
	return jinja.NewString(strings.Replace(t[0], t[1], t[2], n)), nil
}

// indented is the filter indent(width=4, first=false, blank=false); width may be a text.
func (g *guard) indented(args []jinja.Value, kw map[string]jinja.Value) (jinja.Value, error) {
	t, err := g.texts(args, 1)
	if err != nil {
		return jinja.None(), fmt.Errorf("indent: %w", err)
	}
	width, pad := option(args, kw, 1, "width", jinja.NewInt(4)), ""
	lines := 1 + strings.Count(t[0], "\n")
	switch {
	case width.IsString():
		pad = width.AsString()
	case width.IsInt():
		n := int(max(width.AsInt(), 0))
		if err := g.fits(lines, n); err != nil {
			return jinja.None(), err
		}
		pad = strings.Repeat(" ", n)
	default:
		return jinja.None(), fmt.Errorf("indent: width is %s, expected a whole number", kindOf(width))
	}
	if err := g.fits(lines, len(pad)); err != nil {
		return jinja.None(), err
	}
	first, blank := option(args, kw, 2, "first", jinja.None()), option(args, kw, 3, "blank", jinja.None())
	var out strings.Builder
	i := 0
	for line := range strings.SplitAfterSeq(t[0], "\n") {
		if (i > 0 || first.IsTruthy()) && (strings.TrimSpace(line) != "" || blank.IsTruthy()) {
			out.WriteString(pad)
		}
		out.WriteString(line)
		i++
	}
	return jinja.NewString(out.String()), nil
}

// joinedBy is the filter join(d="", attribute=none).
func (g *guard) joinedBy(args []jinja.Value, kw map[string]jinja.Value) (jinja.Value, error) {
	if len(args) == 0 || !args[0].IsList() {
		return g.printed(args[:min(len(args), 1)], nil)
	}
	sep, err := g.texts([]jinja.Value{option(args, kw, 1, "d", jinja.NewString(""))}, 1)
	if err != nil {
		return jinja.None(), err
	}
	path := option(args, kw, 2, "attribute", jinja.None())
	return g.join(args[0].AsList().Items, sep[0], func(v jinja.Value) (string, error) {
		if path.IsString() {
			v = attribute(v, path.AsString(), jinja.Undefined())
		}
		s, err := g.printed([]jinja.Value{v}, nil)
		if err != nil {
			return "", err
		}
		return s.AsString(), nil
	})
}

func (g *guard) join(items []jinja.Value, sep string, text func(jinja.Value) (string, error)) (jinja.Value, error) {
	if err := g.fits(len(items), len(sep)); err != nil {
		return jinja.None(), err
	}
	var out strings.Builder
	for i, v := range items {
		if i > 0 {
			out.WriteString(sep)
		}
		s, err := text(v)
		if err != nil {
			return jinja.None(), err
		}
		if err := g.fits(1, out.Len()+len(s)); err != nil {
			return jinja.None(), err
		}
		out.WriteString(s)
	}
	return jinja.NewString(out.String()), nil
}

// formatted is the method format, with {} and {0}.
func (g *guard) formatted(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
	t, err := g.texts(args, max(len(args), 1))
	if err != nil {
		return jinja.None(), fmt.Errorf("format: %w", err)
	}
	var out strings.Builder
	next, rest := 0, t[0]
	for {
		open := strings.IndexByte(rest, '{')
		if open < 0 {
			break
		}
		length := strings.IndexByte(rest[open:], '}')
		if length < 0 {
			break
		}
		out.WriteString(rest[:open])
		field := rest[open+1 : open+length]
		n, err := strconv.Atoi(field)
		if field == "" {
			n, err = next, nil
			next++
		}
		insert := rest[open : open+length+1]
		if err == nil && n >= 0 && n < len(t)-1 {
			insert = t[n+1]
		}
		if err := g.fits(1, out.Len()+len(insert)+len(rest)); err != nil {
			return jinja.None(), err
		}
		out.WriteString(insert)
		rest = rest[open+length+1:]
	}
	out.WriteString(rest)
	return jinja.NewString(out.String()), nil
}

// listed is the filter list.
func (g *guard) listed(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
	switch v := args[0]; {
	case v.IsList():
		return v, nil
	case v.IsString():
		if err := g.characters(v.AsString()); err != nil {
			return v, err
		}
		return strs(strings.Split(v.AsString(), "")), nil
	case v.IsDict():
		return strs(v.AsDict().Keys), nil
	case v.IsUndefined():
		return jinja.NewList(nil), nil
	}
	return jinja.None(), fmt.Errorf("list: found %s, expected a list, a mapping or a text", kindOf(args[0]))
}

// parsed is the filter from_json.
func (g *guard) parsed(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
	if !args[0].IsString() {
		return jinja.None(), fmt.Errorf("from_json: found %s, expected a text", kindOf(args[0]))
	}
	if err := g.characters(args[0].AsString()); err != nil {
		return jinja.None(), err
	}
	return fromJSON([]byte(args[0].AsString()))
}

// changed makes the methods of lists and mappings that put something in; a copy of it is what goes in.
func (g *guard) changed(name string) function {
	return func(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
		if len(args) < 2 {
			return jinja.None(), fmt.Errorf("%s: too few arguments", name)
		}
		v, err := g.copied(args[len(args)-1])
		if err != nil {
			return v, err
		}
		switch to := args[0]; {
		case name == "append" && to.IsList():
			to.AsList().Append(v)
		case name == "insert" && to.IsList() && len(args) == 3 && args[1].IsInt():
			l := to.AsList()
			at := args[1].AsInt()
			if at < 0 {
				at = max(at+int64(l.Len()), 0)
			}
			at = min(at, int64(l.Len()))
			l.Items = append(l.Items[:at:at], append([]jinja.Value{v}, l.Items[at:]...)...)
		case name == "update" && to.IsDict() && v.IsDict():
			for _, k := range v.AsDict().Keys {
				to.AsDict().Set(k, v.AsDict().Data[k])
			}
		default:
			return jinja.None(), fmt.Errorf("%s is no method of %s with these arguments", name, kindOf(to))
		}
		return jinja.None(), nil
	}
}
