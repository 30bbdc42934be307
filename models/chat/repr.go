package chat

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/ardanlabs/jinja"
)

// printed gives what an expression in a template prints, as Python's str does. It is the filter string, too.
func (g *guard) printed(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
	switch {
	case len(args) != 1:
		return jinja.None(), fmt.Errorf("%d values in one expression that is printed, expected 1", len(args))
	case args[0].IsString():
		return args[0], nil
	case args[0].IsUndefined():
		return jinja.NewString(""), nil
	}
	var out strings.Builder
	if err := g.repr(&out, args[0], 0); err != nil {
		return jinja.None(), err
	}
	return jinja.NewString(out.String()), nil
}

// repr writes a value as Python's repr does.
func (g *guard) repr(out *strings.Builder, v jinja.Value, depth int) error {
	if err := g.fits(1, out.Len()); err != nil {
		return err
	}
	if depth > 2*maxJSONDepth {
		return fmt.Errorf("the value that is printed is nested too deep")
	}
	switch {
	case v.IsNone():
		out.WriteString("None")
	case v.IsFloat():
		out.WriteString(pythonFloat(v.AsFloat()))
	case v.IsString():
		reprString(out, v.AsString())
	case v.IsList():
		out.WriteByte('[')
		for i, x := range v.AsList().Items {
			if i > 0 {
				out.WriteString(", ")
			}
			if err := g.repr(out, x, depth+1); err != nil {
				return err
			}
		}
		out.WriteByte(']')
	case v.IsDict():
		out.WriteByte('{')
		for i, key := range v.AsDict().OrderedKeys() {
			if i > 0 {
				out.WriteString(", ")
			}
			reprString(out, key)
			out.WriteString(": ")
			x, _ := v.AsDict().Get(key)
			if err := g.repr(out, x, depth+1); err != nil {
				return err
			}
		}
		out.WriteByte('}')
	default:
		out.WriteString(v.String())
	}
	return nil
}

func reprString(out *strings.Builder, s string) {
	quote := '\''
	if strings.ContainsRune(s, '\'') && !strings.ContainsRune(s, '"') {
		quote = '"'
	}
	out.WriteRune(quote)
	for _, r := range s {
		switch {
		case r == quote || r == '\\':
			out.WriteByte('\\')
			out.WriteRune(r)
		case r == '\n' || r == '\r' || r == '\t':
			q := strconv.QuoteRune(r)
			out.WriteString(q[1 : len(q)-1])
		case r == ' ' || unicode.IsPrint(r):
			out.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(out, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(out, `\u%04x`, r)
		default:
			fmt.Fprintf(out, `\U%08x`, r)
		}
	}
	out.WriteRune(quote)
}
