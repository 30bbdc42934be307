package chat

import (
	"fmt"
	"strings"

	"github.com/ardanlabs/jinja"
)

// Text of the conversation must not become special tokens, and which text of a rendered prompt came from where cannot be
// seen any more. So before rendering, the spelling of every control token in it is broken by a mark: a private-use
// character that occurs nowhere in conversation and template. The tokenizer recognises what is unbroken, all of it
// the template's, and takes the marks out of the rest.

// Private-use planes 15 and 16 of Unicode.
const firstPrivate, lastPrivate = 0xF0000, 0x10FFFD

// freeMark gives a private-use character that occurs in none of the values nor in source.
func freeMark(source string, vars map[string]jinja.Value) (rune, error) {
	used := map[rune]bool{0xFFFFE: true, 0xFFFFF: true} // no characters
	note := func(s string) string {
		for _, r := range s {
			if r >= firstPrivate {
				used[r] = true
			}
		}
		return s
	}
	note(source)
	for _, v := range vars {
		mapStrings(v, note)
	}
	for r := rune(lastPrivate); r >= firstPrivate; r-- {
		if !used[r] {
			return r, nil
		}
	}
	return 0, &InputError{"messages", fmt.Errorf("they use every private character of Unicode, one must be free")}
}

// mapStrings gives v with f applied to every string in it.
func mapStrings(v jinja.Value, f func(string) string) jinja.Value {
	switch {
	case v.IsString():
		return jinja.NewString(f(v.AsString()))
	case v.IsList():
		items := make([]jinja.Value, v.AsList().Len())
		for i, x := range v.AsList().Items {
			items[i] = mapStrings(x, f)
		}
		return jinja.NewList(items)
	case v.IsDict():
		out := jinja.NewDict()
		for _, k := range v.AsDict().OrderedKeys() {
			x, _ := v.AsDict().Get(k)
			out.AsDict().Set(f(k), mapStrings(x, f))
		}
		return out
	}
	return v
}

// markAll breaks the spellings in all of the conversation and gives the mark.
func (t *Template) markAll(vars map[string]jinja.Value) (rune, error) {
	mark, err := freeMark(t.source, vars)
	if err != nil {
		return 0, err
	}
	for k, v := range vars {
		vars[k] = mapStrings(v, func(s string) string {
			return t.tok.MarkControl(strings.ToValidUTF8(s, "\uFFFD"), mark)
		})
	}
	return mark, nil
}
