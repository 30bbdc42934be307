package chat

import (
	"fmt"
	"strconv"
	"strings"
)

// quote writes a text as a string literal of the engine.
func quote(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
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
