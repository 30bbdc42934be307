package main

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tokenrouter/tokenrouter/sched"
)

// colours of the models of a route, as SGR codes: the entry first. Legible on dark and light grounds.
var colours = []string{"36", "33", "35", "32", "34", "31"}

func colour(model int) string { return colours[model%len(colours)] }

// painter writes an answer, each character in the colour of the model that completed it. For a terminal; control
// characters that a model may write are shown, not sent.
type painter struct {
	out     io.Writer
	colours bool
	active  int    // model whose colour is on; -1: none
	begun   string // bytes of tokens whose character is not complete
}

// newPainter writes to out, with colours or without.
func newPainter(out io.Writer, colours bool) *painter {
	return &painter{out: out, colours: colours, active: -1}
}

// event writes the text of an event. Its tokens say who wrote which part of it.
func (p *painter) event(e sched.Event) error {
	var b strings.Builder
	rest, last := e.Text, max(p.active, 0)
	for i := range e.Tokens {
		t := &e.Tokens[i]
		whole := p.begun + t.Text
		n := common(rest, whole)
		if n > 0 {
			p.put(&b, t.Info.Model, rest[:n])
			rest, last = rest[n:], t.Info.Model
		}
		p.begun = ""
		if left := whole[n:]; left != "" && !utf8.FullRuneInString(left) {
			p.begun = left
		}
	}
	// What no token accounts for, such as U+FFFD in place of bytes that are no text.
	p.put(&b, last, rest)
	_, err := io.WriteString(p.out, b.String())
	return err
}

// common is the length of the longest common beginning, in whole characters.
func common(a, b string) int {
	n := 0
	for n < len(a) {
		r, size := utf8.DecodeRuneInString(a[n:])
		if !strings.HasPrefix(b[n:], a[n:n+size]) || r == utf8.RuneError && size == 1 {
			break
		}
		n += size
	}
	return n
}

func (p *painter) put(b *strings.Builder, model int, text string) {
	if text == "" {
		return
	}
	if p.colours && p.active != model {
		b.WriteString("\x1b[" + colour(model) + "m")
		p.active = model
	}
	b.WriteString(visible(text))
}

// end turns colours off.
func (p *painter) end() error {
	if p.active < 0 {
		return nil
	}
	p.active = -1
	_, err := io.WriteString(p.out, "\x1b[0m")
	return err
}

// visible writes control characters, but for line breaks and tabs, as Go writes them in strings.
func visible(text string) string {
	if !strings.ContainsFunc(text, control) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if control(r) {
			fmt.Fprintf(&b, `\x%02x`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

func control(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }
