// Package cheader reads the C header of the native library as far as a check of the bindings needs: the functions it
// declares, its structs, its constants. It knows the header's own dialect (one declaration per statement, no nested
// types, constants written out) and reports what it does not know as an error, so that nothing is passed over.
package cheader

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Header is what a header declares.
type Header struct {
	Functions map[string]string // name -> prototype in the form of Normalize
	Structs   []Struct          // with a body, in order
	Constants map[string]int64  // enumerators, and macros with an integer value
}

// Struct is one struct type.
type Struct struct {
	Name   string
	Fields []Field
}

// Field is one member of a struct.
type Field struct {
	Name string
	Type string // "int32_t"; "*" for any pointer
}

var (
	comments  = regexp.MustCompile(`(?s)/\*.*?\*/|//[^\n]*`)
	macros    = regexp.MustCompile(`(?m)^#define[ \t]+(\w+)[ \t]+(-?\w+)[ \t]*$`)
	directive = regexp.MustCompile(`(?m)^[ \t]*#.*$`)
	linkage   = regexp.MustCompile(`extern\s+"C"\s*\{`)
	enums     = regexp.MustCompile(`(?s)^enum\s*\{(.*)\}$`)
	structs   = regexp.MustCompile(`(?s)^typedef\s+struct\s+(\w+)\s*\{(.*)\}\s*(\w+)$`)
	opaque    = regexp.MustCompile(`^typedef\s+(struct\s+)?\w+\s+\w+$`)
	functions = regexp.MustCompile(`(?s)^TR_API\s+(.+)$`)
	name      = regexp.MustCompile(`\b(tr_\w+)\s*\(`)
	member    = regexp.MustCompile(`^(?:const\s+)?(\w+)\s*(\**)\s*(\w+)$`)
)

// Parse reads a header.
func Parse(text string) (*Header, error) {
	h := &Header{Functions: map[string]string{}, Constants: map[string]int64{}}
	text = comments.ReplaceAllString(text, " ")
	for _, m := range macros.FindAllStringSubmatch(text, -1) {
		if err := h.constant(m[1], m[2]); err != nil {
			return nil, err
		}
	}
	text = directive.ReplaceAllString(text, "")
	text = linkage.ReplaceAllString(text, "")
	for _, s := range statements(text) {
		if err := h.statement(s); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// statements splits at semicolons outside of braces. The closing brace of the linkage block stands alone and is dropped.
func statements(text string) []string {
	var out []string
	depth, start := 0, 0
	for i, c := range text {
		switch {
		case c == '{':
			depth++
		case c == '}' && depth > 0:
			depth--
		case c == ';' && depth == 0:
			out = append(out, strings.TrimSpace(text[start:i]))
			start = i + 1
		}
	}
	if rest := strings.TrimSpace(text[start:]); rest != "" && rest != "}" {
		out = append(out, rest)
	}
	return out
}

func (h *Header) statement(s string) error {
	if m := enums.FindStringSubmatch(s); m != nil {
		return h.enum(m[1])
	}
	if m := structs.FindStringSubmatch(s); m != nil {
		return h.structure(m[1], m[2])
	}
	if m := functions.FindStringSubmatch(s); m != nil {
		n := name.FindStringSubmatch(m[1])
		if n == nil {
			return fmt.Errorf("function without a tr_ name: %q", s)
		}
		if _, twice := h.Functions[n[1]]; twice {
			return fmt.Errorf("function %s is declared twice", n[1])
		}
		h.Functions[n[1]] = Normalize(m[1])
		return nil
	}
	if opaque.MatchString(s) {
		return nil
	}
	return fmt.Errorf("not a declaration of a kind that this package knows: %q", s)
}

func (h *Header) enum(body string) error {
	for _, e := range strings.Split(body, ",") {
		if strings.TrimSpace(e) == "" {
			continue // after the last comma
		}
		key, value, ok := strings.Cut(e, "=")
		if !ok {
			return fmt.Errorf("enumerator %q has no value written out", strings.TrimSpace(e))
		}
		if err := h.constant(strings.TrimSpace(key), strings.TrimSpace(value)); err != nil {
			return err
		}
	}
	return nil
}

func (h *Header) constant(key, value string) error {
	n, err := strconv.ParseInt(value, 0, 64)
	if err != nil {
		return fmt.Errorf("constant %s: %w", key, err)
	}
	h.Constants[key] = n
	return nil
}

func (h *Header) structure(name, body string) error {
	s := Struct{Name: name}
	for _, f := range strings.Split(body, ";") {
		f = strings.TrimSpace(f)
		if f == "" {
			continue
		}
		m := member.FindStringSubmatch(f)
		if m == nil {
			return fmt.Errorf("struct %s: member %q is of a form that this package does not know", name, f)
		}
		kind := m[1]
		if m[2] != "" {
			kind = "*"
		}
		s.Fields = append(s.Fields, Field{Name: m[3], Type: kind})
	}
	h.Structs = append(h.Structs, s)
	return nil
}

var (
	spaces  = regexp.MustCompile(`\s+`)
	stars   = regexp.MustCompile(`\s*\*\s*`)
	bracket = regexp.MustCompile(`\s*([(),])\s*`)
)

// Normalize writes a prototype in one way: single spaces, none around parentheses and before commas, "type *name".
func Normalize(prototype string) string {
	s := spaces.ReplaceAllString(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(prototype), ";")), " ")
	s = stars.ReplaceAllString(s, " *")
	return bracket.ReplaceAllString(s, "$1")
}
