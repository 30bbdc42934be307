package chat

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// rewriter writes an expression anew, where the engine would do otherwise than Jinja2:
//
//   - Methods of strings that it lacks, or knows without all their arguments, become calls of our functions: x.split("a", 1)
//     is tr_split(x, "a", 1).
//   - Filters of which the same is true have our names: tojson is tr_tojson.
//   - A negative number is in parentheses, since the engine takes the sign to belong to all that follows.
//   - The test "is in" is the operator "in".
//   - Operators are calls of our functions (fold.go), since those of the engine bound nothing.
//   - What the engine makes is charged by a filter behind it (bounds.go): x[1:] is x[1:]|tr_kept, and [x] is [x]|tr_own.
type rewriter struct {
	out     []string
	start   int     // where in out the value begins that a following "." or "(" belongs to; -1 if there is none
	open    []frame // brackets; the first is the whole
	last    token   // the one before, spaces left out
	is      int     // where in out the word "is" stands that a following "in" makes superfluous; -1
	tokens  []token
	dropped bool   // the next bracket is written already
	after   string // goes behind the bracket that comes next, when it is closed
	loop    loopState
	err     error
}

// frame is an open bracket.
type frame struct {
	start     int
	from      int    // where in out a stretch of values and operators begins
	operators []int  // where in out they are
	after     string // goes behind the closing bracket
	group     bool   // a parenthesis, a list if there is a comma in it
	subscript bool   // the bounds of a slice, if there is a colon in it
	sliced    bool
	bound     int // where in out that bound begins
}

// loopState is how far a for statement is read.
type loopState byte

const (
	noLoop loopState = iota
	loopTargets
	loopValue // in the call of tr_iter
)

// words do not begin a value.
var words = []string{
	"and", "or", "not", "in", "is", "if", "elif", "else", "for", "recursive",
}

func rewrite(code string) (string, error) {
	list, err := tokens(code)
	if err != nil {
		return "", err
	}
	r := &rewriter{start: -1, is: -1, open: make([]frame, 1)}
	if nextOf(list) == (token{name, "for"}) {
		r.loop = loopTargets
	}
	for i, t := range list {
		r.tokens = list[i+1:]
		r.next(t)
		if t.kind != space {
			r.last = t
		}
	}
	r.fold()
	r.endLoop()
	if len(r.open) > 1 && r.err == nil {
		r.err = fmt.Errorf("a bracket is not closed")
	}
	return strings.Join(r.out, ""), r.err
}

// endLoop closes the call around what a for statement goes through.
func (r *rewriter) endLoop() {
	if r.loop == loopValue {
		r.put(") ")
		r.top().from = len(r.out)
		r.loop = noLoop
	}
}

func (r *rewriter) next(t token) {
	switch t.kind {
	case space:
		r.put(t.text)
	case text:
		r.begin(quote(t.text))
	case digits:
		if _, err := strconv.ParseInt(t.text, 10, 64); errors.Is(err, strconv.ErrRange) {
			r.fail(fmt.Errorf("%.40s is more than a whole number holds here", t.text))
		}
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
		r.filter(s)
	case r.last.kind == sign && r.last.text == "." && r.start < 0:
		r.fail(fmt.Errorf("there is no value before .%s", s))
	case r.last.kind == sign && r.last.text == ".":
		own, ok := ownMethods[s]
		method := ok || slices.Contains(engineMethods, s)
		if ok && called || method && !called {
			dot := len(r.out) - 1
			for r.out[dot] != "." {
				dot--
			}
			r.out[dot] = ""
			if !called {
				r.put("[" + quote(s) + "]") // an entry of a mapping: methods are for calling only
				break
			}
			r.out[r.start] = own + "(" + r.out[r.start]
			r.dropped = true
			return
		}
		if method {
			r.after = "|" + fnKept
		}
		r.put(s)
	case slices.Contains(words, s):
		r.fold()
		if (s == "if" || s == "recursive") && len(r.open) == 1 {
			r.endLoop()
		}
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
		if s == "in" && r.loop == loopTargets && len(r.open) == 1 {
			r.loop = loopValue
			r.put(" " + fnIter + "(")
		}
		r.top().from = len(r.out)
		r.start = -1
		return
	default:
		r.begin(s)
	}
	r.is = -1
}

// filter writes the name of a filter; what it makes is charged.
func (r *rewriter) filter(s string) {
	if own, ok := ownFilters[s]; ok {
		r.put(own)
		return
	}
	r.put(s)
	switch {
	case slices.Contains(smallFilters, s):
	case nextOf(r.tokens) == (token{sign, "("}):
		r.after = "|" + fnKept
	default:
		r.put("|" + fnKept)
	}
}

func (r *rewriter) sign(s string) {
	switch s {
	case "(", "[", "{":
		r.opened(s)
	case ")", "]", "}":
		r.closed(s)
	case ".", "|":
		r.put(s)
	case "+", "-", "*", "/", "//", "%", "~":
		if r.valueBefore() {
			r.operator(s)
			return
		}
		if s != "+" && s != "-" {
			r.fail(fmt.Errorf("there is no value before %s", s))
		}
		r.put(s)
		r.start = -1
		if s == "-" && len(r.tokens) > 0 && r.tokens[0].kind == digits {
			r.start = negative
		}
	case "**":
		r.put(s)
		r.start = -1
	default:
		r.fold()
		f := r.top()
		if s == ":" && f.subscript {
			r.bound()
			f.sliced = true
		}
		if s == "," && f.group {
			f.after = "|" + fnOwn
		}
		r.put(s)
		f.from, f.bound = len(r.out), len(r.out)
		r.start = -1
	}
}

func (r *rewriter) opened(s string) {
	f := frame{start: r.start, after: r.after}
	r.after = ""
	if r.start < 0 || s == "{" {
		f.start = len(r.out)
		f.group = s == "("
		if s != "(" {
			f.after = "|" + fnOwn
		}
	} else {
		f.subscript = s == "["
	}
	if r.dropped {
		s = ""
		if nextOf(r.tokens) != (token{sign, ")"}) {
			s = ", "
		}
		r.dropped = false
	}
	r.put(s)
	f.from, f.bound = len(r.out), len(r.out)
	r.open = append(r.open, f)
	r.start = -1
}

func (r *rewriter) closed(s string) {
	r.fold()
	if len(r.open) == 1 {
		r.fail(fmt.Errorf("there is no bracket that %s closes", s))
		return
	}
	f := *r.top()
	if f.sliced {
		r.bound()
		f.after = "|" + fnKept
	}
	if s == "}" && len(r.out) > 0 && strings.HasSuffix(r.out[len(r.out)-1], "}") {
		s = " }" // the engine would take two of them for the end of the tag
	}
	r.put(s + f.after)
	r.start = f.start
	r.open = r.open[:len(r.open)-1]
}

// bound writes a bound of a slice, which the engine takes as it is.
func (r *rewriter) bound() {
	f := r.top()
	from := f.bound
	if strings.TrimSpace(strings.Join(r.out[from:], "")) == "" {
		return
	}
	r.out[from] = fnIndex + "(" + r.out[from]
	r.put(")")
}
