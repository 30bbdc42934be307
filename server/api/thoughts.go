package api

import (
	"github.com/tokenrouter/tokenrouter/models/output"
	"github.com/tokenrouter/tokenrouter/sched"
)

// thoughts counts the tokens with which an answer begins that are thoughts, or the marks around them.
type thoughts struct {
	parser *output.Parser // of thoughts alone
	tokens int
	at     int   // bytes of tokens so far
	open   []int // where those tokens begin in the text that may turn out to be thoughts
	over   bool
}

func (t *thoughts) add(e sched.Event) {
	if t.over {
		return
	}
	t.parser.Add(e.Text)
	for i := range e.Tokens {
		if token := &e.Tokens[i]; !token.End {
			t.open = append(t.open, t.at)
			t.at += len(token.Text)
		}
	}
	bytes, over := t.parser.Thoughts()
	for len(t.open) > 0 && t.open[0] < bytes {
		t.tokens++
		t.open = t.open[1:]
	}
	t.over = over
}
