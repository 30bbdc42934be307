package chat

import (
	"fmt"
	"strconv"
	"strings"
)

// translate writes a template anew for the engine. What the engine and Jinja2 differ in is settled on the way:
//
//   - Text becomes string literals, so that white space is as lex left it: the engine's own trimming goes past adjacent
//     tags.
//   - String literals have the escapes of Python.
//   - The filter tojson is ours (json.go), which writes what json.dumps writes.
//   - Loops, macros and call blocks begin by asking the guard (guard.go) whether to go on.
func translate(source string) (string, error) {
	if len(source) > maxSource {
		return "", fmt.Errorf("the template has %d bytes, at most %d are allowed", len(source), maxSource)
	}
	segments, err := lex(source)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	line := 1
	for _, s := range segments {
		for ; line < s.line; line++ { // so that the engine's messages have the lines of the source
			out.WriteString("{#\n#}")
		}
		switch s.kind {
		case literal:
			out.WriteString("{{ " + quote(s.text) + " }}")
		case expression:
			text, err := rewrite(s.text)
			if err != nil {
				return "", fmt.Errorf("line %d: %w", s.line, err)
			}
			out.WriteString("{{ " + text + " }}")
		case statement:
			text, err := rewrite(s.text)
			if err != nil {
				return "", fmt.Errorf("line %d: %w", s.line, err)
			}
			out.WriteString("{% " + text + " %}" + guardOf(text))
		}
		line += strings.Count(s.text, "\n")
	}
	return out.String(), nil
}

// maxSource bounds a template, in bytes, and with it how deep its parts can be nested. Real ones have up to 30 KB.
const maxSource = 256 << 10

// guardOf gives what goes behind a statement that opens something that can repeat.
func guardOf(statement string) string {
	text := strings.TrimSpace(statement)
	n := 0
	for n < len(text) && isName(text[n]) {
		n++
	}
	switch text[:n] {
	case "for":
		return "{% set " + guardVar + " = " + guardStep + "() %}"
	case "macro", "call":
		return "{% set " + guardVar + " = " + guardEnter + "() %}"
	}
	return ""
}

func quote(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

// rewrite goes through the inside of a tag.
func rewrite(code string) (string, error) {
	var out strings.Builder
	afterPipe := false
	for i := 0; i < len(code); {
		c := code[i]
		switch {
		case c == '\'' || c == '"':
			n := quoted(code[i:])
			text, err := unescape(code[i+1 : i+n-1])
			if err != nil {
				return "", err
			}
			out.WriteString(quote(text))
			i += n
			afterPipe = false
			continue
		case isName(c):
			n := 1
			for i+n < len(code) && isName(code[i+n]) {
				n++
			}
			name := code[i : i+n]
			if afterPipe && name == "tojson" {
				name = filterJSON
			}
			out.WriteString(name)
			i += n
			afterPipe = false
			continue
		case c == '|':
			afterPipe = true
		case c == '}' && out.Len() > 0 && code[i-1] == '}':
			out.WriteByte(' ') // the engine would take two of them for the end of the tag
			afterPipe = false
		case c != ' ' && c != '\t' && c != '\n':
			afterPipe = false
		}
		out.WriteByte(c)
		i++
	}
	return out.String(), nil
}

func isName(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

var simpleEscapes = map[byte]string{
	'n': "\n", 't': "\t", 'r': "\r", 'a': "\a", 'b': "\b", 'f': "\f", 'v': "\v", '\\': `\`, '\'': "'", '"': `"`, '\n': "",
}

// unescape reads the inside of a Python string literal. What is no escape stays as it is, with its backslash.
func unescape(s string) (string, error) {
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			out.WriteByte(s[i])
			continue
		}
		i++
		if text, ok := simpleEscapes[s[i]]; ok {
			out.WriteString(text)
			continue
		}
		digits, base := 0, 16
		switch c := s[i]; {
		case c == 'x':
			digits = 2
		case c == 'u':
			digits = 4
		case c == 'U':
			digits = 8
		case c >= '0' && c <= '7':
			base = 8
			for digits < 3 && i+digits < len(s) && s[i+digits] >= '0' && s[i+digits] <= '7' {
				digits++
			}
			i--
		default:
			out.WriteByte('\\')
			out.WriteByte(c)
			continue
		}
		if i+1+digits > len(s) {
			return "", fmt.Errorf("the escape \\%s is cut off", s[i:])
		}
		r, err := strconv.ParseUint(s[i+1:i+1+digits], base, 32)
		if err != nil {
			return "", fmt.Errorf("the escape \\%s is no number", s[i:i+1+digits])
		}
		out.WriteRune(rune(r)) // surrogates and what is above U+10FFFF become U+FFFD
		i += digits
	}
	return out.String(), nil
}
