package chat

import (
	"fmt"
	"strings"
	"unicode"
)

// maxNesting bounds brackets in a tag, since the parser behind goes as deep.
const maxNesting = 100

// segment is a piece of a template: text, or a tag without its delimiters and white-space signs.
type segment struct {
	kind segmentKind
	text string
	line int // 1-based, where it begins
}

type segmentKind byte

const (
	literal    segmentKind = iota
	expression             // {{ ... }}
	statement              // {% ... %}
	comment                // {# ... #}
)

var closers = map[segmentKind]string{expression: "}}", statement: "%}", comment: "#}"}

// lexer cuts a template into segments, with white space already taken out as Jinja takes it out under the settings that
// chat templates are written for, trim_blocks and lstrip_blocks: a line break behind a statement or comment goes, and so
// does the white space before one that is the first in its line. The signs "-" and "+" rule otherwise.
type lexer struct {
	src     string
	at      int
	newline bool // at is the beginning of a line
	out     []segment

	lineAt, lineNo int // offset up to which lines were counted, and their number
}

func lex(source string) ([]segment, error) {
	source = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(source)
	l := &lexer{src: strings.TrimSuffix(source, "\n"), newline: true}
	for l.at < len(l.src) {
		if err := l.next(); err != nil {
			return nil, err
		}
	}
	return l.out, nil
}

// next takes text up to a tag, and the tag.
func (l *lexer) next() error {
	open, kind := findOpener(l.src, l.at)
	if open < 0 {
		l.add(literal, l.src[l.at:], l.at)
		l.at = len(l.src)
		return nil
	}
	body := open + 2
	sign := byte(0)
	if body < len(l.src) && (l.src[body] == '-' || l.src[body] == '+') {
		sign = l.src[body]
		body++
	}
	l.add(literal, l.trimBefore(l.src[l.at:open], kind, sign), l.at)
	end, err := l.findCloser(body, kind, open)
	if err != nil {
		return err
	}
	text := l.src[body:end]
	l.at = end + len(closers[kind])
	sign = 0
	if n := len(text); n > 0 && (text[n-1] == '-' || text[n-1] == '+' && kind != expression) {
		sign, text = text[n-1], text[:n-1]
	}
	if kind == statement && strings.TrimSpace(text) == "raw" {
		l.skip(sign, false)
		return l.raw(open)
	}
	l.skip(sign, kind != expression)
	l.add(kind, text, open)
	return nil
}

func (l *lexer) add(kind segmentKind, text string, at int) {
	if kind == literal && text == "" || kind == comment {
		return
	}
	l.out = append(l.out, segment{kind, text, l.line(at)})
}

// line gives the number of the line of an offset, counting on from the last one that was asked for.
func (l *lexer) line(at int) int {
	if at < l.lineAt {
		return 1 + strings.Count(l.src[:at], "\n")
	}
	l.lineNo += strings.Count(l.src[l.lineAt:at], "\n")
	l.lineAt = at
	return 1 + l.lineNo
}

// trimBefore takes white space off the end of the text before a tag.
func (l *lexer) trimBefore(text string, kind segmentKind, sign byte) string {
	switch {
	case sign == '-':
		return strings.TrimRightFunc(text, unicode.IsSpace)
	case sign == '+' || kind == expression:
		return text
	}
	start := strings.LastIndexByte(text, '\n') + 1
	if (start > 0 || l.newline) && strings.TrimSpace(text[start:]) == "" {
		return text[:start]
	}
	return text
}

// skip takes white space behind a tag.
func (l *lexer) skip(sign byte, block bool) {
	rest := l.src[l.at:]
	switch {
	case sign == '-':
		rest = strings.TrimLeftFunc(rest, unicode.IsSpace)
	case sign != '+' && block:
		rest = strings.TrimPrefix(rest, "\n")
	}
	l.at = len(l.src) - len(rest)
	l.newline = l.at > 0 && l.src[l.at-1] == '\n'
}

// raw takes the text up to {% endraw %}.
func (l *lexer) raw(open int) error {
	for from := l.at; ; {
		start := strings.Index(l.src[from:], "{%")
		if start < 0 {
			return fmt.Errorf("line %d: {%% raw %%} without {%% endraw %%}", l.line(open))
		}
		start += from
		from = start + 2
		end := strings.Index(l.src[from:], "%}")
		if end < 0 {
			continue
		}
		tag := l.src[from : from+end]
		name := strings.TrimSpace(strings.TrimRight(strings.TrimLeft(tag, "+-"), "+-"))
		if name != "endraw" {
			continue
		}
		var before, after byte
		if strings.ContainsRune("+-", rune(tag[0])) {
			before = tag[0]
		}
		if last := tag[len(tag)-1]; strings.ContainsRune("+-", rune(last)) {
			after = last
		}
		l.add(literal, l.trimBefore(l.src[l.at:start], statement, before), l.at)
		l.at = from + end + 2
		l.skip(after, true)
		return nil
	}
}

func findOpener(s string, from int) (int, segmentKind) {
	for i := from; i+1 < len(s); i++ {
		if s[i] != '{' {
			continue
		}
		switch s[i+1] {
		case '{':
			return i, expression
		case '%':
			return i, statement
		case '#':
			return i, comment
		}
	}
	return -1, literal
}

// findCloser finds the end of a tag, which strings and brackets in it hide.
func (l *lexer) findCloser(from int, kind segmentKind, open int) (int, error) {
	closer := closers[kind]
	if kind == comment {
		if n := strings.Index(l.src[from:], closer); n >= 0 {
			return from + n, nil
		}
		return 0, fmt.Errorf("line %d: a comment without its end #}", l.line(open))
	}
	depth := 0
	for i := from; i < len(l.src); i++ {
		if depth == 0 && strings.HasPrefix(l.src[i:], closer) {
			return i, nil
		}
		switch l.src[i] {
		case '(', '[', '{':
			if depth++; depth > maxNesting {
				return 0, fmt.Errorf("line %d: brackets are nested more than %d deep", l.line(open), maxNesting)
			}
		case ')', ']', '}':
			depth--
		case '\'', '"':
			n := quoted(l.src[i:])
			if n == 0 {
				return 0, fmt.Errorf("line %d: a string without its end %c", l.line(i), l.src[i])
			}
			i += n - 1
		}
	}
	return 0, fmt.Errorf("line %d: a tag without its end %s", l.line(open), closer)
}

// quoted gives the length of the string literal at the beginning of s; 0 if it does not end.
func quoted(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case s[0]:
			return i + 1
		}
	}
	return 0
}
