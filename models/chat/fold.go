package chat

import (
	"fmt"
	"slices"
	"strings"
)

// maxOperators bounds those between two brackets, commas or words, since each is a call in the next.
const maxOperators = 256

// levels are the operators by precedence, as in Jinja2: those of a level from left to right.
var levels = [][]string{{"*", "/", "//", "%"}, {"+", "-"}, {"~"}}

// valueBefore says whether a value ends where r is, so that a sign is an operator between two.
func (r *rewriter) valueBefore() bool {
	switch r.last.kind {
	case text, digits:
		return true
	case name:
		return !slices.Contains(words, r.last.text)
	}
	return r.last.kind == sign && strings.Contains(")]}", r.last.text)
}

// operator notes a sign between two values, to be folded.
func (r *rewriter) operator(s string) {
	f := r.top()
	f.operators = append(f.operators, len(r.out))
	r.put(s)
	r.start = -1
}

func (r *rewriter) top() *frame { return &r.open[len(r.open)-1] }

// fold writes the operators since the beginning of the stretch as calls: a + b * c is tr_add(a, tr_mul(b, c)). The next
// stretch begins here.
func (r *rewriter) fold() {
	f := r.top()
	if len(f.operators) > maxOperators {
		r.fail(fmt.Errorf("more than %d operators in a row", maxOperators))
	} else if len(f.operators) > 0 {
		var values, ops []string
		from := f.from
		for _, at := range f.operators {
			values, ops = append(values, strings.Join(r.out[from:at], "")), append(ops, r.out[at])
			from = at + 1
		}
		values = append(values, strings.Join(r.out[from:], ""))
		if slices.ContainsFunc(values, func(v string) bool { return strings.TrimSpace(v) == "" }) {
			r.fail(fmt.Errorf("an operator without a value"))
		}
		r.out[f.from] = " " + folded(values, ops) + " "
		for i := f.from + 1; i < len(r.out); i++ {
			r.out[i] = ""
		}
	}
	f.operators, f.from = nil, len(r.out)
}

func folded(values, ops []string) string {
	for _, level := range levels {
		for i := 0; i < len(ops); {
			if !slices.Contains(level, ops[i]) {
				i++
				continue
			}
			values[i] = operators[ops[i]] + "(" + values[i] + ", " + values[i+1] + ")"
			values = slices.Delete(values, i+1, i+2)
			ops = slices.Delete(ops, i, i+1)
		}
	}
	return values[0]
}

func (r *rewriter) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}
