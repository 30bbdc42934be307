package chat

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// rewriteStatement writes a statement anew, with its delimiters. A set statement with several targets becomes several:
// the engine knows one target.
func rewriteStatement(code string) (string, error) {
	list, err := tokens(code)
	if err != nil {
		return "", err
	}
	switch nextOf(list) {
	case token{name, "call"}:
		return rewriteCall(code)
	case token{name, "filter"}:
		if err := checkFilter(list); err != nil {
			return "", err
		}
	}
	equals, targets := targetsOf(list)
	if len(targets) == 1 && strings.Contains(targets[0], ".") { // an entry of a namespace
		values, err := rewrite(code[strings.Index(code, "=")+1:])
		return "{% set " + targets[0] + " = " + fnOwn + "(" + values + ") %}", err
	}
	if len(targets) > 1 {
		at := strings.Index(code, "=")
		values, err := rewrite(code[at+1:])
		if err != nil {
			return "", err
		}
		if many(list[equals+1:]) {
			values = "[" + values + "]"
		}
		out := "{% set " + setVar + " = " + values + " %}"
		for i, target := range targets {
			value := fmt.Sprintf("%s[%d]", setVar, i)
			if strings.Contains(target, ".") {
				value += "|" + fnOwn
			}
			out += "{% set " + target + " = " + value + " %}"
		}
		return out, nil
	}
	text, err := rewrite(code)
	return "{% " + text + " %}", err
}

// blockFilters are filters that the text of a filter block may go through.
var blockFilters = []string{"upper", "lower", "title", "capitalize", "trim", "escape", "e", "safe"}

func checkFilter(list []token) error {
	list = slices.DeleteFunc(slices.Clone(list), func(t token) bool { return t.kind == space })
	if len(list) != 2 || !slices.Contains(blockFilters, list[1].text) {
		return fmt.Errorf("a filter block takes one filter without arguments, one of %s", strings.Join(blockFilters, ", "))
	}
	return nil
}

// rewriteCall writes a call statement: {% call(a) f(x) %} is {% call(a) tr_called(f)(x) %}.
func rewriteCall(code string) (string, error) {
	wrong := fmt.Errorf("a call statement is {%% call name(...) %%} or {%% call(...) name(...) %%}")
	rest := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(code), "call"))
	params := ""
	if strings.HasPrefix(rest, "(") {
		n := strings.IndexByte(rest, ')')
		if n < 0 {
			return "", wrong
		}
		params, rest = rest[:n+1], strings.TrimSpace(rest[n+1:])
	}
	n := length(rest, isName)
	arguments := strings.TrimSpace(rest[n:])
	if n == 0 || slices.Contains(words, rest[:n]) || !strings.HasPrefix(arguments, "(") {
		return "", wrong
	}
	list, err := tokens(arguments)
	if err != nil {
		return "", err
	}
	depth := 0
	for i, t := range list {
		if t.kind == sign && strings.Contains("([{", t.text) {
			depth++
		} else if t.kind == sign && strings.Contains(")]}", t.text) {
			depth--
		}
		if depth == 0 && nextOf(list[i+1:]) != (token{}) {
			return "", wrong
		}
	}
	text, err := rewrite(rest)
	if err != nil || !strings.HasPrefix(text, rest[:n]) {
		return "", errors.Join(err, wrong)
	}
	return "{% call" + params + " " + fnCalled + "(" + rest[:n] + ")" + text[n:] + " %}", nil
}

// targetsOf gives the targets of a set statement, and where in it the equals sign is.
func targetsOf(list []token) (equals int, targets []string) {
	if nextOf(list) != (token{name, "set"}) {
		return 0, nil
	}
	target := ""
	for i, t := range list {
		switch {
		case t.kind == space || i <= 1 && t.text == "set", t == token{sign, "("}, t == token{sign, ")"}:
		case t == token{sign, ","}, t == token{sign, "="}:
			targets = append(targets, target)
			target = ""
			if t.text == "=" {
				return i, targets
			}
		default:
			target += t.text
		}
	}
	return 0, nil
}

// many says whether there is a comma outside of brackets.
func many(list []token) bool {
	depth := 0
	for _, t := range list {
		if t.kind != sign {
			continue
		}
		switch t.text {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			depth--
		case ",":
			if depth == 0 {
				return true
			}
		}
	}
	return false
}
