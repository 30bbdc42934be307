package chat

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Values are Python's, by Jinja2's rules of precedence.
func TestRewrittenExpressions(t *testing.T) {
	for source, want := range map[string]string{
		"{{ ('a,b' + ',c').split(',', 1)[1].split(',')[-1] }}":                                  "c",
		"{{ 'x' + 'a-b-c'.rsplit('-', 1)[0] + 'y' }}":                                           "xa-by",
		"{{ messages[0].content.split('b')[0].startswith('a') and 'yes' }}":                     "yes",
		"{{ 'a b  c'.split(maxsplit=1) | tojson }}{{ ' a b  c '.split(none, 1)|tojson }}":       `["a", "b  c"]["a", "b  c "]`,
		"{{ ''.split() | length }}{{ ''.split(',') | length }}{{ 'a'.rsplit() | length }}":      "011",
		"{{ 'aXbXc'.rsplit('X', 0)|tojson }}{{ 'aXb'.rsplit('X', 9)|tojson }}":                  `["aXbXc"]["a", "b"]`,
		"{{ 'abc'.removeprefix('a').removesuffix('c') }}":                                       "b",
		"{{ {'split': 'key'}.split }}{{ {'join': 1}['join'] }}":                                 "key1",
		"{{ [1, -1, - 1, 3 -1, -1.5] | tojson }}{{ [1,2,3][-1] }}{{ 2-1 }}{{ -1 + 2 }}":         "[1, -1, -1, 2, -1.5]311",
		"{{ 'a' is in ['a'] }}{{ 'a' is not in ['a'] }}{{ 'b' in 'abc' and 'x' not in 'abc' }}": "TrueFalseTrue",
		"{{ {'a': {'b': {}}} | tojson }}":                                                       `{"a": {"b": {}}}`,
		"{{ 'it''s' \"!\" }}":                                                                   "its!",
		"{{ ', '.join(['a', 'b'] | map('upper')) }}":                                            "A, B",
		"{{ [{'a': {'b': 1}}, {}] | map(attribute='a.b', default=0) | list | tojson }}":         "[1, 0]",
		"{{ [1.5, 'x'] | map('string') | join('|') }}":                                          "1.5|x",
		"{% set a, b = 'x.y'.split('.') %}{{ b ~ a }}{% set (c, d) = 'xy' %}{{ d }}":            "yxy",
		"{% set a, b = (1, 2), {'k': [3, 4]} %}{{ a[1] }}{{ b.k[0] }}":                          "23",
		"{% set x = 'a, b = c' %}{{ x }}":                                                       "a, b = c",
		"{%- for a, b in [(1, 'p'), (2, 'q')] -%}{{ a }}{{ b }}{%- endfor -%}":                  "1p2q",
		"{{ 1 if false }}{{ none }}{{ missing }}{{ 2.0 }}":                                      "None2.0",
	} {
		got, err := renderSource(source, Request{Messages: []Message{User("abc")}})
		require.NoError(t, err, source)
		require.Equal(t, want, got, source)
	}
}

func TestRewrittenExpressionsFail(t *testing.T) {
	for source, want := range map[string]string{
		"{{ missing.split(',') }}":           "split is a method of strings, found an undefined value",
		"{{ none.startswith('a') }}":         "startswith is a method of strings, found none",
		"{{ [1].join('a') }}":                "join is a method of strings, found a list",
		"{{ {}.endswith('a') }}":             "found a mapping",
		"{{ 'a'.startswith(1) }}":            "startswith: looks for 1, expected a string",
		"{{ 'a'.startswith() }}":             "0 arguments, expected 1",
		"{{ 'a'.split('') }}":                "the separator is a string, expected a string that is not empty",
		"{{ 'a'.split(',', 'x') }}":          "maxsplit is a string",
		"{{ 'a'.rsplit(none, 1) }}":          "needs a separator",
		"{{ 'a'.join(1) }}":                  "expected one list",
		"{{ 'a'.join([1]) }}":                "item 0 is 1, expected a string",
		"{{ 'a'.removeprefix() }}":           "expected one string",
		"{{ [1] | map('lower') | list }}":    "map: an item is 1, expected a string",
		"{{ [1] | map('nofilter') | list }}": `map: the filter "nofilter" is not supported here`,
		"{{ [1] | map | list }}":             "map: expected the name of a filter",
		"{{ 1 | map('lower') }}":             "map: expected a list",
		"{{ 1, 2 }}":                         "2 values in one expression",
		"{{ strftime_now() }}":               "strftime_now: expected one string",
	} {
		_, err := renderSource(source, Request{Messages: []Message{User("abc")}})
		require.ErrorContains(t, err, want, source)
	}
}
