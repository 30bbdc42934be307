package chat

import (
	"fmt"
	"strings"
)

// translate writes a template anew for the engine. What the engine and Jinja2 differ in is settled on the way:
//
//   - Text becomes string literals, so that white space is as lex left it: the engine's own trimming goes past adjacent
//     tags.
//   - String literals have the escapes of Python.
//   - What the engine's expressions do otherwise is rewritten (rewrite.go), printed values among them.
//   - Loops, macros and call blocks begin by asking the guard (guard.go) whether to go on.
func translate(source string) (string, error) {
	if len(source) > MaxSource {
		return "", fmt.Errorf("the template has %d bytes, at most %d are allowed", len(source), MaxSource)
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
			out.WriteString("{{ " + fnText + "(" + quote(s.text) + ") }}")
		case expression:
			text, err := rewrite(s.text)
			if err != nil {
				return "", fmt.Errorf("line %d: %w", s.line, err)
			}
			out.WriteString("{{ " + fnText + "(" + text + ") }}")
		case statement:
			text, err := rewriteStatement(s.text)
			if err != nil {
				return "", fmt.Errorf("line %d: %w", s.line, err)
			}
			out.WriteString(text + guardOf(s.text))
		}
		line += strings.Count(s.text, "\n")
	}
	return out.String(), nil
}

// MaxSource bounds a template, in bytes, and with it how deep its parts can be nested. Real ones have up to 30 KB.
const MaxSource = 256 << 10

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
