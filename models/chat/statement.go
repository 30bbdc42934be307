package chat

import (
	"fmt"
	"strings"
)

// rewriteStatement writes a statement anew, with its delimiters. A set statement with several targets becomes several:
// the engine knows one target.
func rewriteStatement(code string) (string, error) {
	list, err := tokens(code)
	if err != nil {
		return "", err
	}
	if equals, targets := targetsOf(list); len(targets) > 1 {
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
			out += fmt.Sprintf("{%% set %s = %s[%d] %%}", target, setVar, i)
		}
		return out, nil
	}
	text, err := rewrite(code)
	return "{% " + text + " %}", err
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
