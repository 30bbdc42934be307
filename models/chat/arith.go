package chat

import (
	"fmt"
	"math"
	"strings"

	"github.com/ardanlabs/jinja"
)

// operators are the names of our functions for them. They do as Python does, but an absent value or none counts as an
// empty text or 0.
var operators = map[string]string{
	"+": "tr_add", "-": "tr_sub", "*": "tr_mul", "/": "tr_div", "//": "tr_floor", "%": "tr_mod", "~": "tr_concat",
}

func two(args []jinja.Value) (a, b jinja.Value, err error) {
	if len(args) != 2 {
		return a, b, fmt.Errorf("an operator has %d values, expected 2", len(args))
	}
	return args[0], args[1], nil
}

// concat is the operator "~".
func (g *guard) concat(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
	var texts [2]string
	for i, v := range args {
		if i == len(texts) {
			break
		}
		s, err := g.printed([]jinja.Value{v}, nil)
		if err != nil {
			return s, err
		}
		texts[i] = s.AsString()
	}
	if _, _, err := two(args); err != nil {
		return jinja.None(), err
	}
	if err := g.fits(1, len(texts[0])+len(texts[1])); err != nil {
		return jinja.None(), err
	}
	return jinja.NewString(texts[0] + texts[1]), nil
}

func (g *guard) add(args []jinja.Value, kw map[string]jinja.Value) (jinja.Value, error) {
	a, b, err := two(args)
	if err != nil {
		return a, err
	}
	switch {
	case a.IsString() || b.IsString():
		for i, v := range args {
			if v.IsNone() {
				args[i] = jinja.Undefined()
			}
		}
		return g.concat(args, kw)
	case a.IsList() && b.IsList():
		left, err := g.copies(a.AsList().Items)
		if err != nil {
			return a, err
		}
		right, err := g.copies(b.AsList().Items)
		return jinja.NewList(append(left, right...)), err
	}
	return arithmetic("+", a, b)
}

func (g *guard) mul(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
	a, b, err := two(args)
	if err != nil {
		return a, err
	}
	if a.IsInt() {
		a, b = b, a
	}
	n := 0
	if b.IsInt() {
		n = int(max(b.AsInt(), 0))
	}
	switch {
	case a.IsString() && b.IsInt():
		if err := g.fits(n, len(a.AsString())); err != nil {
			return a, err
		}
		if a.AsString() == "" {
			return a, nil
		}
		return jinja.NewString(strings.Repeat(a.AsString(), n)), nil
	case a.IsList() && b.IsInt():
		var out []jinja.Value
		for range n {
			if a.AsList().Len() == 0 {
				break
			}
			items, err := g.copies(a.AsList().Items)
			if err != nil {
				return a, err
			}
			if err := g.fits(len(out)+len(items), itemBytes); err != nil {
				return a, err
			}
			out = append(out, items...)
		}
		return jinja.NewList(out), nil
	}
	return arithmetic("*", a, b)
}

func operator(op string) function {
	return func(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
		a, b, err := two(args)
		if err != nil {
			return a, err
		}
		return arithmetic(op, a, b)
	}
}

// asNumber gives a value as a number: whole says that n is it.
func asNumber(op string, v jinja.Value) (n int64, x float64, whole bool, err error) {
	switch {
	case v.IsInt():
		return v.AsInt(), float64(v.AsInt()), true, nil
	case v.IsFloat():
		return 0, v.AsFloat(), false, nil
	case v.IsBool() && v.AsBool():
		return 1, 1, true, nil
	case v.IsBool(), v.IsNone(), v.IsUndefined():
		return 0, 0, true, nil
	}
	return 0, 0, false, fmt.Errorf("the operator %s has %s, expected a number", op, kindOf(v))
}

func arithmetic(op string, l, r jinja.Value) (jinja.Value, error) {
	n, x, wholeL, err := asNumber(op, l)
	if err != nil {
		return l, err
	}
	m, y, wholeR, err := asNumber(op, r)
	if err != nil {
		return r, err
	}
	if y == 0 && (op == "/" || op == "//" || op == "%") {
		return jinja.None(), fmt.Errorf("the operator %s divides by 0", op)
	}
	if wholeL && wholeR && op != "/" {
		return whole(op, n, m)
	}
	switch op {
	case "+":
		x += y
	case "-":
		x -= y
	case "*":
		x *= y
	case "/":
		x /= y
	case "//":
		x = math.Floor(x / y)
	default:
		if x = math.Mod(x, y); x != 0 && (x < 0) != (y < 0) {
			x += y
		}
	}
	return jinja.NewFloat(x), nil
}

func whole(op string, n, m int64) (jinja.Value, error) {
	var out int64
	ok := true
	switch op {
	case "+":
		out = n + m
		ok = (out > n) == (m > 0)
	case "-":
		out = n - m
		ok = (out < n) == (m > 0)
	case "*":
		out = n * m
		ok = n == 0 || out/n == m && (n != -1 || m != math.MinInt64)
	case "//", "%":
		ok = m != -1 || n != math.MinInt64
		quotient, rest := n/m, n%m
		if rest != 0 && (rest < 0) != (m < 0) {
			quotient, rest = quotient-1, rest+m
		}
		if out = quotient; op == "%" {
			out = rest
		}
	}
	if !ok {
		return jinja.None(), fmt.Errorf("%d %s %d is more than a whole number holds here", n, op, m)
	}
	return jinja.NewInt(out), nil
}
