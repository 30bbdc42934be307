package chat

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/ardanlabs/jinja"
)

// filterJSON is the name under which templates find toJSON (translate.go).
const filterJSON = "tr_tojson"

// dumper writes values as Python's json.dumps does.
type dumper struct {
	out         strings.Builder
	item, key   string // separators
	indent      string // of one level; used if indented
	indented    bool
	ascii, sort bool
	guard       *guard
}

// toJSON is the filter tojson of chat templates: tojson(ensure_ascii=false, indent=none, separators=none,
// sort_keys=false).
func (g *guard) toJSON(args []jinja.Value, kw map[string]jinja.Value) (jinja.Value, error) {
	if len(args) == 0 {
		return jinja.None(), fmt.Errorf("tojson: no value")
	}
	option := func(i int, name string) jinja.Value {
		if v, ok := kw[name]; ok {
			return v
		}
		if i < len(args) {
			return args[i]
		}
		return jinja.None()
	}
	d := dumper{guard: g, item: ", ", key: ": ", ascii: option(1, "ensure_ascii").IsTruthy(), sort: option(4, "sort_keys").IsTruthy()}
	switch in := option(2, "indent"); {
	case in.IsInt():
		if n := in.AsInt(); n > 100 {
			return jinja.None(), fmt.Errorf("tojson: indent is %d, expected at most 100", n)
		}
		d.indented, d.indent, d.item = true, strings.Repeat(" ", int(max(in.AsInt(), 0))), ","
	case in.IsString():
		d.indented, d.indent, d.item = true, in.AsString(), ","
	}
	if s := option(3, "separators"); !s.IsNone() {
		if !s.IsList() || s.AsList().Len() != 2 || !s.AsList().Get(0).IsString() || !s.AsList().Get(1).IsString() {
			return jinja.None(), fmt.Errorf("tojson: separators is %s, expected two strings", kindOf(s))
		}
		d.item, d.key = s.AsList().Get(0).AsString(), s.AsList().Get(1).AsString()
	}
	if err := d.value(args[0], 0); err != nil {
		return jinja.None(), fmt.Errorf("tojson: %w", err)
	}
	return jinja.NewString(d.out.String()), nil
}

func (d *dumper) value(v jinja.Value, depth int) error {
	if depth > 2*maxJSONDepth {
		return fmt.Errorf("the value is nested too deep")
	}
	if err := d.guard.fits(1, d.out.Len()+depth*len(d.indent)); err != nil {
		return err
	}
	switch {
	case v.IsNone():
		d.out.WriteString("null")
	case v.IsBool():
		d.out.WriteString(strconv.FormatBool(v.AsBool()))
	case v.IsInt():
		d.out.WriteString(strconv.FormatInt(v.AsInt(), 10))
	case v.IsFloat():
		d.out.WriteString(pythonFloat(v.AsFloat()))
	case v.IsString():
		d.str(v.AsString())
	case v.IsList():
		return d.list(v.AsList(), depth)
	case v.IsDict():
		return d.dict(v.AsDict(), depth)
	default:
		return fmt.Errorf("an undefined value cannot be written as JSON")
	}
	return nil
}

func (d *dumper) list(l *jinja.List, depth int) error {
	d.out.WriteByte('[')
	for i, v := range l.Items {
		if err := d.between(i, depth+1); err != nil {
			return err
		}
		if err := d.value(v, depth+1); err != nil {
			return err
		}
	}
	d.closing(l.Len(), depth)
	d.out.WriteByte(']')
	return nil
}

func (d *dumper) dict(m *jinja.Dict, depth int) error {
	keys := m.Keys
	if d.sort {
		keys = slices.Sorted(maps.Keys(m.Data))
	}
	d.out.WriteByte('{')
	for i, k := range keys {
		if err := d.between(i, depth+1); err != nil {
			return err
		}
		d.str(k)
		d.out.WriteString(d.key)
		if err := d.value(m.Data[k], depth+1); err != nil {
			return err
		}
	}
	d.closing(len(keys), depth)
	d.out.WriteByte('}')
	return nil
}

func (d *dumper) between(i, depth int) error {
	if err := d.guard.fits(1, d.out.Len()+depth*len(d.indent)); err != nil {
		return err
	}
	if i > 0 {
		d.out.WriteString(d.item)
	}
	if d.indented {
		d.out.WriteString("\n" + strings.Repeat(d.indent, depth))
	}
	return nil
}

func (d *dumper) closing(n, depth int) {
	if d.indented && n > 0 {
		d.out.WriteString("\n" + strings.Repeat(d.indent, depth))
	}
}

func (d *dumper) str(s string) {
	d.out.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			d.out.WriteByte('\\')
			d.out.WriteRune(r)
		case r == '\n':
			d.out.WriteString(`\n`)
		case r == '\r':
			d.out.WriteString(`\r`)
		case r == '\t':
			d.out.WriteString(`\t`)
		case r == '\b':
			d.out.WriteString(`\b`)
		case r == '\f':
			d.out.WriteString(`\f`)
		case r < 0x20 || d.ascii && r > 0x7e && r <= 0xffff:
			fmt.Fprintf(&d.out, `\u%04x`, r)
		case d.ascii && r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			fmt.Fprintf(&d.out, `\u%04x\u%04x`, hi, lo)
		default:
			d.out.WriteRune(r)
		}
	}
	d.out.WriteByte('"')
}

// pythonFloat writes a number as Python's repr does.
func pythonFloat(x float64) string {
	switch {
	case math.IsNaN(x):
		return "NaN"
	case math.IsInf(x, 1):
		return "Infinity"
	case math.IsInf(x, -1):
		return "-Infinity"
	}
	format := byte('f')
	if a := math.Abs(x); a != 0 && (a < 1e-4 || a >= 1e16) {
		format = 'e'
	}
	s := strconv.FormatFloat(x, format, -1, 64)
	if format == 'f' && !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}
