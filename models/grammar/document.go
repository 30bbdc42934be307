package grammar

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Values of a document are nil, bool, json.Number, string, []any and *members: as encoding/json has them, but that the members of
// an object keep their order, which is that in which a model is to write them.

// members are those of an object.
type members struct {
	names  []string
	values map[string]any
}

func (m *members) get(name string) (any, bool) {
	v, ok := m.values[name]
	return v, ok
}

// maxDepth bounds how deep a document is nested.
const maxDepth = 64

// parse reads one JSON document.
func parse(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	v, err := parseValue(d, 0)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the value")
	}
	return v, nil
}

func parseValue(d *json.Decoder, depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("it is nested more than %d deep", maxDepth)
	}
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t {
	case json.Delim('['):
		list := []any{}
		for d.More() {
			v, err := parseValue(d, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err := d.Token()
		return list, err
	case json.Delim('{'):
		m := &members{values: make(map[string]any)}
		for d.More() {
			key, err := d.Token()
			if err != nil {
				return nil, err
			}
			name, _ := key.(string) // the decoder has seen to it that it is one
			if _, twice := m.values[name]; twice {
				return nil, fmt.Errorf("%q is given twice", name)
			}
			v, err := parseValue(d, depth+1)
			if err != nil {
				return nil, err
			}
			m.names = append(m.names, name)
			m.values[name] = v
		}
		_, err := d.Token()
		return m, err
	}
	return t, nil
}

// literal is exactly this value, with white space where JSON may have it.
func (b *builder) literal(v any) frag {
	switch v := v.(type) {
	case *members:
		var list []frag
		for i, name := range v.names {
			if i > 0 {
				list = append(list, b.comma())
			}
			list = append(list, b.text(quote(name)), b.colon(), b.literal(v.values[name]))
		}
		if len(list) == 0 {
			return b.text("{}")
		}
		return b.seq(b.text("{"), b.space(), b.seq(list...), b.space(), b.text("}"))
	case []any:
		var list []frag
		for i, item := range v {
			if i > 0 {
				list = append(list, b.comma())
			}
			list = append(list, b.literal(item))
		}
		if len(list) == 0 {
			return b.text("[]")
		}
		return b.seq(b.text("["), b.space(), b.seq(list...), b.space(), b.text("]"))
	default:
		text, _ := scalar(v)
		return b.text(text)
	}
}

// scalar is the one text of a value; ok is false for arrays and objects, which have several.
func scalar(v any) (text string, ok bool) {
	switch v := v.(type) {
	case *members, []any:
		return "", false
	case string:
		return quote(v), true
	case json.Number:
		return v.String(), true
	case bool:
		return strconv.FormatBool(v), true
	default:
		return "null", true
	}
}

// quote writes a string as JSON, escaping only what must be.
func quote(s string) string {
	var out strings.Builder
	out.WriteByte('"')
	for _, r := range s {
		out.WriteString(escaped(r))
	}
	out.WriteByte('"')
	return out.String()
}

// escaped is a character as it stands in a string.
func escaped(r rune) string {
	switch r {
	case '"', '\\':
		return `\` + string(r)
	case '\n':
		return `\n`
	case '\r':
		return `\r`
	case '\t':
		return `\t`
	case '\b':
		return `\b`
	case '\f':
		return `\f`
	}
	if r < 0x20 {
		return fmt.Sprintf(`\u%04x`, r)
	}
	return string(r)
}

// canonical is a text that only equal values share: members sorted, numbers by their value.
func canonical(v any) string {
	switch v := v.(type) {
	case *members:
		names := append([]string(nil), v.names...)
		slices.Sort(names)
		parts := make([]string, len(names))
		for i, name := range names {
			parts[i] = quote(name) + ":" + canonical(v.values[name])
		}
		return "{" + strings.Join(parts, ",") + "}"
	case []any:
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = canonical(v[i])
		}
		return "[" + strings.Join(parts, ",") + "]"
	case string:
		return quote(v)
	case json.Number:
		if d, err := parseDecimal(v.String()); err == nil {
			return d.String()
		}
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	default:
		return "null"
	}
}
