package chat

import (
	"fmt"
	"strings"
)

// token is a piece of the inside of a tag.
type token struct {
	kind tokenKind
	text string // of a string literal: what it stands for
}

type tokenKind byte

const (
	space tokenKind = iota
	name
	digits
	text
	sign // anything else, one character, or "**" and "//"
)

// tokens cuts the inside of a tag. String literals that follow each other are one, as in Jinja.
func tokens(code string) ([]token, error) {
	var out []token
	for i := 0; i < len(code); {
		n := 1
		switch c := code[i]; {
		case c == '\'' || c == '"':
			n = quoted(code[i:])
			s, err := unescape(code[i+1 : i+n-1])
			if err != nil {
				return nil, err
			}
			if k := lastOf(out); k >= 0 && out[k].kind == text {
				out[k].text += s
			} else {
				out = append(out, token{text, s})
			}
			i += n
			continue
		case isSpace(c):
			n = length(code[i:], isSpace)
			out = append(out, token{space, code[i : i+n]})
		case c >= '0' && c <= '9':
			n = length(code[i:], isName)
			if frac := code[i+n:]; len(frac) > 1 && frac[0] == '.' && frac[1] >= '0' && frac[1] <= '9' {
				n += 1 + length(frac[1:], isName)
			}
			out = append(out, token{digits, code[i : i+n]})
		case isName(c):
			n = length(code[i:], isName)
			if s := code[i : i+n]; strings.HasPrefix(s, ownPrefix) || strings.HasPrefix(s, "__") {
				return nil, fmt.Errorf("the name %q is reserved", s)
			}
			out = append(out, token{name, code[i : i+n]})
		default:
			if strings.HasPrefix(code[i:], "**") || strings.HasPrefix(code[i:], "//") {
				n = 2
			}
			out = append(out, token{sign, code[i : i+n]})
		}
		i += n
	}
	return out, nil
}

// lastOf gives the index of the last token that is not space, or -1.
func lastOf(list []token) int {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].kind != space {
			return i
		}
	}
	return -1
}

// nextOf gives the next token that is not space, a space if there is none.
func nextOf(list []token) token {
	for _, t := range list {
		if t.kind != space {
			return t
		}
	}
	return token{}
}

func length(s string, in func(byte) bool) int {
	n := 0
	for n < len(s) && in(s[n]) {
		n++
	}
	return n
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' }

func isName(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
