package chat

import (
	"slices"
	"strings"
)

// rewriter writes an expression anew, where the engine would do otherwise than Jinja2:
//
//   - Methods of strings that it lacks, or knows without all their arguments, become calls of our functions: x.split("a", 1)
//     is tr_split(x, "a", 1).
//   - Filters of which the same is true have our names: tojson is tr_tojson.
//   - A negative number is in parentheses, since the engine takes the sign to belong to all that follows.
//   - The test "is in" is the operator "in".
type rewriter struct {
	out     []string
	start   int     // where in out the value begins that a following "." or "(" belongs to; -1 if there is none
	open    []frame // brackets
	last    token   // the one before, spaces left out
	is      int     // where in out the word "is" stands that a following "in" makes superfluous; -1
	tokens  []token
	dropped bool // the next bracket is written already
}

// frame is an open bracket.
type frame struct{ start int }

// words do not begin a value.
var words = []string{
	"and", "or", "not", "in", "is", "if", "elif", "else", "for", "set", "macro", "call", "filter", "recursive", "block",
}

func rewrite(code string) (string, error) {
	list, err := tokens(code)
	if err != nil {
		return "", err
	}
	r := &rewriter{start: -1, is: -1}
	for i, t := range list {
		r.tokens = list[i+1:]
		r.next(t)
		if t.kind != space {
			r.last = t
		}
	}
	return strings.Join(r.out, ""), nil
}

func (r *rewriter) next(t token) {
	switch t.kind {
	case space:
		r.put(t.text)
	case text:
		r.begin(quote(t.text))
	case digits:
		if r.last.text == "-" && r.start == negative {
			r.out[len(r.out)-1] = "(-" + t.text + ")"
			r.start = len(r.out) - 1
			return
		}
		r.begin(t.text)
	case name:
		r.name(t.text)
	default:
		r.sign(t.text)
	}
}

// negative in place of a start says that the sign before is that of a number.
const negative = -2

func (r *rewriter) put(s string) { r.out = append(r.out, s) }

func (r *rewriter) begin(s string) {
	r.start = len(r.out)
	r.put(s)
}

func (r *rewriter) name(s string) {
	called := nextOf(r.tokens).text == "(" && nextOf(r.tokens).kind == sign
	switch {
	case r.last.kind == sign && r.last.text == "|":
		if own, ok := ownFilters[s]; ok {
			s = own
		}
		r.put(s)
		r.start = -1
	case r.last.kind == sign && r.last.text == "." && r.start >= 0:
		if own, ok := ownMethods[s]; ok && called {
			dot := len(r.out) - 1
			for r.out[dot] != "." {
				dot--
			}
			r.out[dot] = ""
			r.out[r.start] = own + "(" + r.out[r.start]
			r.dropped = true
			return
		}
		r.put(s)
	case slices.Contains(words, s):
		if s == "in" && r.is >= 0 {
			r.out[r.is] = ""
		}
		if s != "not" {
			r.is = -1
		}
		if s == "is" {
			r.is = len(r.out)
		}
		r.put(s)
		r.start = -1
		return
	default:
		r.begin(s)
	}
	r.is = -1
}

func (r *rewriter) sign(s string) {
	switch s {
	case "(", "[", "{":
		f := frame{start: r.start}
		if r.start < 0 || s == "{" {
			f.start = len(r.out)
		}
		r.open = append(r.open, f)
		if r.dropped {
			s = ""
			if nextOf(r.tokens) != (token{sign, ")"}) {
				s = ", "
			}
			r.dropped = false
		}
		r.put(s)
		r.start = -1
	case ")", "]", "}":
		if s == "}" && len(r.out) > 0 && strings.HasSuffix(r.out[len(r.out)-1], "}") {
			s = " }" // the engine would take two of them for the end of the tag
		}
		r.put(s)
		r.start = -1
		if n := len(r.open); n > 0 {
			r.start = r.open[n-1].start
			r.open = r.open[:n-1]
		}
	case ".":
		r.put(s)
	case "-":
		value := r.start >= 0
		r.put(s)
		r.start = -1
		if !value && len(r.tokens) > 0 && r.tokens[0].kind == digits {
			r.start = negative
		}
	default:
		r.put(s)
		r.start = -1
	}
}
